import { boardUpdates, disputeUpdates } from '../board/updates.ts';
import type { ListKind } from '../list/list-kind.ts';
import { createSearchField } from '../list/search-field.ts';
import { noteDeadlines } from './deadlines.ts';
import { disputeCells } from './dispute-cells.ts';
import type { Texts } from './locales/texts.ts';
import {
  DISPUTE_DETAILS,
  DISPUTES,
  DISPUTES_POLL,
  DISPUTES_START,
  type Dispute,
  type DisputesAnswer,
  type DisputeUpdate,
  STATUSES,
} from './operations.ts';

/** The list of disputes. */
export const disputes: ListKind<Dispute, Texts> = {
  name: 'dispute',
  title: 'disputes',
  documents: { start: DISPUTES_START, page: DISPUTES, poll: DISPUTES_POLL, details: DISPUTE_DETAILS },
  listOf(answer) {
    const { disputes: page } = answer as DisputesAnswer;
    noteDeadlines(page.nodes);
    return page;
  },
  topic: { kinds: ['DISPUTE'], alone: disputeUpdates, among: boardUpdates },
  rowOf(update) {
    const { dispute = null, disputeBefore } = update as Partial<DisputeUpdate>;
    if (dispute) noteDeadlines([dispute]);
    return { row: dispute, previous: disputeBefore };
  },
  time: 'created',
  timeOf: ({ createdAt }) => createdAt,
  keys: {
    amount: ({ amountCents }) => amountCents,
    // A dispute that is decided has no deadline any more, and comes last.
    due: ({ closedAt, evidenceDueAt }) =>
      closedAt || !evidenceDueAt ? Number.MAX_VALUE : Date.parse(evidenceDueAt),
    // An unknown status comes last.
    status: ({ status }) => STATUSES.indexOf(status as 'OPEN') >>> 0,
  },
  sorts: ['-created', 'created', 'due', '-due', '-amount', 'amount', 'status', '-status'],
  group: 'status',
  groupOf: ({ status }) => status,
  property: 'statuses',
  values: STATUSES,
  // A lost claim is rarely forgiven, and the buttons fill a phone’s width.
  rare: ['FORGIVEN'],
  conditions: ['createdAfter', 'createdBefore', 'amountCents', 'reference'],
  columns: ['status', 'amount', 'due', 'sale', 'created'],
  cells: disputeCells,
  spoken: ({ amountCents, status }, texts) => ({
    amount: texts.formats.money(amountCents),
    status: texts.text(status).toLowerCase(),
  }),
  search: createSearchField('reference', 'searchLabel'),
  memberOf(condition, text) {
    // A text with more than printable ASCII is refused as a filter, so the rest is removed.
    if (condition === 'reference') return { reference: text.replace(/[^!-~]/g, '').slice(0, 128) || '-' };
  },
  file: 'disputes',
  loadControls: () => import('./filters.ts'),
  loadDetails: () => import('./details.ts'),
};
