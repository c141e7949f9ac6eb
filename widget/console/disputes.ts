import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { postJson } from '../demo/shared/post-json.ts';
import type { PageAnswer } from '../src/board/page-request.ts';
import '../src/disputes/define.ts';
import type { AcceptRequest, DefenceRequest } from '../src/disputes/events.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { answerTo, requestWithKey, uploadFile } from './write.ts';

const { attach, onChange } = createSharedFilter(
  'statuses createdAfter createdBefore amountCents reference sort'.split(' '),
);

/** The disputes of the account, with their defence. */
export function render(api: Api): TemplateResult {
  const accept = ({ detail }: CustomEvent<AcceptRequest>) => {
    const words = { title: 'Aceitar a disputa', declined: 'A disputa não foi aceita.' };
    detail.respondWith(requestWithKey(api, './disputes/accept', { disputeId: detail.disputeId }, words));
  };
  const defend = ({ detail }: CustomEvent<DefenceRequest>) => detail.respondWith(submit(detail));
  return html`<psa-disputes
    class="card"
    details
    export
    actions=${api.mayWrite ? 'defence accept' : nothing}
    .endpoint=${api.endpoint}
    .token=${api.token}
    .renewToken=${api.renewToken}
    @psa-filter-change=${onChange}
    @psa-sort-change=${onChange}
    @psa-defence-request=${defend}
    @psa-accept-request=${accept}
    ${ref(attach)}
    ><h2 slot="heading">Disputas da conta</h2></psa-disputes
  >`;
}

/** Uploads the files, and submits the text with them. The same bytes are one file, so a second try repeats nothing. */
async function submit({ disputeId, text, files, fileIds, ...rest }: DefenceRequest): Promise<PageAnswer> {
  const { idempotencyKey } = rest;
  const ids = new Set(fileIds);
  for (const file of files) {
    const uploaded = await uploadFile(disputeId, file);
    if (!uploaded.ok) return answerTo(uploaded);
    ids.add(uploaded.body.fileId);
  }
  const given = { ...(text && { text }), ...(ids.size > 0 && { fileIds: [...ids] }) };
  return answerTo(await postJson('./disputes/evidence', { disputeId, idempotencyKey, ...given }));
}
