import { z } from 'zod';
import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import {
  type AmountFilter,
  among,
  amountConditions,
  before,
  type Conditions,
  from,
  matches,
  named,
} from '../../kernel/list-filter.ts';
import type { FamilyReads, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText, plainText, publicHttpsUrl, URL_MAX, visibleText } from '../../kernel/text.ts';
import type { RefundedResource, RefundedType } from '../refunds/model.ts';
import { anyFileIdText, type DisputeFile, fileFromJson, MAX_FILES } from './files.ts';

// ── The numbers ─────────────────────────────────────────────────────────────────────────────────

/** The days in which a merchant can submit evidence. */
export const EVIDENCE_DAYS = 5;
/** The days in which the banks decide. */
export const DECISION_DAYS = 7;
/** The time after a payment at which the payers of the simulation dispute it. */
export const CLAIMED_AFTER_MS = 60_000;
/** The days after its payment in which a resource can be disputed; null: at any time. */
export const CLAIM_DAYS: Readonly<Record<DisputedType, number | null>> = {
  card_payment: null,
  payment: 80,
  charge: 80,
};

export const MAX_EVIDENCE = 10;
export const MAX_DOCUMENTS = 10;
export const EVIDENCE_TEXT_MAX = 4_000;
export const DOCUMENT_DESCRIPTION_MAX = 200;

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const DISPUTE_STATUSES = ['open', 'under_review', 'won', 'lost', 'forgiven'] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

export const NEXT: Readonly<Record<DisputeStatus, readonly DisputeStatus[]>> = {
  open: ['under_review', 'won', 'lost'],
  under_review: ['won', 'lost'],
  lost: ['forgiven'],
  won: [],
  forgiven: [],
};

