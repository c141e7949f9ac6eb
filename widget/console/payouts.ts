import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import '../src/payouts/define.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import './payout-batch.ts';
import './payout-form.ts';

const { attach, onChange } = createSharedFilter(
  'statuses methods requestedAfter requestedBefore amountCents externalId reference sort'.split(' '),
);

/** The payouts of the account. Who may, requests one, or many from a file. */
export function render(api: Api): TemplateResult {
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
      ${ref(attach)}
      ><h2 slot="heading">Saques da conta</h2></psa-payouts
    >
  `;
}
