import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import {
  findMember,
  isObjectId,
  type JsonRecord,
  readCents,
  readInstant,
  readPage,
  readRecords,
  readText,
  readWholeText,
} from '../../kernel/lenient-json.ts';
import { type Cents, cents } from '../../kernel/money.ts';
import type { Product } from './model.ts';

/** A product in the REST interface (the document's 2.5). */
export const productWire = z
  .object({
    id: z.string().meta({ description: '24 hex digits' }),
    name: z.string(),
    description: z.string().nullable(),
    priceCents: cents,
    createdAt: instant,
  })
  .meta({ id: 'Product' });

// ── Read from another service: the document names no fields of a product, but its id has a form ──

/** Reads the product in a response; null if there is none. */
export function productFromWire(body: unknown): Product | null {
  for (const record of readRecords(body)) {
    const id = findMember(record, isObjectId, ['id']);
    if (id === null) continue;
    return {
      id: id.toLowerCase(),
      name: readText(record.name),
      description: readWholeText(record.description, { max: 2_000 }),
      priceCents: priceOf(record),
      createdAt: readInstant(record.createdAt),
    };
  }
  return null;
}

/** Reads a page of the list and the total count; null if the response is no page. */
export function productsFromWire(body: unknown): { items: (Product | null)[]; total: number | null } | null {
  const page = readPage(body, 'products');
  return page && { items: page.items.map(productFromWire), total: page.total };
}

/** Reads the price by its name, or the only amount in cents: every such member has the suffix `Cents` (2.1.1). */
function priceOf(record: JsonRecord): Cents | null {
  const named = readCents(record.priceCents);
  if (named !== null) return named;
  const amounts = Object.entries(record).filter(([name]) => name.endsWith('Cents'));
  return amounts.length === 1 ? readCents(amounts[0]![1]) : null;
}
