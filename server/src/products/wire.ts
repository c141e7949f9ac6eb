import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
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
} from '../kernel/lenient-json.ts';
import { type Cents, cents } from '../kernel/money.ts';
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

// ── Read from another service: no name of a product's fields is shown, its id has a shape ──────────

/** The product of an answer; null where there is none in it. */
export function productFromWire(body: unknown): Product | null {
  for (const told of readRecords(body)) {
    const id = findMember(told, isObjectId, ['id']);
    if (id === null) continue;
    return {
      id: id.toLowerCase(),
      name: readText(told.name),
      description: readWholeText(told.description, { max: 2_000 }),
      priceCents: priceOf(told),
      createdAt: readInstant(told.createdAt),
    };
  }
  return null;
}

/** A page of the list, and how many there are in all. Null: it is none. */
export function productsFromWire(body: unknown): { items: (Product | null)[]; total: number | null } | null {
  const page = readPage(body);
  return page && { items: page.items.map(productFromWire), total: page.total };
}

/** By its name, or the one amount that there is: each in cents is called so (2.1.1). */
function priceOf(told: JsonRecord): Cents | null {
  const named = readCents(told.priceCents);
  if (named !== null) return named;
  const amounts = Object.entries(told).filter(([name]) => name.endsWith('Cents'));
  return amounts.length === 1 ? readCents(amounts[0]![1]) : null;
}
