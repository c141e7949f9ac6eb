import type { z } from 'zod';
import { ValidationError } from './errors.ts';
import type { Cents } from './money.ts';

// Members of inputs that have two names, in GraphQL and in REST alike. The code knows one of them, `valueCents` and
// `externalId`; an input has either, and an error names the one that was given.

type Value<Type> = Type | null | undefined;

interface AmountNames {
  amountCents?: Value<Cents>;
  valueCents?: Value<Cents>;
}

interface OrderNames {
  orderId?: Value<string>;
  externalId?: Value<string>;
}

type Context = z.core.$RefinementCtx;

/** Describes that an input, or an answer, has exactly one of these members. */
export function exactlyOneOf(...members: readonly string[]) {
  return { oneOf: members.map((member) => ({ required: [member] })) };
}

/** Describes that an input has its amount under one of its names. */
export const ONE_AMOUNT = exactlyOneOf('amountCents', 'valueCents');

/** The member of an amount under both of its names: `valueCents` in the document, `amountCents` everywhere else. */
export function amountMembers<Schema extends z.ZodType>(rule: Schema, description: string) {
  return {
    valueCents: rule.nullish().describe(`${description}: the document’s name; or amountCents in its place`),
    amountCents: rule.nullish().describe(`${description}: valueCents under the name of every other amount`),
  };
}

/** The name under which an input has its amount. */
export function amountName({ amountCents }: AmountNames): 'amountCents' | 'valueCents' {
  return amountCents == null ? 'valueCents' : 'amountCents';
}

/** Refuses an amount under both names. */
export function refuseTwoAmounts({ amountCents, valueCents }: AmountNames, context: Context): void {
  if (amountCents == null || valueCents == null) return;
  const message = 'must not be given together with valueCents, which is the same';
  context.addIssue({ code: 'custom', path: ['amountCents'], message });
}

/** Refuses an input without an amount, and one with the amount under both names. */
export function demandAmount(input: AmountNames, context: Context): void {
  if (input.amountCents == null && input.valueCents == null)
    context.addIssue({
      code: 'custom',
      path: ['amountCents'],
      message: 'is required, or valueCents, which is the same',
    });
  refuseTwoAmounts(input, context);
}

/** Refuses two orders: both names with different values. */
export function refuseTwoOrders({ orderId, externalId }: OrderNames, context: Context): void {
  if (orderId == null || externalId == null || orderId === externalId) return;
  const message = 'must be the same as externalId, or be given without it: both are the number of the order';
  context.addIssue({ code: 'custom', path: ['orderId'], message });
}

const ORDER = { orderId: 'externalId' };
const ORDER_AND_AMOUNT = { ...ORDER, amountCents: 'valueCents' };

/** Moves the order and the amount of an input to the names that the code knows. */
export function withKnownNames<Input extends AmountNames & OrderNames>(input: Input) {
  return moved(input, ORDER_AND_AMOUNT) as Omit<Input, 'amountCents' | 'orderId'>;
}

/** Moves the order of a filter to the name that the code knows. */
export function withKnownOrder<Filter extends OrderNames>(filter: Filter) {
  return moved(filter, ORDER) as Omit<Filter, 'orderId'>;
}

function moved(input: object, names: Readonly<Record<string, string>>): object {
  const known: Record<string, unknown> = { ...input };
  const given: Record<string, string> = {};
  for (const [name, knownName] of Object.entries(names)) {
    if (known[name] != null) {
      known[knownName] = known[name];
      given[knownName] = name;
    }
    delete known[name];
  }
  return Object.keys(given).length === 0 ? known : withGivenNames(known, given);
}

/** An input with the given names of its members, by the names that the code knows. `takeNames` takes them out again. */
export function withGivenNames<Input extends object>(input: Input, names: GivenNames): Input {
  return { ...input, [GIVEN]: names };
}

/** `withKnownNames` of an input that `demandAmount` has checked. */
export function withKnownAmount<Input extends AmountNames & OrderNames>(input: Input) {
  return withKnownNames(input) as Omit<Input, 'amountCents' | 'valueCents' | 'orderId'> & {
    valueCents: Cents;
  };
}

/** The member of a parsed input that holds the given names. */
const GIVEN = 'given names';

export type GivenNames = Readonly<Record<string, string>>;

/** Takes the given names out of a parsed input; null if the code knows all of its names. */
export function takeNames<Input>(input: Input): { input: Input; names: GivenNames | null } {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, GIVEN))
    return { input, names: null };
  const { [GIVEN]: names, ...rest } = input as Input & { [GIVEN]: GivenNames };
  return { input: rest as Input, names };
}

/** The same error with the names that its input was given; any other error unchanged. */
export function inGivenNames(error: unknown, names: GivenNames | null): unknown {
  if (!(error instanceof ValidationError) || !names) return error;
  return new ValidationError(
    error.fields.map(({ path, message }) => {
      const [, head = '', member = path, tail = ''] = /^(input\.)?([^.]+)(.*)$/.exec(path) ?? [];
      return { path: `${head}${names[member] ?? member}${tail}`, message };
    }),
  );
}
