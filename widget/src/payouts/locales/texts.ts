import type { DetailTexts, ListTexts, ControlTexts as SharedControlTexts } from '../../list/locales/texts.ts';

/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts extends SharedControlTexts {
  searchHint: string;
  /** The merchant's own number of a payout. */
  externalId: string;
  requestedFrom: string;
  requestedUntil: string;
  method: string;
}

/** The texts of the table. `{…}` is a placeholder. */
export interface Texts extends ListTexts, ControlTexts {
  /** The table's accessible name. */
  payouts: string;
  PENDING: string;
  PROCESSING: string;
  COMPLETED: string;
  DENIED: string;
  RETURNED: string;
  UNKNOWN: string;
  pendingHint: string;
  processingHint: string;
  deniedHint: string;
  status: string;
  amount: string;
  destination: string;
  code: string;
  requested: string;
  fee: string;
}

/** The texts of the first file. */
export type TableTexts = Omit<Texts, keyof ControlTexts | keyof DetailTexts>;
