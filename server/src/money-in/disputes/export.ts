import {
  type Column,
  type Export,
  exportOf,
  instant,
  moved,
  readingOf,
  text,
} from '../../api/http/exports/export.ts';
import type { Dispute, DisputeService } from './model.ts';
import { FILTER } from './routes.ts';

const COLUMNS: readonly Column<Dispute>[] = [
  text('disputeId', ({ disputeId }) => disputeId),
  text('status', ({ status }) => status),
  text('reason', ({ reason }) => reason),
  text('ofType', ({ resource }) => resource?.type),
  text('ofId', ({ resource }) => resource?.id),
  instant('createdAt', ({ createdAt }) => createdAt),
  instant('evidenceDueAt', ({ evidenceDueAt }) => evidenceDueAt),
  instant('closedAt', ({ closedAt }) => closedAt),
  instant('acceptedAt', ({ acceptedAt }) => acceptedAt),
  moved('amount', ({ amountCents }) => amountCents),
];

/** Disputes as a file. */
export function createDisputeExport({ disputes }: { disputes: Pick<DisputeService, 'list'> }): Export {
  return exportOf({
    name: 'disputes',
    rights: ['disputes.read'],
    query: FILTER,
    columns: COLUMNS,
    open: readingOf(disputes.list, ({ resource }) => resource),
  });
}
