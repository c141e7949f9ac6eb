import { ValidationError } from '../../kernel/errors.ts';
import { UNKNOWN_IS_NO_FILTER } from '../../kernel/list-filter.ts';
import { deprecatedSince } from './deprecations.ts';
import type { Types } from './mutations.ts';

// The parts of the filters of all lists: each idea has one name, one type and one text.

type Fields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

const instant = (t: Fields, description: string) => t.field({ type: 'DateTime', description });

/** The two ends of a period: `<name>After` and `<name>Before`. `what`: the items that it selects. */
export function periodFields<const Name extends string>(t: Fields, name: Name, what: string, note = '') {
  return {
    [`${name}After`]: instant(t, `Selects ${what} at this instant or later.${note}`),
    [`${name}Before`]: instant(t, `Selects ${what} before this instant.${note}`),
  } as Record<`${Name}${'After' | 'Before'}`, ReturnType<typeof instant>>;
}

const cents = (t: Fields, description: string) => t.field({ type: 'Cents', description });

/** An amount, exactly and by a range: `amountCents`, `minAmountCents` and `maxAmountCents`. `what`: its items. */
export function centsFields<const Name extends string = 'Amount'>(
  t: Fields,
  what: string,
  name: Name = 'Amount' as Name,
) {
  return {
    [`${name.charAt(0).toLowerCase()}${name.slice(1)}Cents`]: cents(
      t,
      `Selects ${what} of exactly so many cents.`,
    ),
    [`min${name}Cents`]: cents(t, `Selects ${what} of so many cents or more.`),
    [`max${name}Cents`]: cents(t, `Selects ${what} of so many cents or fewer.`),
  } as Record<`${Uncapitalize<Name> | `${'min' | 'max'}${Name}`}Cents`, ReturnType<typeof cents>>;
}

/** The reason for which an argument beside a filter is deprecated. */
export const inFilter = (member: string) => deprecatedSince('0.2.0', `Use filter.${member}.`);

/**
 * The members of a filter, with the arguments beside it that it has replaced.
 * @throws ValidationError naming both, if both are given; naming the argument for UNKNOWN
 */
export function withReplaced<Filter extends object>(
  filter: Filter | null | undefined,
  replaced: { [Member in keyof Filter]?: Filter[Member] },
): Filter {
  const given = Object.entries(replaced).filter(([, value]) => value != null);
  const inside = (filter ?? {}) as Record<string, unknown>;
  for (const [path, value] of given) {
    if (inside[path] != null)
      throw new ValidationError([{ path, message: `not together with filter.${path}` }]);
    if (Array.isArray(value) && value.includes('unknown'))
      throw new ValidationError([{ path, message: UNKNOWN_IS_NO_FILTER }]);
  }
  return { ...inside, ...Object.fromEntries(given) } as Filter;
}
