import type {
  ListTexts,
  ControlTexts as SharedControlTexts,
  DetailTexts as SharedDetailTexts,
} from '../../list/locales/texts.ts';
import type { SaleStatus, SalesMethod } from '../operations.ts';

/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts extends SharedControlTexts {
  createdFrom: string;
  createdUntil: string;
}

/** The texts of a sale's details, whose chunk has them in Portuguese. */
export interface DetailTexts extends SharedDetailTexts {
  title: string;
  description: string;
  orderId: string;
  /** The merchant's own label of a charge. */
  externalId: string;
  endToEndId: string;
  fee: string;
  net: string;
  parts: string;
  refundedSoFar: string;
  refundable: string;
  otherPaid: string;
  unresolved: string;
  name: string;
  email: string;
  taxId: string;
  customerId: string;
  stepCreated: string;
  stepExpires: string;
  stepExpired: string;
  stepPaid: string;
  stepPaidLate: string;
  stepReleased: string;
  stepFailed: string;
  /** Money that the sale could not take, which goes back to its payer. */
  stepCredit: string;
  stepReturning: string;
  stepReturned: string;
  paidElsewhere: string;
  paidAfterCancel: string;
  underpaid: string;
  stepRefunded: string;
  stepRefund: string;
  stepRefundDone: string;
  stepRefundFailed: string;
  stepDispute: string;
  stepDisputeWon: string;
  stepDisputeLost: string;
  stepDisputeForgiven: string;
  refund: string;
  refundAmount: string;
  refundMost: string;
  refundInvalid: string;
  refundSending: string;
  refundSent: string;
  refundFailed: string;
}

/** The texts of `<psa-sales>`. `{…}` is a placeholder. */
export interface Texts
  extends ListTexts,
    ControlTexts,
    DetailTexts,
    Record<SaleStatus | SalesMethod, string> {
  /** The table's accessible name. */
  sales: string;
  status: string;
  amount: string;
  payer: string;
  code: string;
  created: string;
  method: string;
  canceled: string;
  refunded: string;
  searchLabel: string;
}

/** The texts of the first file. */
export type TableTexts = Omit<Texts, keyof ControlTexts | keyof DetailTexts>;
