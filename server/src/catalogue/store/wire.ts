import { z } from 'zod';
import { type JsonRecord, readPage, readRecord, readText, readWholeText } from '../../kernel/lenient-json.ts';
import type { StoreProduct } from './model.ts';

/** A product of the store in the REST interface (the document's 2.5). */
export const storeProductWire = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    description: z.string().nullable(),
    price: z
      .string()
      .nullable()
      .meta({
        description: 'As the store writes it, in the Brazilian decimal format',
        examples: ['1.234,56'],
      }),
    imageUrl: z.string().nullable(),
    available: z.boolean().nullable(),
  })
  .meta({ id: 'StoreProduct' });

export function storeProductToWire({
  storeProductId: id,
  ...product
}: StoreProduct): z.output<typeof storeProductWire> {
  return { id, ...product };
}

// ── Read from another service: the document names no field but the price (2.1.2) ─────────────────

/** Reads a product; null if it has no id. */
function storeProductFromWire(json: unknown): StoreProduct | null {
  const record = readRecord(json);
  const id = record && idOf(record);
  if (!record || id === null) return null;
  return {
    storeProductId: id,
    name: readText(record.name),
    description: readWholeText(record.description, { max: 2_000 }),
    price: readText(record.price),
    imageUrl: [record.imageUrl, record.image].find(isImageUrl) ?? null,
    available: typeof record.available === 'boolean' ? record.available : null,
  };
}

function idOf({ id, productId }: JsonRecord): string | null {
  const found = [id, productId].find((each) => typeof each === 'string' || Number.isSafeInteger(each));
  return found === undefined ? null : readWholeText(String(found), { max: 100 });
}

function isImageUrl(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 500 && /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Reads a page of the list and the total count; null if the response is no page. */
export function storeProductsFromWire(
  body: unknown,
): { items: (StoreProduct | null)[]; total: number | null } | null {
  const page = readPage(body, 'products');
  return page && { items: page.items.map(storeProductFromWire), total: page.total };
}
