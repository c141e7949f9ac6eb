import { readRecords } from './lenient-json.ts';

// The parts of an answer to a creation that must equal those of its request.

/** A part of an answer beside that of the request; `shown` is null if the answer does not name it. */
type Part = readonly [name: string, shown: unknown, asked: unknown];

/**
 * The name of the first part in which an answer differs from its request; null if none differs. A part that
 * the answer does not name contradicts nothing.
 */
export function otherPart(...parts: readonly Part[]): string | null {
  const other = parts.find(([, shown, asked]) => shown != null && shown !== asked);
  return other ? `another ${other[0]}` : null;
}

/** The members of a request that any creation may have. */
interface Asked {
  /** The merchant's own number, if it is sent. */
  externalId?: string | null;
  metadata?: string | null;
}

/**
 * The first contradiction between the body of an answer and any request for a creation: the currency, the order's
 * number, the metadata. Members that the request cannot have are left out of `asked`.
 */
export function commonContradiction(
  body: unknown,
  asked: Asked,
  currencies: readonly string[] = ['BRL'],
): string | null {
  // The record itself, not a customer in it: a customer has a number too.
  const record = readRecords(body).find((each) => AMOUNTS.some((name) => name in each));
  if (!record) return null;
  const text = (name: string) =>
    typeof record[name] === 'string' && record[name] !== '' ? record[name] : null;
  const currency = text('currency')?.toUpperCase() ?? null;
  if (currency !== null && !currencies.includes(currency)) return 'another currency';
  return otherPart(
    ...(Object.keys(asked) as (keyof Asked)[]).map(
      (name): Part => [WORDS[name], text(name), asked[name] ?? null],
    ),
  );
}

const AMOUNTS = ['amountCents', 'valueCents', 'amount'];
const WORDS = { externalId: 'order', metadata: 'metadata' } as const;
