import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { type Cents, cents } from '../kernel/money.ts';
import { centsTold, instantTold, recordTold, textTold } from '../kernel/told.ts';
import type { ShownProduct } from './model.ts';

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
export function productFromWire(body: unknown): ShownProduct | null {
  const json = recordTold(body);
  if (!json) return null;
  const id = idOf(json);
  // Perhaps it lies in the answer.
  if (id === null)
    return (
      Object.values(json)
        .map((value) => (recordTold(value) ? productFromWire(value) : null))
        .find((product) => product) ?? null
    );
  return {
    id,
    name: textTold(json.name),
    description: longText(json.description),
    priceCents: priceOf(json),
    createdAt: instantTold(json.createdAt),
  };
}

/** A page of the list, and how many there are in all (the document's 2.1.6). Null: it is none. */
export function productsFromWire(
  body: unknown,
): { items: (ShownProduct | null)[]; total: number | null } | null {
  const json = recordTold(body);
  const list = Object.values(json ?? {}).find(Array.isArray);
  return list ? { items: list.map(productFromWire), total: centsTold(json?.total) } : null;
}

const OBJECT_ID = /^[0-9a-f]{24}$/i;

function idOf(json: Readonly<Record<string, unknown>>): string | null {
  const found = [json.id, ...Object.values(json)].find(
    (value) => typeof value === 'string' && OBJECT_ID.test(value),
  );
  return typeof found === 'string' ? found.toLowerCase() : null;
}

/** By its name, or the one amount that there is: each in cents is called so (2.1.1). */
function priceOf(json: Readonly<Record<string, unknown>>): Cents | null {
  const named = centsTold(json.priceCents);
  if (named !== null) return named;
  const amounts = Object.entries(json).filter(([name]) => name.endsWith('Cents'));
  return amounts.length === 1 ? centsTold(amounts[0]![1]) : null;
}

/** At most 2000 characters, as it is given. */
function longText(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 2_000
    ? value.length > 500
      ? value
      : textTold(value)
    : null;
}
