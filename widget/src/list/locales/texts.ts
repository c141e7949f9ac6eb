import type { SharedTexts } from '../../board/locales/texts.ts';

/** The texts of the controls of the filter's conditions that all lists have; a chunk has them in Portuguese. */
export interface ControlTexts {
  search: string;
  amountBrl: string;
  apply: string;
  clear: string;
  invalidSearch: string;
  invalidNumber: string;
  invalidAmount: string;
  invalidDate: string;
  invalidPeriod: string;
  /** Shown if the server does not accept the condition, like one in front of another service. */
  filterRefused: string;
}

/** The texts of the panels with the details of a row; a chunk has them in Portuguese. */
export interface DetailTexts {
  close: string;
  history: string;
}

/** The texts of every list. */
export interface ListTexts extends SharedTexts, ControlTexts, DetailTexts {
  filter: string;
  /** The button that opens the controls of further conditions, and their name. */
  moreFilters: string;
  all: string;
  newOne: string;
  newMany: string;
  empty: string;
  emptyFiltered: string;
  countOne: string;
  count: string;
  countOf: string;
  sortedOf: string;
  loadAll: string;
  /** An amount of totals that are not exact. */
  atLeast: string;
  moreFailed: string;
  exportFile: string;
  exporting: string;
  exportFailed: string;
  announceNew: string;
  announceChange: string;
  announceMany: string;
}
