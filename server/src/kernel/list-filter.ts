import { z } from 'zod';
import { ValidationError } from './errors.ts';
import type { Cents } from './money.ts';
import { externalIdText, plainText } from './text.ts';

/** A filter by the members that lists of several families have in common. Dates are half-open: from one, before the other. */
export interface DetailFilter {
  /** The merchant's own number. */
  externalId?: string | undefined;
  /** Any name of the resource: its id or code, or the bank's identifier of the money. */
  reference?: string | undefined;
  amountCents?: Cents | undefined;
  /** The customer's own name at the merchant, or its e-mail address. */
  customer?: { externalId: string } | { email: string } | undefined;
  paidAfter?: Date | undefined;
  paidBefore?: Date | undefined;
  refundedAfter?: Date | undefined;
  refundedBefore?: Date | undefined;
}

/** The members of a filter as GraphQL gives them. */
type Given = { [Member in keyof DetailFilter]?: unknown };

const email = plainText({ max: 254 });
const shape = {
  externalId: externalIdText.nullish(),
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 letters, digits and signs')
    .nullish(),
  amountCents: z.number().nullish(),
  customer: z
    .union([z.object({ email }).strict(), z.object({ externalId: plainText({ max: 200 }) }).strict()])
    .nullish(),
  paidAfter: z.date().nullish(),
  paidBefore: z.date().nullish(),
  refundedAfter: z.date().nullish(),
  refundedBefore: z.date().nullish(),
};

/** Reads the members that filters of several lists share, those that were given. @throws ValidationError naming the argument */
export function detailsOf(filter: Given | null | undefined): DetailFilter {
  const { data, error } = z.object(shape).safeParse(filter ?? {});
  if (!data)
    throw new ValidationError(
      error.issues.map(({ path, message }) => ({ path: ['filter', ...path].join('.'), message })),
    );
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value != null));
}
