import type { Totals, TotalsGroup, TotalsGrouping } from '../../kernel/totals.ts';
import { MAX_ADDED_ROWS } from '../../kernel/totals.ts';
import { builder } from './builder.ts';
import type { Types } from './mutations.ts';

// The totals of lists: their number and amount, whole and by groups.

type Enum<Value> = PothosSchemaTypes.EnumRef<Types, Value>;

export const TotalsGroupingEnum = builder.enumType('TotalsGrouping', {
  description: 'The ways in which totals are divided.',
  values: {
    HOUR: {
      value: 'hour',
      description:
        'Divides by the hours of the date that orders the list: the last of those that the filter restricts, to at most 31 days.',
    },
    METHOD: {
      value: 'method',
      description: 'Divides by the methods; a list without methods is not divided.',
    },
    STATUS: { value: 'status', description: 'Divides by the statuses that the items have now.' },
  } as const,
});

/** The description of a root field that gives totals. */
export const totalsDescription = (list: string) =>
  `The number and the amount of the ${list} that the filter selects, whole and divided. Exact from totals that are kept, for any statuses and methods and one period of creation or of payment; with any other condition up to ${MAX_ADDED_ROWS} items. In remote mode: of what this server has seen.`;

/** Defines the type of the totals of a list, and that of their groups, with the list's enums of statuses and methods. */
export function totalsType<Status extends string, Method extends string = never>(
  name: string,
  { list, status, method }: { list: string; status: Enum<Status>; method?: Enum<Method> },
) {
  const group = builder.objectRef<TotalsGroup>(`${name}Group`).implement({
    description: `A part of the ${list} that a filter selects.`,
    fields: (t) => ({
      hour: t.expose('hour', {
        type: 'DateTime',
        nullable: true,
        description: 'The beginning of the hour; null unless divided by HOUR.',
      }),
      startsAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'The beginning of the hour, the day or the month; null unless divided by time.',
        resolve: ({ hour, startsAt = hour }) => startsAt,
      }),
      status: t.field({
        type: status as Enum<string>,
        nullable: true,
        description: 'The status that these have now; null unless divided by STATUS.',
        resolve: (found) => found.status,
      }),
      ...(method && {
        method: t.field({
          type: method as unknown as Enum<string>,
          nullable: true,
          description: 'The method of these; null unless divided by METHOD.',
          resolve: (found) => found.method,
        }),
      }),
      ...figures(t),
    }),
  });
  return builder.objectRef<Totals>(name).implement({
    description: `The number and the amount of ${list}.`,
    fields: (t) => ({
      ...figures(t),
      isExact: t.exposeBoolean('isExact', {
        description: `Whether these are the number and the amount of all that the filter selects: always if kept totals answer, otherwise up to ${MAX_ADDED_ROWS} items, and never in remote mode. If false, there is at least so much.`,
      }),
      asOf: t.field({
        type: 'DateTime',
        nullable: true,
        description:
          'The time to which the totals hold: now. In remote mode the time at which the upstream service last showed any of this; null if it showed nothing.',
        resolve: ({ asOf }, _, context) => (asOf === undefined ? context.clock.now() : asOf),
      }),
      groups: t.field({
        type: [group],
        description:
          'The parts into which `groupBy` divides the totals, by their hours, without empty ones. Empty without `groupBy`.',
        resolve: ({ groups }) => [...groups],
      }),
    }),
  });
}

function figures<Shape extends Pick<Totals, 'count' | 'amountCents'>>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<
    Types,
    Pick<Totals, 'count' | 'amountCents'>
  >;
  return {
    count: t.exposeInt('count', { description: 'The number of items.' }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The sum of their amounts in cents, before fees and refunds.',
    }),
  };
}

/** Reads totals by the groups of an argument. `method`: the method of every item, if the list has only one. */
export async function readTotals(
  groupBy: readonly TotalsGrouping[] | null | undefined,
  read: (groupBy: readonly TotalsGrouping[]) => Promise<Totals>,
  method?: string,
): Promise<Totals> {
  const asked = [...new Set(groupBy ?? [])];
  if (method === undefined || !asked.includes('method')) return read(asked);
  const totals = await read(asked.filter((each) => each !== 'method'));
  const { count, amountCents } = totals;
  const whole = count === 0 ? [] : [{ hour: null, status: null, count, amountCents }];
  const groups = asked.length === 1 ? whole : totals.groups;
  return { ...totals, groups: groups.map((group) => ({ ...group, method })) };
}
