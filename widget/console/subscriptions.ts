import { html, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import type { Answerable } from '../src/board/page-request.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { linkToOne } from './links.ts';
import { missingRow, oneRow } from './one-row.ts';
import { ConsoleSubscriptions } from './subscriptions/element.ts';
import { webhooksOf } from './webhooks.ts';
import { requestWithKey } from './write.ts';

const { attach, onChange } = createSharedFilter(
  'statuses createdAfter createdBefore amountCents search sort'.split(' '),
);

const MISSING = 'Não há assinatura com este código nesta conta.';
/** The ids of subscriptions. The search takes any other text for an e-mail address or the number of a customer. */
const ID = /^psa_sub_[!-~]{1,92}$/;

customElements.define('console-subscription', oneRow(ConsoleSubscriptions, MISSING));

/** The subscriptions of the account, with their cancellation; or one of them. */
export function render(api: Api, scopes: readonly string[], id: string | null): TemplateResult {
  const cancel = ({ detail }: CustomEvent<Answerable & { subscriptionId: string }>) => {
    const { subscriptionId } = detail;
    const words = { title: 'Cancelar a assinatura', declined: 'A assinatura não foi cancelada.' };
    detail.respondWith(requestWithKey(api, './subscriptions/cancel', { subscriptionId }, words));
  };
  const mayCancel = api.actions.includes('cancelSubscription');
  if (id !== null && !ID.test(id)) return missingRow(MISSING);
  if (id !== null)
    return html`
      <console-subscription
        class="card"
        .search=${id}
        .mayCancel=${mayCancel}
        .endpoint=${api.endpoint}
        .token=${api.token}
        .renewToken=${api.renewToken}
        @psa-cancel-request=${cancel}
      ></console-subscription>
      ${webhooksOf(api, scopes, id)}
    `;
  return html`<console-subscriptions
    class="card"
    .mayCancel=${mayCancel}
    .endpoint=${api.endpoint}
    .token=${api.token}
    .renewToken=${api.renewToken}
    @psa-filter-change=${onChange}
    @psa-sort-change=${onChange}
    @psa-cancel-request=${cancel}
    @psa-subscription-select=${({ currentTarget, detail }: CustomEvent) => linkToOne(currentTarget, 'subscriptions', detail.subscription.subscriptionId)}
    ${ref(attach)}
    ><h2 slot="heading">Assinaturas da conta</h2>
    <a slot="details" data-page>Abrir a página da assinatura</a></console-subscriptions
  >`;
}
