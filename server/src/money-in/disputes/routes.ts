import { z } from 'zod';
import { sentFile, uploadedFile } from '../../api/http/file-bodies.ts';
import {
  anyOf,
  centsQuery,
  listQuery,
  periodQuery,
  readListQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { pageOf, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import {
  type DisputeFiles,
  fileIdText,
  fileNameText,
  MAX_FILE_BYTES,
  MAX_FILES,
  MEDIA_TYPES,
} from './files.ts';
import {
  DISPUTE_STATUSES,
  type DisputeFilter,
  type DisputeService,
  disputeIdText,
  EVIDENCE_DAYS,
  evidenceInput,
  MAX_EVIDENCE,
  type StoredDispute,
} from './model.ts';
import { disputeFileWire, disputeToWire, disputeWire } from './wire.ts';

const TAG = 'Disputes';
const FILES = { mediaTypes: MEDIA_TYPES, maxBytes: MAX_FILE_BYTES };

/** The parameters of the list and of the export. */
export const FILTER = {
  status: anyOf(DISPUTE_STATUSES, 'disputes'),
  reference: textQuery('Selects the dispute with this id'),
  ...centsQuery('disputes'),
  ...periodQuery('created', 'disputes that were opened'),
  ...periodQuery('closed', 'disputes that were decided'),
};

/** Disputes in the REST interface (the document's 2.5 and 4.5). */
export function createDisputeRoutes({
  disputes,
  disputeFiles,
}: {
  disputes: DisputeService<StoredDispute>;
  disputeFiles: DisputeFiles;
}): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: '/v1/disputes',
      operationId: 'listDisputes',
      summary: 'List disputes, newest first',
      description: 'With a test key there are none.',
      tag: TAG,
      section: '4.5',
      query: listQuery(FILTER),
      answers: { 200: { description: 'A page', schema: pageOf('disputes', disputeWire) } },
      async handle({ caller, query }) {
        const page = readListQuery<DisputeFilter>(query);
        const { items, total } = await disputes.listPage(caller.tenant, page);
        return { status: 200, body: { disputes: items.map(disputeToWire), total, ...query } };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/disputes/{id}',
      operationId: 'getDispute',
      summary: 'Look a dispute up',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: disputeIdText }),
      answers: { 200: { description: 'The dispute as it stands', schema: disputeWire } },
      errors: { 404: 'No such dispute of this account in this environment' },
      async handle({ caller, params }) {
        const dispute = await disputes.find(caller.tenant, params.id);
        if (!dispute) throw new NotFoundError('Dispute not found');
        return { status: 200, body: disputeToWire(dispute) };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/disputes/{id}/evidence',
      operationId: 'submitDisputeEvidence',
      summary: 'Submit evidence',
      description: `Texts, files that were uploaded for this dispute, and addresses of documents, which are stored and never opened. Within ${EVIDENCE_DAYS} days after the dispute, and at most ${MAX_EVIDENCE} times.`,
      tag: TAG,
      section: '4.5',
      params: z.object({ id: disputeIdText }),
      body: evidenceInput,
      example: {
        text: 'O pedido foi entregue no endereço do pagador.',
        documents: [{ url: 'https://loja.example/entregas/1042.pdf', description: 'Comprovante de entrega' }],
        idempotencyKey: 'disputa-1042-1',
      },
      answers: { 201: { description: 'The dispute, under review', schema: disputeWire } },
      errors: {
        404: 'No such dispute of this account in this environment',
        409: 'Decided, too late, or submitted too often; or the idempotency key was used with another input',
      },
      async handle({ caller, params, body }) {
        const { dispute, replayed } = await disputes.submitEvidence(caller.tenant, params.id, body);
        return { status: 201, body: disputeToWire(dispute), replayed };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/disputes/{id}/files',
      operationId: 'uploadDisputeFile',
      summary: 'Upload a file',
      description: `The body is the file itself, and \`Content-Type\` its type. At most ${MAX_FILES} files, while the dispute takes evidence. A submission names it in \`fileIds\`; no other interface shows its bytes. The same bytes are one file. An extension of the document.`,
      tag: TAG,
      section: '4.5',
      params: z.object({ id: disputeIdText }),
      query: z.object({ name: fileNameText }),
      body: uploadedFile(FILES),
      answers: { 201: { description: 'The file, which the dispute lists', schema: disputeFileWire } },
      errors: {
        400: 'The body is no whole file of its type, or its name has another ending',
        404: 'No such dispute of this account in this environment',
        409: `Decided, too late, or ${MAX_FILES} files already; the files of the account have 1 GB; or the idempotency key was used with another file`,
        413: `The file has more than ${MAX_FILE_BYTES} bytes`,
        501: 'The operator has given this server no key to encrypt files',
      },
      async handle({ caller, params, query, body }) {
        const { file, replayed } = await disputeFiles.upload(caller.tenant, params.id, { ...query, ...body });
        return { status: 201, body: file, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/disputes/{id}/files/{fileId}',
      operationId: 'getDisputeFile',
      summary: 'Download a file',
      description:
        'As it was uploaded. A browser saves it, and never shows it. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: disputeIdText, fileId: fileIdText }),
      answers: { 200: { description: 'The file', schema: sentFile(FILES) } },
      errors: { 404: 'No such dispute of this account in this environment, or no such file of it' },
      async handle({ caller, params }) {
        const file = await disputeFiles.read(caller.tenant, params.id, params.fileId);
        return { status: 200, body: file };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/disputes/{id}/files/{fileId}',
      operationId: 'deleteDisputeFile',
      summary: 'Delete a file',
      description:
        'One that no submission has, while the dispute takes evidence. The dispute can have another one then. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: disputeIdText, fileId: fileIdText }),
      answers: { 200: { description: 'It is gone', schema: z.object({ deleted: z.boolean() }) } },
      errors: {
        404: 'No such dispute of this account in this environment, or no such file of it',
        409: 'A submission has the file; or the dispute is decided, or its time for evidence is over',
      },
      async handle({ caller, params }) {
        await disputes.deleteFile(caller.tenant, params.id, params.fileId);
        return { status: 200, body: { deleted: true } };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/disputes/{id}/accept',
      operationId: 'acceptDispute',
      summary: 'Accept a claim',
      description:
        'The dispute is lost at once, by your word: its amount stays held until it is forgiven. It cannot be undone. Repeated, it changes nothing. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: disputeIdText }),
      answers: { 200: { description: 'The dispute, lost', schema: disputeWire } },
      errors: {
        404: 'No such dispute of this account in this environment',
        409: 'The banks have decided it already',
      },
      async handle({ caller, params }) {
        const { dispute, replayed } = await disputes.accept(caller.tenant, params.id);
        return { status: 200, body: disputeToWire(dispute), replayed };
      },
    }),
  ];
}
