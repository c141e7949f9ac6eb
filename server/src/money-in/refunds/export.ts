import {
  type Column,
  type Export,
  exportOf,
  instant,
  moved,
  readingOf,
  text,
} from '../../api/http/exports/export.ts';
import { anyOf, centsQuery, periodQuery, readFilterQuery, textQuery } from '../../api/http/list-query.ts';
import {
  READ_REFUNDED,
  REFUND_STATUSES,
  type Refund,
  type RefundFilter,
  type RefundService,
  readableTypes,
} from './model.ts';

const COLUMNS: readonly Column<Refund>[] = [
  text('refundId', ({ refundId }) => refundId),
  text('status', ({ status }) => status),
  text('ofType', ({ resource }) => resource.type),
  text('ofId', ({ resource }) => resource.id),
  instant('createdAt', ({ createdAt }) => createdAt),
  instant('completedAt', ({ completedAt }) => completedAt),
  instant('failedAt', ({ failedAt }) => failedAt),
  moved('amount', ({ amountCents }) => amountCents),
  text('reason', ({ reason }) => reason),
  text('endToEndId', ({ endToEndId }) => endToEndId),
  text('failureReason', ({ failureReason }) => failureReason),
];

/** Refunds as a file: those of the sales that the caller may read. */
export function createRefundExport({ refunds }: { refunds: Pick<RefundService, 'list'> }): Export {
  return exportOf({
    name: 'refunds',
    rights: [READ_REFUNDED.card_payment, READ_REFUNDED.payment],
    query: {
      status: anyOf(REFUND_STATUSES, 'refunds'),
      reference: textQuery('Selects the refund with this refundId or endToEndId'),
      ...centsQuery('refunds'),
      ...periodQuery('created', 'refunds that were requested'),
      ...periodQuery('completed', 'refunds that were completed'),
      ...periodQuery('failed', 'refunds that failed'),
    },
    columns: COLUMNS,
    open: readingOf(
      refunds.list,
      ({ resource }) => resource,
      (members, caller) => ({ ...readFilterQuery<RefundFilter>(members), types: readableTypes(caller) }),
    ),
  });
}
