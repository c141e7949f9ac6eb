import { builder } from '../../../api/graphql/builder.ts';
import { TotalsGroupingEnum, totalsDescription } from '../../../api/graphql/totals-schema.ts';
import { callerOf } from '../../../kernel/caller.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import type { TotalsGrouping } from '../../../kernel/totals.ts';
import { HistoryIntervalEnum } from '../../../money-out/wallet/statement/schema.ts';
import { SalesTotals } from '../../pix/totals-schema.ts';
import { type Division, readableKinds, slotsOf } from '../model.ts';
import { READABLE, SaleFilterInput, saleFilterOf } from '../schema.ts';

builder.queryField('salesTotals', (t) =>
  t.field({
    type: SalesTotals,
    description: `${totalsDescription('sales of all methods')} ${READABLE}`,
    args: {
      filter: t.arg({ type: SaleFilterInput }),
      interval: t.arg({
        type: HistoryIntervalEnum,
        description:
          'Divides the totals by hours, days or months of the last date that the filter restricts, from one date to another, into at most 750 parts; the first and the last may be shorter. The totals of a period that begins and ends with full hours are kept.',
      }),
      timeZone: t.arg.string({
        required: true,
        defaultValue: 'America/Sao_Paulo',
        description: 'The name of the time zone in which days and months begin.',
      }),
      groupBy: t.arg({
        type: [TotalsGroupingEnum],
        description: 'Divides the totals by METHOD and STATUS. HOUR is `interval` here.',
      }),
    },
    resolve: async (_, { filter: given, interval, timeZone, groupBy }, context) => {
      const caller = callerOf(context);
      const kinds = readableKinds(caller);
      const filter = saleFilterOf(given);
      const division = { groupBy: groupsOf(groupBy), slots: slotsOf(filter, interval, timeZone) };
      const totals = await context.services.sales.totals(caller.tenant, kinds, filter, division);
      if (interval === 'hour') return totals;
      const groups = totals.groups.map(({ hour, ...group }) => ({ ...group, hour: null, startsAt: hour }));
      return { ...totals, groups };
    },
  }),
);

/** @throws ValidationError for hours, which have another argument */
function groupsOf(groupBy: readonly TotalsGrouping[] | null | undefined): Division['groupBy'] {
  return [...new Set(groupBy ?? [])].map((each) => {
    if (each === 'hour')
      throw new ValidationError([{ path: 'groupBy', message: 'must not have HOUR: give interval: HOUR' }]);
    return each;
  });
}
