import type {
  ListTexts,
  ControlTexts as SharedControlTexts,
  DetailTexts as SharedDetailTexts,
} from '../../list/locales/texts.ts';
import type { DisputeReason, DisputeStatus } from '../operations.ts';

/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts extends SharedControlTexts {
  createdFrom: string;
  createdUntil: string;
}

/** The texts of the details, whose chunk has them in Portuguese. */
export interface DetailTexts extends SharedDetailTexts {
  disputeOf: string;
  blockedAmount: string;
  reason: string;
  payer: string;
  saleCode: string;
  disputeNumber: string;
  files: string;
  opened: string;
  submitted: string;
  acceptedByYou: string;
  /** The label of the text of a defence. */
  story: string;
  chooseFiles: string;
  filesHint: string;
  filesFull: string;
  remove: string;
  sendDefence: string;
  sending: string;
  submitFailed: string;
  nothingWritten: string;
  wrongType: string;
  tooLarge: string;
  tooMany: string;
  accept: string;
  /** The price of the acceptance, before it is confirmed. */
  acceptPrice: string;
  acceptNow: string;
  acceptFailed: string;
  keep: string;
}

/** The texts of `<psa-disputes>`. `{…}` is a placeholder. */
export interface Texts
  extends ListTexts,
    ControlTexts,
    DetailTexts,
    Record<DisputeStatus | DisputeReason, string> {
  /** The table's accessible name. */
  disputes: string;
  status: string;
  amount: string;
  due: string;
  sale: string;
  created: string;
  /** The name of the field of the search. */
  searchLabel: string;
  /** Under an amount that is held of the balance. */
  blocked: string;
  /** The kinds of claims: of a payment by PIX, and of one by card. */
  med: string;
  chargeback: string;
  /** The time that is left of the deadline. */
  left: string;
  over: string;
  sent: string;
  decided: string;
  accepted: string;
}

/** The texts of the first file. */
export type TableTexts = Omit<Texts, keyof ControlTexts | keyof DetailTexts>;
