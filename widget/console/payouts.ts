import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import '../src/payouts/define.ts';
import { PsaPayouts } from '../src/payouts/psa-payouts.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { linkToOne } from './links.ts';
import { missingRow, oneRow } from './one-row.ts';
import './payout-batch.ts';
import './payout-form.ts';
import { webhooksOf } from './webhooks.ts';

const { attach, onChange } = createSharedFilter(
  'statuses methods requestedAfter requestedBefore amountCents externalId reference sort'.split(' '),
);

const MISSING = 'Não há saque com este código nesta conta.';
customElements.define('console-payout', oneRow(PsaPayouts, MISSING));

/** The payouts of the account, or one of them. Who may, requests one, or many from a file. */
export function render(api: Api, scopes: readonly string[], id: string | null): TemplateResult {
  if (id !== null && !/^[!-~]{1,100}$/.test(id)) return missingRow(MISSING);
  if (id !== null)
    return html`
      <console-payout
        class="card"
        .reference=${id}
        .endpoint=${api.endpoint}
        .token=${api.token}
        .renewToken=${api.renewToken}
      ></console-payout>
      ${webhooksOf(api, scopes, id)}
    `;
  return html`
    ${
      api.mayWrite
        ? html`<div class="payout-requests">
            <console-payout-form class="card" .api=${api}></console-payout-form>
            <console-payout-batch class="card" .api=${api}></console-payout-batch>
          </div>`
        : nothing
    }
    <psa-payouts
      class="card"
      details
      export
      .endpoint=${api.endpoint}
      .token=${api.token}
      .renewToken=${api.renewToken}
      @psa-filter-change=${onChange}
      @psa-sort-change=${onChange}
      @psa-payout-select=${({ currentTarget, detail }: CustomEvent) =>
        linkToOne(currentTarget, 'payouts', detail.payout.withdrawalId ?? detail.payout.code)}
      ${ref(attach)}
      ><h2 slot="heading">Saques da conta</h2>
      <a slot="details" data-page>Abrir a página do saque</a></psa-payouts
    >
  `;
}
