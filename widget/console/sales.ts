import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import '../src/sales/define.ts';
import type { RefundRequest } from '../src/sales/events.ts';
import { PsaSales } from '../src/sales/psa-sales.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { type ConsoleCancel, TYPES } from './cancel.ts';
import { linkToOne } from './links.ts';
import { missingRow, oneRow } from './one-row.ts';
import { requestRefund } from './refunds.ts';
import { webhooksOf } from './webhooks.ts';

const { attach, onChange } = createSharedFilter(
  'statuses methods createdAfter createdBefore amountCents search sort'.split(' '),
);
const MISSING = 'Não há venda com este código nesta conta.';
/** The codes of sales. The search takes any other text for an e-mail address or the number of an order. */
const REFERENCE = /^(PSC-|psa_|psc_|psplit_)[!-~]{1,120}$/i;

customElements.define('console-sale', oneRow(PsaSales, MISSING));

const showCancel = ({ currentTarget, detail }: CustomEvent) => {
  const button = (currentTarget as Element).querySelector<ConsoleCancel>('console-cancel');
  if (button) button.sale = detail.row;
};

/** The sales of the account by all methods, with their refunds; or one of them. */
export function render(api: Api, scopes: readonly string[], id: string | null): TemplateResult {
  const refund = ({ detail }: CustomEvent<RefundRequest>) => {
    const { __typename, reference } = detail.sale;
    const { amountCents } = detail;
    detail.respondWith(requestRefund(api, { type: TYPES[__typename], reference, amountCents }));
  };
  const lost = html`<console-lost-refunds .api=${api} .reference=${id}></console-lost-refunds>`;
  const actions = api.actions.join(' ') || nothing;
  if (id !== null && !REFERENCE.test(id)) return missingRow(MISSING);
  if (id !== null)
    return html`
      ${lost}
      <console-sale
        class="card"
        actions=${actions}
        .search=${id}
        .endpoint=${api.endpoint}
        .token=${api.token}
        .renewToken=${api.renewToken}
        @psa-refund-request=${refund}
        @console-row=${showCancel}
        ><console-cancel slot="details" .api=${api}></console-cancel
      ></console-sale>
      ${webhooksOf(api, scopes, id)}
    `;
  return html`${lost}<psa-sales
    class="card"
    details
    export
    actions=${actions}
    .endpoint=${api.endpoint}
    .token=${api.token}
    .renewToken=${api.renewToken}
    @psa-filter-change=${onChange}
    @psa-sort-change=${onChange}
    @psa-refund-request=${refund}
    @psa-sale-select=${({ currentTarget, detail }: CustomEvent) => linkToOne(currentTarget, 'sales', detail.sale.reference)}
    ${ref(attach)}
    ><h2 slot="heading">Vendas da conta</h2>
    <a slot="details" data-page>Abrir a página da venda</a></psa-sales
  >`;
}
