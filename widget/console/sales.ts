import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { formatBrl } from '../demo/shared/format.ts';
import '../src/sales/define.ts';
import type { RefundRequest } from '../src/sales/events.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { requestWithKey } from './write.ts';

const { attach, onChange } = createSharedFilter(
  'statuses methods createdAfter createdBefore amountCents search sort'.split(' '),
);
const TYPES = { CardPayment: 'card_payment', Payment: 'payment', Charge: 'charge' } as const;

const REFUSALS = {
  DISPUTE_STATE:
    'O banco de quem pagou está pedindo este valor de volta: o que está em disputa não pode ser estornado.',
};

/** The sales of the account by all methods, with their refunds. */
export function render(api: Api): TemplateResult {
  const refund = ({ detail }: CustomEvent<RefundRequest>) => {
    const { sale, amountCents, idempotencyKey } = detail;
    const input = { type: TYPES[sale.__typename], reference: sale.reference, amountCents, idempotencyKey };
    const title = `Estornar ${formatBrl(amountCents)}`;
    const words = { title, declined: 'O estorno não foi pedido.', refusals: REFUSALS };
    detail.respondWith(requestWithKey(api, './refunds', input, words));
  };
  return html`<psa-sales
    class="card"
    details
    export
    actions=${api.mayWrite ? 'refund' : nothing}
    .endpoint=${api.endpoint}
    .token=${api.token}
    .renewToken=${api.renewToken}
    @psa-filter-change=${onChange}
    @psa-sort-change=${onChange}
    @psa-refund-request=${refund}
    ${ref(attach)}
    ><h2 slot="heading">Vendas da conta</h2></psa-sales
  >`;
}
