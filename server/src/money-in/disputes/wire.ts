import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import {
  type JsonRecord,
  readCents,
  readInstant,
  readPage,
  readRecord,
  readRecords,
  readWholeText,
  readWord,
} from '../../kernel/lenient-json.ts';
import { cents } from '../../kernel/money.ts';
import { answeredWord, URL_MAX } from '../../kernel/text.ts';
import { webhookEvent } from '../../kernel/webhook-event.ts';
import { anyFileIdText, type DisputeFile, fileNameText, MAX_FILES } from './files.ts';
import {
  blockedCents,
  DISPUTE_REASONS,
  DISPUTE_STATUSES,
  type Dispute,
  type DisputedResource,
  type DisputedType,
  DOCUMENT_DESCRIPTION_MAX,
  EVIDENCE_TEXT_MAX,
  type Evidence,
  type EvidenceDocument,
  isAnyDisputeId,
  MAX_DOCUMENTS,
  MAX_EVIDENCE,
  REFERENCES,
} from './model.ts';
import type { UpstreamDispute } from './upstream-dispute.ts';

/** A file of a dispute in the REST interface, without its bytes. */
export const disputeFileWire = z
  .object({
    fileId: z
      .string()
      .meta({ description: 'dsf_ and 24 hex digits', examples: ['dsf_5b1c09d2e7a84f36b0c1d2e3'] }),
    name: z.string(),
    mediaType: z.string().meta({ examples: ['application/pdf'] }),
    sizeBytes: z.int(),
    sha256: z.string().meta({ description: 'SHA-256 of the bytes, in hex digits' }),
    createdAt: instant.nullable().meta({ description: 'When it was uploaded' }),
  })
  .meta({ id: 'DisputeFile' });

/** A dispute in the REST interface. */
export const disputeWire = z
  .object({
    disputeId: z
      .string()
      .meta({ description: 'dsp_ and 24 hex digits', examples: ['dsp_0c7d1a5be2f94a3d8e6b7f10'] }),
    status: answeredWord(DISPUTE_STATUSES).meta({
      description:
        'open: evidence can be submitted; under_review: the banks decide; won; lost: still held, until it is forgiven; forgiven',
    }),
    reason: answeredWord([...DISPUTE_REASONS, 'unknown']),
    amountCents: cents.meta({
      description:
        'What is claimed, and at most what could be refunded. Grows where a refund fails that held some of it',
    }),
    blockedCents: cents.meta({ description: 'Held of the balance: 0 once it is won or forgiven' }),
    orderCode: z
      .string()
      .optional()
      .meta({ description: 'The disputed card payment; left out of any other' }),
    paymentId: z
      .string()
      .optional()
      .meta({ description: 'The disputed payment by PIX; left out of any other' }),
    chargeId: z.string().optional().meta({ description: 'The disputed charge; left out of any other' }),
    evidence: z
      .array(
        z.object({
          text: z.string().nullable(),
          documents: z.array(z.object({ url: z.string(), description: z.string().nullable() })),
          fileIds: z.array(z.string()).meta({ description: 'Members of `files`' }),
          submittedAt: instant.nullable(),
        }),
      )
      .meta({ description: `The submissions, oldest first, at most ${MAX_EVIDENCE}` }),
    files: z.array(disputeFileWire).meta({
      description: `The files that you have uploaded, oldest first, at most ${MAX_FILES}, also those that you have not submitted`,
    }),
    evidenceDueAt: instant.nullable().meta({ description: 'No evidence is taken from then on' }),
    createdAt: instant.nullable(),
    closedAt: instant
      .nullable()
      .meta({ description: 'When it was decided; a lost one keeps it when it is forgiven' }),
    acceptedAt: instant
      .nullable()
      .meta({ description: 'When you accepted the claim, by which it is lost; null otherwise' }),
  })
  .meta({ id: 'Dispute' });

export function disputeToWire(dispute: Dispute): z.output<typeof disputeWire> {
  const { resource, status } = dispute;
  return {
    ...dispute,
    status: status as z.output<typeof disputeWire>['status'],
    blockedCents: blockedCents(dispute),
    acceptedAt: dispute.acceptedAt ?? null,
    files: [...dispute.files],
    evidence: dispute.evidence.map(({ text, documents, fileIds, submittedAt }) => ({
      text,
      submittedAt,
      fileIds: [...fileIds],
      documents: documents.map(({ url, description }) => ({ url, description })),
    })),
    ...(resource && { [REFERENCES[resource.type]]: resource.id }),
  };
}

/** The events, with the members of each. */
export const disputeWebhooks = {
  'dispute.opened': disputeEvent('opened', {
    summary: 'A dispute blocks an amount',
    optional: ': its amount is blocked.',
  }),
  'dispute.updated': disputeEvent('updated', {
    summary: 'Evidence was submitted, or the time for it is over',
    optional: ': evidence was submitted, or the time for it is over; the banks decide.',
  }),
  'dispute.closed': disputeEvent('closed', {
    summary: 'It is won or lost, or a lost one is forgiven',
    optional: ': won or lost, and once more where a lost one is forgiven.',
  }),
};

function disputeEvent(name: string, said: { summary: string; optional: string }) {
  const { disputeId, status, reason, evidenceDueAt, createdAt, closedAt } = disputeWire.shape;
  return webhookEvent(`dispute.${name}`, {
    ...said,
    resource: 'dispute',
    members: {
      disputeId,
      of: z
        .object({ type: z.string().meta({ enum: Object.keys(REFERENCES) }), id: z.string() })
        .nullable()
        .meta({ description: 'The disputed payment; null where it is not known' }),
      amountCents: cents,
      status,
      reason,
      evidenceDueAt,
      createdAt,
      closedAt,
    },
    named: 'alike',
  });
}

