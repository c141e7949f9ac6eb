import {
  type Column,
  type Export,
  exportOf,
  instant,
  moved,
  readingOf,
  text,
} from '../../api/http/exports/export.ts';
import { anyOf } from '../../api/http/list-query.ts';
import { maskDestination, PAYOUT_STATUSES, type Payout, type PayoutService } from './model.ts';
import { DETAILS } from './routes.ts';

const COLUMNS: readonly Column<Payout>[] = [
  text('withdrawalId', ({ withdrawalId }) => withdrawalId),
  text('code', ({ code }) => code),
  text('externalId', ({ externalId }) => externalId),
  text('status', ({ status }) => status),
  text('method', ({ method }) => method),
  instant('requestedAt', ({ requestedAt }) => requestedAt),
  instant('processedAt', ({ processedAt }) => processedAt),
  instant('returnedAt', ({ returnedAt }) => returnedAt),
  moved('amount', ({ amountCents }) => amountCents),
  moved('serviceFee', ({ feeCents }) => feeCents),
  moved('netAmount', ({ amountCents, feeCents }) => (feeCents === null ? null : amountCents - feeCents)),
  moved('amountLtc', ({ litoshi }) => litoshi, 'litoshi'),
  text('destination', (payout) => maskDestination(payout, { masksPublic: true })),
  text('destinationKind', ({ destinationKind }) => destinationKind),
  text('endToEndId', ({ endToEndId }) => endToEndId),
  text('deniedReason', ({ deniedReason }) => deniedReason),
];

/** Payouts of the main account as a file. */
export function createPayoutExport({ payouts }: { payouts: Pick<PayoutService, 'listKept'> }): Export {
  return exportOf({
    name: 'payouts',
    rights: ['payouts.read'],
    query: { status: anyOf(PAYOUT_STATUSES, 'payouts'), ...DETAILS },
    columns: COLUMNS,
    open: readingOf(payouts.listKept, ({ payout }) => payout),
  });
}
