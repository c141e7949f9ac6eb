import { payoutUpdates } from '../board/updates.ts';
import type { ListKind } from '../list/list-kind.ts';
import type { Page } from '../list/row-list.ts';
import type { Totals } from '../list/totals.ts';
import type { Texts } from './locales/texts.ts';
import { METHOD_LABELS } from './methods.ts';
import {
  PAYOUT_DETAILS,
  PAYOUT_TOTALS,
  PAYOUTS,
  type Payout,
  type PayoutStatus,
  type PayoutUpdate,
  POLL,
  START,
} from './operations.ts';
import { payoutCells } from './payout-cells.ts';

/** The statuses of the filter, without UNKNOWN, which means a status of a newer server. */
const STATUSES: readonly PayoutStatus[] = ['PENDING', 'PROCESSING', 'COMPLETED', 'DENIED', 'RETURNED'];

/** The list of payouts. */
export const payouts: ListKind<Payout, Texts> = {
  name: 'payout',
  title: 'payouts',
  documents: { start: START, page: PAYOUTS, poll: POLL, details: PAYOUT_DETAILS },
  listOf: (answer) => (answer as { payouts: Page<Payout> }).payouts,
  totals: {
    document: PAYOUT_TOTALS,
    of: (answer) => (answer as { payoutTotals: Totals }).payoutTotals,
  },
  topic: { kinds: ['PAYOUT'], alone: payoutUpdates },
  rowOf(update) {
    const { payout = null, previousStatus } = update as Partial<PayoutUpdate>;
    return { row: payout, previous: previousStatus };
  },
  time: 'requested',
  timeOf: ({ requestedAt }) => requestedAt,
  keys: {
    amount: ({ amountCents }) => amountCents,
    // An unknown status comes last.
    status: ({ status }) => STATUSES.indexOf(status) >>> 0,
  },
  sorts: ['-requested', 'requested', '-amount', 'amount', 'status', '-status'],
  group: 'status',
  groupOf: ({ status }) => status,
  property: 'statuses',
  values: STATUSES,
  // A return is rare, and the buttons fill a phone’s width.
  rare: ['RETURNED'],
  conditions: ['methods', 'requestedAfter', 'requestedBefore', 'amountCents', 'externalId', 'reference'],
  checks: {
    property: 'methods',
    legend: 'method',
    options: () => Object.entries(METHOD_LABELS).filter(([method]) => method !== 'UNKNOWN'),
  },
  columns: ['status', 'amount', 'destination', 'code', 'requested'],
  cells: payoutCells,
  spoken: ({ amountCents, status }, texts) => ({
    amount: texts.formats.money(amountCents),
    status: texts.text(status).toLowerCase(),
  }),
  file: 'payouts',
  loadControls: () => import('./filters.ts'),
  loadDetails: () => import('./details.ts'),
};
