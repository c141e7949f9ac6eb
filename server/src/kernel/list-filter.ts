import { z } from 'zod';
import { refuseTwoOrders, takeNames, withKnownOrder } from './aliases.ts';
import { type FieldError, ValidationError } from './errors.ts';
import type { Cents } from './money.ts';
import {
  externalIdText,
  isStorable,
  longExternalIdText,
  lowerCase,
  NOT_STORABLE,
  plainText,
} from './text.ts';

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
  /** The least and the most amount; both are included. */
  minAmountCents?: Cents | undefined;
  maxAmountCents?: Cents | undefined;
  /** The customer's own name at the merchant, or its e-mail address. */
  customer?: { externalId: string } | { email: string } | undefined;
  paidAfter?: Date | undefined;
  paidBefore?: Date | undefined;
  refundedAfter?: Date | undefined;
  refundedBefore?: Date | undefined;
}

/** The members of a filter by an amount. */
export type AmountFilter = Pick<DetailFilter, 'amountCents' | 'minAmountCents' | 'maxAmountCents'>;

/** The refusal of a word that stands for others: no list has only those. */
export const UNKNOWN_IS_NO_FILTER = 'UNKNOWN cannot be asked for';

/** A filter as an interface gives it: any member may be null, and a list may have the value of no known word. */
export type Given<Filter> = {
  [Member in keyof Filter]?:
    | Filter[Member]
    | (NonNullable<Filter[Member]> extends readonly (infer Value)[] ? readonly (Value | 'unknown')[] : never)
    | null
    | undefined;
};

const email = plainText({ max: 254 });
/** The forms of the members of a filter by details. */
export const detailMembers = {
  orderId: externalIdText.nullish(),
  externalId: externalIdText.nullish(),
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 letters, digits and signs')
    .nullish(),
  customer: z
    .union([z.object({ email }).strict(), z.object({ externalId: longExternalIdText }).strict()])
    .nullish(),
};
/** The schema is created once: its first use compiles it, which takes longer than a page of payouts. */
const details = z.looseObject(detailMembers).superRefine(refuseTwoOrders).transform(withKnownOrder);

/** The members of a filter of subaccounts: their own numbers are those of a merchant's customers. */
export const LONG_EXTERNAL_ID = z.looseObject({ externalId: longExternalIdText.nullish() });

/**
 * Reads the given members of a filter. No period and no range of numbers may be empty, and no list may have
 * `unknown`, which stands for all words that this server does not know.
 * @throws ValidationError naming the argument
 */
export function readFilter<Filter extends object>(
  filter: Given<Filter> | null | undefined,
  members: z.ZodType<Readonly<Record<string, unknown>>> = details,
): Filter {
  // Most pages have no filter.
  if (!filter || Object.keys(filter).length === 0) return {} as Filter;
  const { data: parsed, error } = members.safeParse(filter);
  if (!parsed)
    throw new ValidationError(
      error.issues.map(({ path, message }) => ({ path: ['filter', ...path].join('.'), message })),
    );
  const { input: data } = takeNames(parsed);
  assertFilter(data);
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value != null)) as Filter;
}

// ── Conditions ──────────────────────────────────────────────────────────────────────────────────

// A slice declares once what each member of its filter compares. From that follow the condition in SQL (`state/db/filtered-lists.ts`),
// the one on the mirror (`upstream/mirror-lists.ts`), and `matches`, for the updates that are sent.

/** The comparison of a member of a filter with these members of a resource. */
export interface Condition<Member extends string = string> {
  /**
   * `from` and `before` compare an instant, `atLeast` and `atMost` a number. `named`: one of the members equals
   * the name. `customer`: the identifier or, in whatever case, the e-mail address in the member is the customer's.
   */
  readonly is: 'equal' | 'among' | 'from' | 'before' | 'atLeast' | 'atMost' | 'named' | 'customer';
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
export const atLeast = <const Member extends string>(member: Member, of?: Condition['of']) =>
  condition('atLeast', [member], { of });
export const atMost = <const Member extends string>(member: Member, of?: Condition['of']) =>
  condition('atMost', [member], { of });
export const ofCustomer = <const Member extends string>(member: Member) => condition('customer', [member]);
export const named = <const Member extends string>(members: readonly Member[], form?: Condition['form']) =>
  condition('named', members, { form });

function condition<Member extends string>(
  is: Condition['is'],
  members: readonly Member[],
  how: Pick<Condition, 'of' | 'form'> = {},
): Condition<Member> {
  return { is, members, ...how };
}

/** The conditions on an amount: exactly, at least, at most. `of` computes it, if it is not simply the member. */
export function amountConditions(of?: Condition['of']) {
  return {
    amountCents: equal('amountCents', of),
    minAmountCents: atLeast('amountCents', of),
    maxAmountCents: atMost('amountCents', of),
  };
}

/** The conditions that payments of each family have. `names`: the members by which a reference names one. */
export function detailConditions<const Name extends string>(names: readonly Name[]) {
  return {
    createdAfter: from('createdAt'),
    createdBefore: before('createdAt'),
    externalId: equal('externalId'),
    reference: named(names),
    ...amountConditions(),
    customer: ofCustomer('customer'),
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
    case 'atLeast':
      return value != null && (value as number) >= (asked as number);
    case 'atMost':
      return value != null && (value as number) <= (asked as number);
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
  if (!('email' in asked)) return customer?.externalId === asked.externalId;
  return customer?.email != null && lowerCase(customer.email) === lowerCase(asked.email);
}

/** Whether a value is among the requested ones; true if none were requested. */
function isOneOf<Value>(value: unknown, asked: readonly Value[] | undefined): boolean {
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
    const texts = is === 'customer' || is === 'among' ? Object.values(value as object) : [value];
    if (texts.some((text) => typeof text === 'string' && !isStorable(text)))
      throw new ValidationError([{ path: `filter.${name}`, message: NOT_STORABLE }]);
    asked.push({ is, members, value: form ? form(value as string) : value });
  }
  return asked;
}

/**
 * Rejects an empty period, such as a `paidBefore` that is not later than `paidAfter`, an empty range of numbers,
 * and a list with `unknown`. @throws ValidationError
 */
function assertFilter(filter: Readonly<Record<string, unknown>>): void {
  const issues: FieldError[] = [];
  const refuse = (name: string, message: string) => issues.push({ path: `filter.${name}`, message });
  for (const [name, value] of Object.entries(filter)) {
    if (Array.isArray(value) && value.includes('unknown')) refuse(name, UNKNOWN_IS_NO_FILTER);
    if (name.endsWith('After') && value instanceof Date) {
      const end = name.replace(/After$/, 'Before');
      const before = filter[end];
      if (before instanceof Date && before <= value) refuse(end, `must be later than ${name}`);
    }
    if (name.startsWith('min') && typeof value === 'number') {
      const end = name.replace(/^min/, 'max');
      const most = filter[end];
      if (typeof most === 'number' && most < value) refuse(end, `must be at least ${name}`);
    }
  }
  if (issues.length > 0) throw new ValidationError(issues);
}
