import type { BoardEventMap } from '../board/events.ts';
import type { StatementSort, WalletEntry, WalletEntryFilter, WalletEntryKind } from './operations.ts';

/** The events of `<psa-statement>`. All bubble and are composed. */
export interface PsaStatementEventMap extends BoardEventMap {
  'psa-entry-update': CustomEvent<{ entry: WalletEntry; previous: undefined }>;
  'psa-entry-select': CustomEvent<{ entry: WalletEntry }>;
  'psa-filter-change': CustomEvent<{
    kinds: readonly WalletEntryKind[];
    filter: WalletEntryFilter | undefined;
  }>;
  'psa-sort-change': CustomEvent<{ sort: StatementSort }>;
}

declare global {
  // The others are declared with the elements that have them, too.
  interface HTMLElementEventMap extends Pick<PsaStatementEventMap, 'psa-entry-update' | 'psa-entry-select'> {}
}
