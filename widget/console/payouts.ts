import { html, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import '../src/payouts/define.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';

const { attach, onChange } = createSharedFilter(
  'statuses methods requestedAfter requestedBefore amountCents externalId reference sort'.split(' '),
);

/** The payouts of the account. */
export function render(api: Api): TemplateResult {
  return html`<psa-payouts
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
  >`;
}
