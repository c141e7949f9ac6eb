import type { BoardAttributes } from '../board/attributes.ts';
import type { Texts } from './locales/texts.ts';

/** The attributes of `<psa-wallet>` for typed markup. */
export interface PsaWalletAttributes extends BoardAttributes<Texts> {
  figures?: string | undefined;
  history?: string | undefined;
}