/** The outcomes of a dispute. `won` and `forgiven` free its amount; `lost` blocks it until it is forgiven. */
export const DISPUTE_OUTCOMES = ['won', 'lost', 'forgiven'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

export const DISPUTE_REASONS = ['fraud', 'operational_error'] as const;
export type DisputeReason = (typeof DISPUTE_REASONS)[number];

/** A resource that can be refunded can be disputed. */
export type DisputedResource = RefundedResource;
export type DisputedType = RefundedType;

/** The member of the wire that names a disputed resource. */
export const REFERENCES = {
  card_payment: 'orderCode',
  payment: 'paymentId',
  charge: 'chargeId',
} as const satisfies Record<DisputedType, string>;

export interface EvidenceDocument {
  /** A public https URL, which this server never opens. */
  url: string;
  description: string | null;
}

/** One submission. It has a text, a document or a file. */
export interface Evidence {
  text: string | null;
  documents: readonly EvidenceDocument[];
  /** The ids of files of the dispute. */
  fileIds: readonly string[];
  /** Null if another service does not report it. */
  submittedAt: Date | null;
}

/** A claim by which a payer's bank wants a payment back (MED). All instants are in UTC. */
export interface Dispute {
  /** `dsp_` and 24 hex digits. */
  disputeId: string;
  /** A number that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** `unknown` stands for a word of another service that the document does not have. */
  status: DisputeStatus | 'unknown';
  /** The last known status while the status is `unknown`; null if there was none. */
  lastStatus?: DisputeStatus | null;
  /** `unknown` stands for the bank's words that this server does not know. */
  reason: DisputeReason | 'unknown';
  /** Null if the service does not report what is disputed. */
  resource: DisputedResource | null;
  amountCents: Cents;
  /** Oldest first. */
  evidence: readonly Evidence[];
  /** Oldest first, also those that no submission has. */
  files: readonly DisputeFile[];
  evidenceDueAt: Date | null;
  createdAt: Date | null;
  /** The instant at which the dispute was decided; null before. A lost one that is forgiven later keeps it. */
  closedAt: Date | null;
  /**
   * The instant at which the merchant accepted the claim, by which the dispute is lost; null if it did not. Left out in a
   * snapshot of an older version, and by another service.
   */
  acceptedAt?: Date | null;
}

/** A dispute of the embedded service. */
export interface StoredDispute extends Dispute {
  status: DisputeStatus;
  evidenceDueAt: Date;
  createdAt: Date;
  acceptedAt: Date | null;
}

/** A claim whose amount refunds under way hold in part. */
export interface Shortfall {
  /** The dispute with the shortfall. It does not exist while the claim has nothing. */
  disputeId: string;
  missingCents: Cents;
  reason: DisputeReason | 'unknown';
  /** The key of the task that looks the claim up at the bank; null if the bank did not make the claim. */
  claimKey: string | null;
}

/** The claims of one resource that have a shortfall, oldest first. */
export interface Shortfalls extends DisputedResource {
  claims: readonly Shortfall[];
}

/** Counts what the banks do. */
export interface DisputeMeter {
  onDispute(change: 'open' | DisputeOutcome): void;
}

/** The kinds of tasks that disputes have. */
export type DisputeTask = 'dispute.evidence_due' | 'dispute.receive';

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** Whether no later status can follow: a lost dispute may be forgiven. */
export function isFinal(status: Dispute['status']): boolean {
  return NEXT[status as DisputeStatus]?.length === 0;
}

/** Whether `to` can follow `from`, directly or through statuses that were not observed. */
export function canFollow(from: DisputeStatus, to: DisputeStatus): boolean {
  return NEXT[from].some((next) => next === to || canFollow(next, to));
}

/** Whether the banks have not decided yet. */
export function isUndecided(status: Dispute['status']): boolean {
  return status === 'open' || status === 'under_review';
}

/** The amount that a dispute holds of the balance. */
export function blockedCents({ status, lastStatus, amountCents }: Dispute): Cents {
  const known = status === 'unknown' ? lastStatus : status;
  return known === 'won' || known === 'forgiven' ? 0 : amountCents;
}

/** The instant until which evidence for a dispute of this instant can be submitted. */
export function evidenceDueAfter(createdAt: Date): Date {
  return plusMs(createdAt, EVIDENCE_DAYS * DAY_MS);
}

export function isDisputeId(text: string): boolean {
  return /^dsp_[0-9a-f]{24}$/.test(text);
}

/** Whether a text can be the id of a dispute at any service. */
export function isAnyDisputeId(text: string): boolean {
  return /^dsp_[A-Za-z0-9_-]{1,64}$/.test(text);
}

/** Reads a snapshot back from JSON, where instants are text. */
export function disputeFromJson(json: unknown): Dispute {
  const snapshot = json as Dispute & { id?: string; orderCode?: string | null };
  const {
    id,
    orderCode,
    disputeId = id!,
    createdAt,
    closedAt,
    acceptedAt,
    evidenceDueAt,
    ...rest
  } = snapshot;
  // The version before had disputes without evidence, and knew their card payment alone.
  const {
    version = 1,
    reason = 'unknown',
    evidence = [],
    files = [],
    resource = orderCode ? { type: 'card_payment', id: orderCode } : null,
  } = rest as Partial<Dispute>;
  const opened = createdAt && new Date(createdAt);
  const dueAt = evidenceDueAt && new Date(evidenceDueAt);
  return {
    ...rest,
    disputeId,
    version,
    reason,
    resource,
    evidence: evidence.map(evidenceFromJson),
    files: files.map(fileFromJson),
    evidenceDueAt: evidenceDueAt === undefined ? opened && evidenceDueAfter(opened) : dueAt,
    createdAt: opened,
    closedAt: closedAt && new Date(closedAt),
    ...(acceptedAt !== undefined && { acceptedAt: acceptedAt && new Date(acceptedAt) }),
  };
}

export function evidenceFromJson(json: unknown): Evidence {
  const { submittedAt, fileIds = [], ...rest } = json as Omit<Evidence, 'fileIds'> & Partial<Evidence>;
  return { ...rest, fileIds, submittedAt: submittedAt && new Date(submittedAt) };
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

export const DISPUTE_ID_FORM = 'dsp_ and 24 hex digits, in lower case';

/** The id of a dispute of any service; this one asserts its own form. */
const anyDisputeIdText = z.string().refine(isAnyDisputeId, `must be ${DISPUTE_ID_FORM}`);

export const disputeIdText = z
  .string()
  .refine(isDisputeId, `must be ${DISPUTE_ID_FORM}`)
  .meta({ description: 'dsp_ and 24 hex digits', examples: ['dsp_0c7d1a5be2f94a3d8e6b7f10'] });

const evidenceFields = z.object({
  text: visibleText(plainText({ max: EVIDENCE_TEXT_MAX }))
    .nullish()
    .describe('It, a document or a file is needed'),
  documents: z
    .array(
      z.object({
        url: publicHttpsUrl({ max: URL_MAX }).describe('Public https URL. It is stored, and never opened'),
        description: plainText({ max: DOCUMENT_DESCRIPTION_MAX }).nullish(),
      }),
      'must be a list of documents',
    )
    .max(MAX_DOCUMENTS, `must be at most ${MAX_DOCUMENTS}`)
    .nullish(),
  fileIds: z
    .array(anyFileIdText, 'must be a list of ids')
    .max(MAX_FILES, `must be at most ${MAX_FILES}`)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name a file twice')
    .nullish()
    .describe('Files that were uploaded for this dispute'),
  idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input submit once'),
});

/** Refuses a submission without evidence. */
function withEvidence<Fields extends typeof evidenceFields>(fields: Fields) {
  return fields
    .refine(({ text, documents, fileIds }) => text != null || documents?.length || fileIds?.length, {
      path: ['text'],
      message: 'must be given, or a document or a file',
    })
    .meta({ anyOf: [{ required: ['text'] }, { required: ['documents'] }, { required: ['fileIds'] }] });
}

export const evidenceInput = withEvidence(evidenceFields);
export const submitDisputeEvidenceInput = withEvidence(
  evidenceFields.extend({ disputeId: anyDisputeIdText }),
);
export type EvidenceInput = z.infer<typeof evidenceInput>;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface DisputeFilter extends AmountFilter {
  status?: readonly DisputeStatus[] | undefined;
  /** The id. */
  reference?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  closedAfter?: Date | undefined;
  closedBefore?: Date | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const disputeConditions = {
  status: among('status'),
  reference: named(['disputeId']),
  ...amountConditions(),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  closedAfter: from('closedAt'),
  closedBefore: before('closedAt'),
} satisfies Conditions<DisputeFilter, Dispute>;

/** Whether a filter selects a dispute. */
export function matchesFilter(dispute: Dispute, filter: DisputeFilter): boolean {
  return matches(disputeConditions, dispute, filter);
}

/**
 * A part of the list, newest first: the first or the last `limit` disputes behind `after` and before
 * `before`.
 */
export type DisputeRange = DisputeFilter & ListRange;

export interface DisputeService<D extends Dispute = Dispute>
  extends Omit<FamilyReads<D, DisputeFilter>, 'totals'> {
  /** Refuses a text that cannot be a dispute's id. @throws ValidationError */
  assertId(disputeId: string): void;
  /**
   * Submits evidence, within its time and at most ten times. The same idempotency key and input submit once,
   * `replayed`.
   * @throws NotFoundError, PreconditionError (DISPUTE_STATE; in front of another service NOT_OFFERED),
   * IdempotencyError
   */
  submitEvidence(
    tenant: Tenant,
    disputeId: string,
    input: EvidenceInput,
  ): Promise<{ dispute: D; replayed: boolean }>;
  /**
   * Accepts a claim, by which its dispute is lost at once: the amount stays held. A repeated call changes
   * nothing: `replayed`.
   * @throws ValidationError (the id), NotFoundError, PreconditionError (DISPUTE_STATE; in front of another
   * service NOT_OFFERED)
   */
  accept(tenant: Tenant, disputeId: string): Promise<{ dispute: D; replayed: boolean }>;
  /**
   * Deletes a file that no submission has, while the dispute takes evidence.
   * @throws ValidationError (an id), NotFoundError (the dispute, or the file), PreconditionError (DISPUTE_STATE; in front of
   * another service NOT_OFFERED)
   */
  deleteFile(tenant: Tenant, disputeId: string, fileId: string): Promise<{ dispute: D }>;
  /** Lists the disputes of resources, oldest first, in the order of the ids; null if the service does not report them. */
  ofResources(tenant: Tenant, type: DisputedType, ids: readonly string[]): Promise<(D[] | null)[]>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: DisputeFilter & { limit: number; offset: number },
  ): Promise<{ items: D[]; total: number }>;
}

/** A claim of a payer's bank. */
export interface Claim {
  amountCents: Cents;
  reason?: DisputeReason | undefined;
  /** The change is made once under its name: 1 to 128 of the characters of an idempotency key. */
  name?: string | undefined;
}

/**
 * The banks' side of disputes, which the simulator plays, not clients. Only live tenants have disputes,
 * because the balance of the sandbox consists of its test payments.
 */
export interface DisputeControls {
  /**
   * Opens a dispute whose payment is not reported, and holds its amount, even beyond the balance. Returns the
   * dispute's id.
   * @throws ValidationError, PreconditionError (sandbox; more than can be counted), IdempotencyError
   */
  openDispute(tenant: Tenant, claim: Claim): Promise<string>;
  /**
   * Opens a dispute of a payment, for the claimed amount, but at most the refundable one; the part that
   * refunds under way hold is added if they fail. Null if there is nothing to dispute now, or the time for
   * claims is over.
   * @throws NotFoundError (the payment), ValidationError, PreconditionError, IdempotencyError
   */
  disputePayment(tenant: Tenant, resource: DisputedResource, claim: Claim): Promise<StoredDispute | null>;
  /** Whether a claim on a payment waits for the end of its refunds. */
  hasWaitingClaim(tenant: Tenant, resource: DisputedResource): Promise<boolean>;
  /**
   * Decides a dispute: an open one, or one under review, is won, which frees the amount, or lost; a lost one is forgiven,
   * which frees it. The same outcome again changes nothing.
   * @throws NotFoundError, ValidationError (a transition that does not exist)
   */
  closeDispute(tenant: Tenant, disputeId: string, outcome: DisputeOutcome): Promise<StoredDispute>;
  /** Lists disputes, newest first: all, or those of some statuses. */
  listDisputes(
    tenant: Tenant,
    page: { limit: number; status?: readonly DisputeStatus[] },
  ): Promise<StoredDispute[]>;
}
