import type {
  ListTexts,
  ControlTexts as SharedControlTexts,
  DetailTexts as SharedDetailTexts,
} from '../../list/locales/texts.ts';
import type { WalletEntryKind } from '../operations.ts';

/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts extends SharedControlTexts {
  searchHint: string;
  createdFrom: string;
  createdUntil: string;
  kindFilter: string;
}

/** The texts of an entry's details, whose chunk has them in Portuguese. */
export interface DetailTexts extends SharedDetailTexts {
  serviceFee: string;
  /** The figures besides the balance that the entry has moved. */
  moved: string;
  unexplained: string;
  code: string;
  sale: string;
  dispute: string;
  subaccount: string;
  saleCode: string;
  withdrawalId: string;
  destination: string;
  reason: string;
  description: string;
  orderId: string;
  payer: string;
  email: string;
  name: string;
  /** The group of the wallet's figures after the entry. */
  walletAfter: string;
  pendingAfter: string;
  blockedAfter: string;
  subaccountsAfter: string;
  receivableAfter: string;
  ltcAfter: string;
}

/** The texts of `<psa-statement>`. `{…}` is a placeholder. */
export interface Texts extends ListTexts, ControlTexts, DetailTexts, Record<WalletEntryKind, string> {
  /** The table's accessible name. */
  statement: string;
  kind: string;
  amount: string;
  balance: string;
  created: string;
  fee: string;
  pending: string;
  blocked: string;
  subaccounts: string;
  receivable: string;
  opening: string;
  closing: string;
  difference: string;
}

/** The texts of the first file. */
export type TableTexts = Omit<Texts, keyof ControlTexts | keyof DetailTexts>;
