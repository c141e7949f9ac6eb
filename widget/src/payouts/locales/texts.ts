import type {
  ListTexts,
  ControlTexts as SharedControlTexts,
  DetailTexts as SharedDetailTexts,
} from '../../list/locales/texts.ts';
import type { DestinationKind } from '../operations.ts';

/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts extends SharedControlTexts {
  searchHint: string;
  /** The merchant's own number of a payout. */
  externalId: string;
  requestedFrom: string;
  requestedUntil: string;
  method: string;
}

/** The texts of a payout's details, whose chunk has them in Portuguese. */
export interface DetailTexts extends SharedDetailTexts, Record<Exclude<DestinationKind, 'UNKNOWN'>, string> {
  title: string;
  inDoubt: string;
  method: string;
  destinationKind: string;
  serviceFee: string;
  net: string;
  debitedLtc: string;
  withdrawalId: string;
  externalId: string;
  endToEndId: string;
  stepRequested: string;
  /** The time by which it is known whether the payout was made. */
  stepKnown: string;
}

/** The texts of the table. `{…}` is a placeholder. */
export interface Texts extends ListTexts, ControlTexts, DetailTexts {
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
  /** The reasons that the service itself gives. The Portuguese ones are its own words. */
  notReceived: string;
  bankRefused: string;
  destinationBlocked: string;
  status: string;
  amount: string;
  destination: string;
  code: string;
  requested: string;
  fee: string;
}

/** The texts of the first file. */
export type TableTexts = Omit<Texts, keyof ControlTexts | keyof DetailTexts>;