/**
 * Encodes `dispute.opened`, `dispute.updated` and `dispute.closed`; null for a change inside a status. The
 * body has neither `orderCode` nor `paymentId` at its top level: receivers recognize the event of a paid
 * payment by these names.
 */
export function disputeWebhook(
  { disputeId, status, resource, amountCents, reason, evidenceDueAt, createdAt, closedAt }: Dispute,
  previousStatus: Dispute['status'] | null,
) {
  const event = status === 'unknown' || status === previousStatus ? null : EVENTS[status];
  if (!event) return null;
  return {
    event,
    disputeId,
    of: resource && { type: resource.type, id: resource.id },
    amountCents,
    status,
    reason,
    evidenceDueAt: evidenceDueAt?.toISOString() ?? null,
    createdAt: createdAt?.toISOString() ?? null,
    closedAt: closedAt?.toISOString() ?? null,
  };
}

const EVENTS = {
  open: 'dispute.opened',
  under_review: 'dispute.updated',
  won: 'dispute.closed',
  lost: 'dispute.closed',
  forgiven: 'dispute.closed',
} as const;

// ── Read from another service: documented members by name, leniently ─────────────────────────────

/** Reads the response to a lookup; null if it is not one. */
export function disputeFromWire(body: unknown): UpstreamDispute | null {
  const record = readRecords(body).find((each) => disputeIdOf(each) !== null);
  return record ? readDispute(record) : null;
}

/**
 * Reads a page of the list: the readable members of each item, null for an unreadable item. Null if the body
 * is no page.
 */
export function disputesFromWire(
  body: unknown,
): { items: (UpstreamDispute | null)[]; total: number | null } | null {
  const page = readPage(body, 'disputes');
  return page && { items: page.items.map(disputeFromWire), total: page.total };
}

/** Reads the event of a webhook: any event with a `disputeId`. Null for any other. */
export function disputeEventFromWire(payload: unknown): UpstreamDispute | null {
  const record = readRecords(payload).find(
    ({ disputeId }) => typeof disputeId === 'string' && isAnyDisputeId(disputeId),
  );
  return record ? readDispute(record) : null;
}

function disputeIdOf({ disputeId, id }: JsonRecord): string | null {
  const found = [disputeId, id].find((text) => typeof text === 'string' && isAnyDisputeId(text));
  return (found as string | undefined) ?? null;
}

function readDispute(record: JsonRecord): UpstreamDispute {
  const status = readWord(record.status);
  const reason = readWord(record.reason);
  return {
    disputeId: disputeIdOf(record)!,
    status: status === null ? null : (DISPUTE_STATUSES.find((each) => each === status) ?? 'unknown'),
    reason: reason === null ? null : (DISPUTE_REASONS.find((each) => each === reason) ?? 'unknown'),
    amountCents: readCents(record.amountCents),
    resource: readResource(record),
    evidence: Array.isArray(record.evidence)
      ? record.evidence.slice(0, MAX_EVIDENCE).flatMap(readEvidence)
      : null,
    files: Array.isArray(record.files) ? record.files.slice(0, MAX_FILES).flatMap(readFile) : null,
    evidenceDueAt: readInstant(record.evidenceDueAt),
    createdAt: readInstant(record.createdAt),
    closedAt: readInstant(record.closedAt),
  };
}

/** The disputed resource: named by the member of its family, or in an event as `of`, or `resource` by older versions. */
function readResource(record: JsonRecord): DisputedResource | null {
  const named = readRecord(record.of) ?? readRecord(record.resource);
  for (const type of Object.keys(REFERENCES) as DisputedType[]) {
    const id = named?.type === type ? named.id : record[REFERENCES[type]];
    const text = readWholeText(id, { max: 128 });
    if (text !== null) return { type, id: text };
  }
  return null;
}

function readEvidence(value: unknown): Evidence[] {
  const record = readRecord(value);
  if (!record) return [];
  const documents = Array.isArray(record.documents)
    ? record.documents.slice(0, MAX_DOCUMENTS).flatMap(readDocument)
    : [];
  const text = readWholeText(record.text, { max: EVIDENCE_TEXT_MAX });
  const fileIds = Array.isArray(record.fileIds)
    ? record.fileIds.slice(0, MAX_FILES).filter((id) => isFileId(id))
    : [];
  return [{ text, documents, fileIds, submittedAt: readInstant(record.submittedAt) }];
}

function readFile(value: unknown): DisputeFile[] {
  const { success, data } = claimedFile.safeParse(value);
  return success ? [{ ...data, createdAt: readInstant(data.createdAt) }] : [];
}

const claimedFile = z.object({
  fileId: anyFileIdText,
  name: fileNameText,
  mediaType: z.string().regex(/^[\w.+-]{1,40}\/[\w.+-]{1,80}$/),
  sizeBytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.unknown(),
});

function isFileId(value: unknown): value is string {
  return anyFileIdText.safeParse(value).success;
}

function readDocument(value: unknown): EvidenceDocument[] {
  const record = readRecord(value);
  const url = readWholeText(record?.url, { max: URL_MAX });
  // Another scheme could run a script in the page that shows the link.
  if (url === null || !/^https:/i.test(url) || !URL.canParse(url)) return [];
  return [{ url, description: readWholeText(record!.description, { max: DOCUMENT_DESCRIPTION_MAX }) }];
}
