import type { SharedTexts } from '../../board/locales/texts.ts';

/** The texts of `<psa-wallet>`. `{…}` is a placeholder. */
export interface Texts extends SharedTexts {
  /** The accessible name of the figures. */
  wallet: string;
  available: string;
  balance: string;
  pending: string;
  blocked: string;
  subaccounts: string;
  ltc: string;
  receivable: string;
  sandbox: string;
  /** The history in words, for those who do not see its line. */
  history: string;
  historyHours: string;
  announce: string;
}
