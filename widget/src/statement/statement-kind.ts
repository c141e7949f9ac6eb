import { boardUpdates, statementUpdates } from '../board/updates.ts';
import type { ListKind } from '../list/list-kind.ts';
import { entryCells, signed } from './entry-cells.ts';
import type { Texts } from './locales/texts.ts';
import {
  ENTRY_DETAILS,
  KINDS,
  STATEMENT,
  STATEMENT_POLL,
  STATEMENT_START,
  type StatementAnswer,
  type WalletEntry,
} from './operations.ts';

/** The list of the wallet's entries, which never change: each update of the wallet says that there are new ones. */
export const statement: ListKind<WalletEntry, Texts> = {
  name: 'entry',
  title: 'statement',
  documents: { start: STATEMENT_START, page: STATEMENT, poll: STATEMENT_POLL, details: ENTRY_DETAILS },
  listOf: (answer) => (answer as StatementAnswer).wallet.statement,
  topic: { kinds: ['WALLET'], alone: statementUpdates, among: boardUpdates },
  rowOf: (update) => ('occurredAt' in update ? undefined : { row: null }),
  time: 'created',
  timeOf: ({ createdAt }) => createdAt,
  keys: {},
  sorts: ['-created', 'created'],
  group: 'kind',
  groupOf: ({ kind }) => kind,
  property: 'kinds',
  values: KINDS,
  // There are too many for buttons: those that are chosen have one, which removes them.
  rare: KINDS,
  conditions: ['createdAfter', 'createdBefore', 'amountCents', 'reference'],
  checks: {
    property: 'kinds',
    legend: 'kindFilter',
    options: (texts) => KINDS.map((kind) => [kind, texts.text(kind)]),
  },
  columns: ['kind', 'amount', 'balance', 'created'],
  cells: entryCells,
  spoken: ({ kind, amountCents }, texts) => ({
    kind: texts.text(kind),
    amount: signed(amountCents, texts),
  }),
  file: 'statement',
  loadControls: () => import('./filters.ts'),
  loadDetails: () => import('./details.ts'),
};
