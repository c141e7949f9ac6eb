import {
  amountMembers,
  type Column,
  type Export,
  exportOf,
  type Figures,
  figure,
  instant,
  moved,
  PAGE_ROWS,
  type Pages,
  text,
  type Unit,
} from '../../api/http/exports/export.ts';
import { readFilterQuery } from '../../api/http/list-query.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Wallet } from './model.ts';
import type { StatementService, WalletEntry, WalletEntryFilter } from './statement.ts';
import { FILTER } from './statement-routes.ts';

/** The figures of a wallet after an entry, and what the entry has changed each by. */
const FIGURES: readonly {
  name: string;
  after: (wallet: Wallet) => number | null;
  change: string;
  of: (entry: WalletEntry) => number;
  unit?: Unit;
}[] = [
  {
    ...{ name: 'balance', after: ({ balanceCents }) => balanceCents },
    ...{ change: 'amount', of: ({ amountCents }) => amountCents },
  },
  {
    ...{ name: 'subaccountsBalance', after: ({ subaccountsBalanceCents }) => subaccountsBalanceCents },
    ...{ change: 'subaccountsDelta', of: ({ subaccountsDeltaCents }) => subaccountsDeltaCents },
  },
  {
    ...{ name: 'pendingRelease', after: ({ pendingReleaseCents }) => pendingReleaseCents },
    ...{ change: 'pendingReleaseDelta', of: ({ pendingReleaseDeltaCents }) => pendingReleaseDeltaCents },
  },
  {
    ...{ name: 'disputeBlocked', after: ({ disputeBlockedCents }) => disputeBlockedCents },
    ...{ change: 'disputeBlockedDelta', of: ({ disputeBlockedDeltaCents }) => disputeBlockedDeltaCents },
  },
  {
    ...{ name: 'receivable', after: ({ receivableCents }) => receivableCents },
    ...{ change: 'receivableDelta', of: ({ receivableDeltaCents }) => receivableDeltaCents },
  },
  {
    ...{ name: 'cryptoBalanceLtc', after: ({ cryptoBalanceLitoshi }) => cryptoBalanceLitoshi },
    ...{ change: 'cryptoDeltaLtc', of: ({ litoshiDelta }) => litoshiDelta, unit: 'litoshi' },
  },
];

const COLUMNS: readonly Column<WalletEntry>[] = [
  instant('createdAt', ({ createdAt }) => createdAt),
  text('kind', ({ kind }) => kind),
  text('reference', ({ reference }) => reference),
  text('resourceType', ({ resource }) => resource?.type),
  text('resourceId', ({ resource }) => resource?.id),
  text('subaccountId', ({ subaccountId }) => subaccountId),
  ...FIGURES.map(({ change, of, unit }) => moved(change, of, unit)),
  moved('serviceFee', ({ feeCents }) => feeCents),
  ...FIGURES.map(({ name, after, unit }) => figure<WalletEntry>(name, (entry) => after(entry.after), unit)),
  figure('unexplained', ({ unexplainedCents }) => unexplainedCents),
  instant('seenAt', ({ seenAt }) => seenAt),
];

function figuresOf(wallet: Wallet, without: WalletEntry | null): Figures {
  return Object.fromEntries(
    FIGURES.flatMap(({ name, after, of, unit = 'cents' }) => {
      const units = after(wallet);
      return amountMembers(name, unit, units === null ? null : units - (without ? of(without) : 0));
    }),
  );
}

/** The statement as a file, oldest first. */
export function createStatementExport({ statement }: { statement: StatementService }): Export {
  return exportOf({
    name: 'statement',
    rights: ['statement.read'],
    query: FILTER,
    columns: COLUMNS,
    open({ tenant }, members) {
      const filter = readFilterQuery<WalletEntryFilter>(members);
      const { createdAfter: _, createdBefore: end, ...others } = filter;
      const isWhole = Object.keys(others).length === 0;
      return {
        pages: (after) => oldestFirst((range) => statement.list(tenant, { ...filter, ...range }), after),
        ...(isWhole && {
          ends: {
            before: (entry) => figuresOf(entry.after, entry),
            after: (entry) => figuresOf(entry.after, null),
            async withoutRows() {
              const at = await statement.at(tenant, end ? new Date(end.getTime() - 1) : LAST_INSTANT);
              return at && figuresOf(at.figures, null);
            },
          },
        }),
      };
    },
  });
}

const LAST_INSTANT = new Date(8.64e15);

/** Reads the statement up to its newest entry of now, which is found first: under writers it would have no end. */
async function* oldestFirst(list: StatementList, after: number | undefined): Pages<WalletEntry> {
  const { items: newest } = await list({ end: 'first', limit: 1 });
  if (newest.length === 0) return;
  const behindNewest = newest[0]!.position + 1;
  for (let last = after; ; ) {
    const { items, more } = await list({ end: 'last', limit: PAGE_ROWS, before: last, after: behindNewest });
    const rows = items.map(({ position, entry }) => ({ position, row: entry })).reverse();
    if (rows.length > 0) yield rows;
    if (!more || rows.length === 0) return;
    last = rows.at(-1)!.position;
  }
}

type StatementList = (range: ListRange) => ReturnType<StatementService['list']>;
