import { z } from 'zod';
import { ValidationError } from '../../kernel/errors.ts';
import { parseInstant } from '../../kernel/instant.ts';
import { type Given, readFilter } from '../../kernel/list-filter.ts';
import { longExternalIdText, plainText, requiredOr } from '../../kernel/text.ts';
import { closestName, shownName } from './names.ts';
import { pageQuery } from './rest.ts';

// The query parameters of lists: `limit`, `offset`, and the members of the list's filter under their GraphQL names.

/** The parameters of a list with these members of its filter. */
export function listQuery<Members extends z.ZodRawShape>(members: Members) {
  return pageQuery.extend(members);
}

/**
 * Reads the page and the filter as the port has them. @throws ValidationError naming the parameter
 */
export function readListQuery<Filter extends object>(
  { limit, offset, ...members }: { limit: number; offset: number } & Readonly<Record<string, unknown>>,
  own?: z.ZodType<Readonly<Record<string, unknown>>>,
): Filter & { limit: number; offset: number } {
  return { ...readFilterQuery<Filter>(members, own), limit, offset };
}

/** Reads the filter as the port has it. @throws ValidationError naming the parameter */
export function readFilterQuery<Filter extends object>(
  members: Readonly<Record<string, unknown>>,
  own?: z.ZodType<Readonly<Record<string, unknown>>>,
): Filter {
  const { customerEmail: email, customerExternalId: externalId, ...others } = members;
  if (email !== undefined && externalId !== undefined)
    throw new ValidationError([{ path: 'customerEmail', message: 'not together with customerExternalId' }]);
  const customer = email === undefined ? externalId !== undefined && { externalId } : { email };
  const given = { ...others, ...(customer && { customer }) } as Given<Filter>;
  return readFilter<Filter>(given, own);
}

/**
 * Reads the texts of a query. `operation`: its name, for a refusal.
 * @throws ValidationError for an unknown parameter, whose filter would be lost, and for one that is given twice, whose
 * value is unclear
 */
export function queryOf(
  query: z.ZodObject | undefined,
  operation: string,
  { searchParams }: URL,
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (Object.hasOwn(given, name)) throw new ValidationError([{ path: name, message: 'is given twice' }]);
    if (!query || !Object.hasOwn(query.shape, name)) {
      const meant = closestName(name, Object.keys(query?.shape ?? {}));
      const hint = meant === null ? '' : `; ${meant} may be meant`;
      const message = `is no query parameter of ${operation}${hint}`;
      throw new ValidationError([{ path: name === '' ? 'query' : shownName(name), message }]);
    }
    given[name] = value;
  }
  return given;
}

/** One or several of the words, divided by commas. `valuesOf`: the values that a word stands for. */
export function anyOf<const Word extends string, Value extends string = Word>(
  words: readonly Word[],
  what: string,
  valuesOf: (word: Word) => readonly Value[] = (word) => [word as unknown as Value],
) {
  const message = `must be one or several of ${words.join(', ')}, divided by commas`;
  return z
    .string()
    .transform((text) => text.split(',') as Word[])
    .refine((asked) => asked.every((word) => words.includes(word)), { message, abort: true })
    .transform((asked) => asked.flatMap(valuesOf))
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string', enum: [...words] },
      minItems: 1,
      description: `Selects ${what} with any of these, divided by commas`,
    });
}

/** A text. */
export const textQuery = (description: string) => z.string().optional().meta({ description });

/** `true` or `false`. */
export function booleanQuery(description: string) {
  const message = 'must be true or false';
  return z
    .string()
    .refine((text) => text === 'true' || text === 'false', { message, abort: true })
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean', description });
}

function instantQuery(description: string) {
  return instantParameter(description).optional();
}

/** A parameter that must be given: an instant. */
export function instantParameter(description: string) {
  return z
    .string({ error: requiredOr('must be an ISO 8601 instant') })
    .transform((text, context) => {
      const instant = parseInstant(text);
      if (instant) return instant;
      const message = 'must be an ISO 8601 instant, as 2026-01-31T12:00:00Z; write a + in it as %2B';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'string', format: 'date-time', description });
}

/** The two ends of a period: `<name>After` and `<name>Before`. `what`: the items that it selects. */
export function periodQuery<const Name extends string>(name: Name, what: string) {
  return {
    [`${name}After`]: instantQuery(`Selects ${what} at this instant or later`),
    [`${name}Before`]: instantQuery(`Selects ${what} before this instant`),
  } as Record<`${Name}${'After' | 'Before'}`, ReturnType<typeof instantQuery>>;
}

function centsOfQuery(description: string) {
  const message = 'must be a whole number of cents';
  return z
    .string()
    .refine((text) => /^[0-9]{1,15}$/.test(text), { message, abort: true })
    .transform(Number)
    .optional()
    .meta({ type: 'integer', format: 'int64', minimum: 0, description });
}

/** An amount, exactly and by a range: `amountCents`, `minAmountCents` and `maxAmountCents`. `what`: its items. */
export function centsQuery<const Name extends string = 'Amount'>(
  what: string,
  name: Name = 'Amount' as Name,
) {
  return {
    [`${name.charAt(0).toLowerCase()}${name.slice(1)}Cents`]: centsOfQuery(
      `Selects ${what} of exactly so many cents`,
    ),
    [`min${name}Cents`]: centsOfQuery(`Selects ${what} of so many cents or more`),
    [`max${name}Cents`]: centsOfQuery(`Selects ${what} of so many cents or fewer`),
  } as Record<`${Uncapitalize<Name> | `${'min' | 'max'}${Name}`}Cents`, ReturnType<typeof centsOfQuery>>;
}

/** The two members of `customer`: one or the other is given. */
export const customerQuery = {
  customerEmail: plainText({ max: 254 }).optional().meta({
    description: 'Selects those of the customer with this whole e-mail address, in upper or lower case',
  }),
  customerExternalId: longExternalIdText
    .optional()
    .meta({ description: 'Selects those of the customer with this identifier of yours, as given' }),
};

/** The members that the lists of all families of payments have. `reference`: its description. */
export function receivedQuery<const Status extends string>(statuses: readonly Status[], reference: string) {
  return {
    status: anyOf(statuses, 'those'),
    ...periodQuery('created', 'those created'),
    ...periodQuery('paid', 'those paid'),
    ...periodQuery('refunded', 'those whose whole amount was refunded'),
    ...centsQuery('those'),
    reference: textQuery(reference),
  };
}

/** The members of the filter of payments that belong to orders. */
export const orderQuery = {
  orderId: textQuery('Selects the payments of the order with this number'),
  externalId: textQuery('The same as orderId'),
};
