import { html, type TemplateResult } from 'lit';
import { formatBrl, formatLtc } from '../shared/format.ts';
import type { Wallet } from './operations.ts';

/** Shown as a dash in each place. */
const UNREAD_WALLET: Wallet = {
  balanceCents: null,
  disputeBlockedCents: null,
  withdrawableCents: null,
  pendingReleaseCents: null,
  receivableCents: null,
  subaccountsBalanceCents: null,
  cryptoBalanceLtc: null,
};

/** Renders the figures of the wallet. One that could not be read is no longer loading. */
export function renderWallet(known: Wallet | null, isMissing: boolean): TemplateResult {
  const wallet = known ?? (isMissing ? UNREAD_WALLET : null);
  const figure = <V>(value: V | null | undefined, format: (value: V) => string) =>
    value === undefined ? html`<i class="placeholder"></i>` : value === null ? '—' : format(value);
  return html`
    <section class="wallet" aria-label="Carteira" aria-busy=${wallet ? 'false' : 'true'}>
      <dl>
        <div class="main-figure">
          <dt>Disponível para saque</dt>
          <dd data-figure="available">${figure(wallet?.withdrawableCents, formatBrl)}</dd>
        </div>
        <div><dt>Saldo</dt><dd data-figure="balance">${figure(wallet?.balanceCents, formatBrl)}</dd></div>
        <div><dt>A liberar</dt><dd data-figure="pending-release">${figure(wallet?.pendingReleaseCents, formatBrl)}</dd></div>
        ${
          wallet?.receivableCents
            ? html`<div><dt>A descontar</dt><dd data-figure="receivable">${formatBrl(wallet.receivableCents)}</dd></div>`
            : null
        }
        <div><dt>Em disputa</dt><dd data-figure="disputes">${figure(wallet?.disputeBlockedCents, formatBrl)}</dd></div>
        <div><dt>Em subcontas</dt><dd data-figure="subaccounts">${figure(wallet?.subaccountsBalanceCents, formatBrl)}</dd></div>
        <div>
          <dt>Litecoin</dt>
          <dd data-figure="ltc">${figure(wallet?.cryptoBalanceLtc, formatLtc)}</dd>
        </div>
      </dl>
    </section>
  `;
}
