import { html, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import type { Answerable } from '../src/board/page-request.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import './subscriptions/element.ts';
import { requestWithKey } from './write.ts';

const { attach, onChange } = createSharedFilter(
  'statuses createdAfter createdBefore amountCents search sort'.split(' '),
);

/** The subscriptions of the account, with their cancellation. */
export function render(api: Api): TemplateResult {
  const cancel = ({ detail }: CustomEvent<Answerable & { subscriptionId: string }>) => {
    const { subscriptionId } = detail;
    const words = { title: 'Cancelar a assinatura', declined: 'A assinatura não foi cancelada.' };
    detail.respondWith(requestWithKey(api, './subscriptions/cancel', { subscriptionId }, words));
  };
  return html`<console-subscriptions
    class="card"
    .mayCancel=${api.mayWrite}
    .endpoint=${api.endpoint}
    .token=${api.token}
    .renewToken=${api.renewToken}
    @psa-filter-change=${onChange}
    @psa-sort-change=${onChange}
    @psa-cancel-request=${cancel}
    ${ref(attach)}
    ><h2 slot="heading">Assinaturas da conta</h2></console-subscriptions
  >`;
}
