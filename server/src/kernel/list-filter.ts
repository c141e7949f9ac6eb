import { z } from 'zod';
import { refuseTwoOrders, takeNames, withKnownOrder } from './aliases.ts';
import { ValidationError } from './errors.ts';
import type { Cents } from './money.ts';
import { externalIdText, isStorable, longExternalIdText, NOT_STORABLE, plainText } from './text.ts';

/**
 * A filter by the members that lists of several families share. A period includes its `from` and excludes its
 * `before`.
 */
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
type Given = { [Member in keyof DetailFilter | 'orderId']?: unknown };

/** The given members of a filter that only one list has. */
type OwnOf<Filter> = {
  [Member in Exclude<keyof Filter, keyof DetailFilter | 'orderId'>]?: Exclude<Filter[Member], null>;
};

const email = plainText({ max: 254 });
/** The schema is created once: its first use compiles it, which takes longer than a page of payouts. */
const details = z
  .looseObject({
    orderId: externalIdText.nullish(),
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
  })
  .superRefine(refuseTwoOrders)
  .transform(withKnownOrder);

/**
 * Reads the given members that filters of several lists share; other members stay as they are.
 * @throws ValidationError naming the argument
 */
export function detailsOf<Filter extends Given>(
  filter: Filter | null | undefined,
): DetailFilter & OwnOf<Filter> {
  // Most pages have no filter.
  if (!filter || Object.keys(filter).length === 0) return {};
  const { data: parsed, error } = details.safeParse(filter);
  if (!parsed)
    throw new ValidationError(
      error.issues.map(({ path, message }) => ({ path: ['filter', ...path].join('.'), message })),
    );
  const { input: data } = takeNames(parsed);
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value != null)) as DetailFilter &
    OwnOf<Filter>;
}

type PeriodsOf<Instant extends string, Value> = { [Member in `${Instant}${'After' | 'Before'}`]?: Value };

/**
 * Reads the given bounds of the periods of these instants. No period of the filter may be empty, whichever
 * its instant.
 * @throws ValidationError naming the argument
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

// ── Conditions ──────────────────────────────────────────────────────────────────────────────────

// A slice declares once what each member of its filter compares. From that follow the condition in SQL (`state/db/filtered-lists.ts`),
// the one on the mirror (`upstream/mirror-lists.ts`), and `matches`, for the updates that are sent.

/** The comparison of a member of a filter with these members of a resource. */
export interface Condition<Member extends string = string> {
  /**
   * `named`: one of the members equals the name. `customer`: the identifier or the e-mail address in the
   * member is the customer's.
   */
  readonly is: 'equal' | 'among' | 'from' | 'before' | 'named' | 'customer';
  readonly members: readonly Member[];
  /** Computes the value of a resource, if it is not simply the member. */
  readonly of?: ((resource: never) => unknown) | undefined;
  /** Converts a name into the form that is compared; left out if names are compared as they are. */
  readonly form?: ((name: string) => string) | undefined;
}

/** The condition of each member of a filter. Instants are in the order in which a resource reaches them. */
export type Conditions<Filter, Resource> = {
  readonly [Name in keyof Filter]-?: Condition<keyof Resource & string>;
};

export const equal = <const Member extends string>(member: Member, of?: Condition['of']) =>
  condition('equal', [member], { of });
export const among = <const Member extends string>(member: Member, of?: Condition['of']) =>
  condition('among', [member], { of });
export const from = <const Member extends string>(member: Member) => condition('from', [member]);
export const before = <const Member extends string>(member: Member) => condition('before', [member]);
export const named = <const Member extends string>(members: readonly Member[], form?: Condition['form']) =>
  condition('named', members, { form });

function condition<Member extends string>(
  is: Condition['is'],
  members: readonly Member[],
  how: Pick<Condition, 'of' | 'form'> = {},
): Condition<Member> {
  return { is, members, ...how };
}

/** The conditions that payments of each family have. `names`: the members by which a reference names one. */
export function detailConditions<const Name extends string>(names: readonly Name[]) {
  return {
    createdAfter: from('createdAt'),
    createdBefore: before('createdAt'),
    externalId: equal('externalId'),
    reference: named(names),
    amountCents: equal('amountCents'),
    customer: condition('customer', ['customer']),
    paidAfter: from('paidAt'),
    paidBefore: before('paidAt'),
    refundedAfter: from('refundedAt'),
    refundedBefore: before('refundedAt'),
  };
}

/**
 * Whether a resource fulfills every member of a filter, as the lists in SQL decide it. A resource fulfills no
 * member that is unknown.
 */
export function matches<Filter extends object>(
  conditions: Readonly<Record<string, Condition>>,
  resource: object,
  filter: Filter,
): boolean {
  for (const name in filter) {
    const asked: unknown = filter[name];
    const compared = conditions[name];
    if (asked !== undefined && compared && !fulfils(resource, compared, asked)) return false;
  }
  return true;
}

function fulfils(resource: object, { is, members, of, form }: Condition, asked: unknown): boolean {
  const shown = resource as Readonly<Record<string, unknown>>;
  const value = of ? of(resource as never) : shown[members[0]!];
  switch (is) {
    case 'equal':
      return value === asked;
    case 'among':
      return isOneOf(value, asked as readonly unknown[]);
    case 'from':
      return value != null && (value as Date) >= (asked as Date);
    case 'before':
      return value != null && (value as Date) < (asked as Date);
    case 'named':
      return members.some((member) => {
        const name = shown[member];
        return form ? typeof name === 'string' && form(name) === form(asked as string) : name === asked;
      });
    case 'customer':
      return isOfCustomer(value as Customer, asked as NonNullable<DetailFilter['customer']>);
  }
}

type Customer = { externalId?: string | null; email?: string | null } | null | undefined;

function isOfCustomer(customer: Customer, asked: NonNullable<DetailFilter['customer']>): boolean {
  return 'email' in asked ? customer?.email === asked.email : customer?.externalId === asked.externalId;
}

/** Whether a value is among the requested ones; true if none were requested. */
export function isOneOf<Value>(value: unknown, asked: readonly Value[] | undefined): boolean {
  return asked === undefined || asked.some((each) => each === value);
}

/** A condition with the value that a filter has for it. */
export interface Asked<Member extends string = string> extends Pick<Condition<Member>, 'is' | 'members'> {
  value: unknown;
}

/**
 * The conditions of the members that a filter gives, in the order of their declaration.
 * @throws ValidationError if Postgres cannot compare a text
 */
export function askedOf<Member extends string>(
  conditions: Readonly<Record<string, Condition<Member>>>,
  filter: object,
): Asked<Member>[] {
  const given = filter as Readonly<Record<string, unknown>>;
  const asked: Asked<Member>[] = [];
  for (const name in conditions) {
    const value = given[name];
    if (value === undefined) continue;
    const { is, members, form } = conditions[name]!;
    const texts = is === 'customer' ? Object.values(value as object) : [value];
    if (texts.some((text) => typeof text === 'string' && !isStorable(text)))
      throw new ValidationError([{ path: `filter.${name}`, message: NOT_STORABLE }]);
    asked.push({ is, members, value: form ? form(value as string) : value });
  }
  return asked;
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
