import type { DetailTexts, ListTexts, ControlTexts as SharedControlTexts } from '../../list/locales/texts.ts';
import type { WalletEntryKind } from '../operations.ts';

/** The texts of the controls of the filter's conditions, whose chunk has them in Portuguese. */
export interface ControlTexts extends SharedControlTexts {
  searchHint: string;
  createdFrom: string;
  createdUntil: string;
  kindFilter: string;
}

/** The texts of `<psa-statement>`. `{…}` is a placeholder. */
export interface Texts extends ListTexts, ControlTexts, Record<WalletEntryKind, string> {
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
