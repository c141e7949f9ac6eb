import type { Props } from '@psa/checkout/react';
import type { PsaWalletAttributes, PsaWalletEventMap, PsaWallet as Wallet } from '@psa/checkout/wallet';
import type { ReactElement } from 'react';

/** `<psa-wallet>` as a component, for pages that a server renders too; it registers the element. */
export declare function PsaWallet(props: Props<Wallet, PsaWalletAttributes, PsaWalletEventMap>): ReactElement;
