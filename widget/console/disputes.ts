import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { postOnce } from '../demo/shared/kept-request.ts';
import type { PageAnswer } from '../src/board/page-request.ts';
import '../src/disputes/define.ts';
import type { AcceptRequest, DefenceRequest } from '../src/disputes/events.ts';
import { PsaDisputes } from '../src/disputes/psa-disputes.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { linkToOne } from './links.ts';
import { missingRow, oneRow } from './one-row.ts';
import { addressOf } from './place.ts';
import { webhooksOf } from './webhooks.ts';
import { answerTo, requestWithKey, uploadFile } from './write.ts';

const { attach, onChange } = createSharedFilter(
  'statuses createdAfter createdBefore amountCents reference sort'.split(' '),
);

const MISSING = 'Não há disputa com este número nesta conta.';
customElements.define('console-dispute', oneRow(PsaDisputes, MISSING));

/** The disputes of the account, with their defence; or one of them. */
export function render(api: Api, scopes: readonly string[], id: string | null): TemplateResult {
  const accept = ({ detail }: CustomEvent<AcceptRequest>) => {
    const words = { title: 'Aceitar a disputa', declined: 'A disputa não foi aceita.' };
    detail.respondWith(requestWithKey(api, './disputes/accept', { disputeId: detail.disputeId }, words));
  };
  const defend = ({ detail }: CustomEvent<DefenceRequest>) => detail.respondWith(submit(detail));
  const actions = api.actions.join(' ') || nothing;
  if (id !== null && !/^[!-~]{1,128}$/.test(id)) return missingRow(MISSING);
  if (id !== null)
    return html`
      <console-dispute
        class="card"
        actions=${actions}
        .reference=${id}
        .endpoint=${api.endpoint}
        .token=${api.token}
        .renewToken=${api.renewToken}
        @psa-defence-request=${defend}
        @psa-accept-request=${accept}
      ></console-dispute>
      ${webhooksOf(api, scopes, id)}
    `;
  return html`<psa-disputes
    class="card"
    details
    export
    actions=${actions}
    .endpoint=${api.endpoint}
    .token=${api.token}
    .renewToken=${api.renewToken}
    @psa-filter-change=${onChange}
    @psa-sort-change=${onChange}
    @psa-defence-request=${defend}
    @psa-accept-request=${accept}
    @psa-dispute-select=${({ currentTarget, detail }: CustomEvent) =>
      linkToOne(currentTarget, 'disputes', detail.dispute.disputeId)}
    ${ref(attach)}
    ><h2 slot="heading">Disputas da conta</h2>
    <a slot="details" data-page>Abrir a página da disputa</a></psa-disputes
  >`;
}

/** Uploads the files, and submits the text with them. The same bytes are one file, so a second try repeats nothing. */
async function submit({ disputeId, text, files, fileIds }: DefenceRequest): Promise<PageAnswer> {
  const ids = new Set(fileIds);
  for (const file of files) {
    const uploaded = await uploadFile(disputeId, file);
    if (!uploaded.ok) return answerTo(uploaded);
    ids.add(uploaded.body.fileId);
  }
  const given = { ...(text && { text }), ...(ids.size > 0 && { fileIds: [...ids] }) };
  return answerTo(await postOnce(addressOf('./disputes/evidence'), { disputeId, ...given }));
}
