import { z } from 'zod';
import { ValidationError } from './errors.ts';
import type { Cents } from './money.ts';
import { externalIdText, longExternalIdText, plainText } from './text.ts';

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
/** Made once: a schema is compiled by its first use, which takes longer than a page of payouts. */
const details = z.object({
  externalId: externalIdText.nullish(),
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 letters, digits and signs')
    .nullish(),
  amountCents: z.number().nullish(),
  customer: z
    .union([z.object({ email }).strict(), z.object({ externalId: longExternalIdText }).strict()])
    .nullish(),
  paidAfter: z.date().nullish(),
  paidBefore: z.date().nullish(),
  refundedAfter: z.date().nullish(),
  refundedBefore: z.date().nullish(),
});

/** Reads the members that filters of several lists share, those that were given. @throws ValidationError naming the argument */
export function detailsOf(filter: Given | null | undefined): DetailFilter {
  // Most pages have no filter.
  if (!filter || Object.keys(filter).length === 0) return {};
  const { data, error } = details.safeParse(filter);
  if (!data)
    throw new ValidationError(
      error.issues.map(({ path, message }) => ({ path: ['filter', ...path].join('.'), message })),
    );
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value != null));
}

type PeriodsOf<Instant extends string, Value> = { [Member in `${Instant}${'After' | 'Before'}`]?: Value };

/**
 * Reads the periods of these instants from a filter, the bounds that were given. Each period of the filter, whichever its
 * instant, must have an instant in it. @throws ValidationError naming the argument
 */
export function periodsOf<Instant extends string>(
  filter: PeriodsOf<Instant, Date | null | undefined> | null | undefined,
  instants: readonly Instant[],
): PeriodsOf<Instant, Date> {
  if (!filter || Object.keys(filter).length === 0) return {};
  assertPeriods(filter);
  const members = instants.flatMap((instant) => [`${instant}After`, `${instant}Before`] as const);
  return Object.fromEntries(
    members.map((member) => [member, filter[member]] as const).filter(([, bound]) => bound != null),
  ) as PeriodsOf<Instant, Date>;
}

/** The members of a resource that a filter compares; an unknown member matches no condition. */
export interface FilteredMembers {
  externalId?: string | null | undefined;
  amountCents: Cents;
  customer?: { externalId?: string | null | undefined; email?: string | null | undefined } | null | undefined;
  paidAt?: Date | null | undefined;
  refundedAt?: Date | null | undefined;
}

/**
 * Whether a resource fulfils every member of a filter, as the lists in SQL decide it. `references` are all its names: an argument
 * of its own, so that no copy of the resource is made for each subscriber of a change.
 */
export function matchesDetails(
  resource: FilteredMembers,
  references: readonly (string | null)[],
  filter: DetailFilter,
): boolean {
  const { externalId, reference, amountCents, customer } = filter;
  return (
    (externalId === undefined || resource.externalId === externalId) &&
    (reference === undefined || references.includes(reference)) &&
    (amountCents === undefined || resource.amountCents === amountCents) &&
    (customer === undefined || isOfCustomer(resource.customer, customer)) &&
    isWithin(resource.paidAt, filter.paidAfter, filter.paidBefore) &&
    isWithin(resource.refundedAt, filter.refundedAfter, filter.refundedBefore)
  );
}

function isOfCustomer(
  customer: FilteredMembers['customer'],
  asked: NonNullable<DetailFilter['customer']>,
): boolean {
  return 'email' in asked ? customer?.email === asked.email : customer?.externalId === asked.externalId;
}

/** Whether an instant is in the half-open period `[from, before)`. An unknown instant is only in an unbounded period. */
export function isWithin(
  instant: Date | null | undefined,
  from: Date | undefined,
  before: Date | undefined,
): boolean {
  if (from === undefined && before === undefined) return true;
  if (instant == null) return false;
  return (from === undefined || instant >= from) && (before === undefined || instant < before);
}

/** Whether a value is among those that are asked for, where any are. */
export function isOneOf<Value>(value: unknown, asked: readonly Value[] | undefined): boolean {
  return asked === undefined || asked.some((each) => each === value);
}

/** Rejects an empty period, such as a `paidBefore` that is not later than `paidAfter`. @throws ValidationError */
function assertPeriods(filter: Readonly<Record<string, unknown>>): void {
  const empty = Object.keys(filter)
    .filter((name) => name.endsWith('After'))
    .map((after) => [after, after.replace(/After$/, 'Before')] as const)
    .filter(([after, before]) => {
      const [from, end] = [filter[after], filter[before]];
      return from instanceof Date && end instanceof Date && end <= from;
    });
  if (empty.length > 0)
    throw new ValidationError(
      empty.map(([after, before]) => ({ path: `filter.${before}`, message: `must be later than ${after}` })),
    );
}
