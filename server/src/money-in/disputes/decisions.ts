import { plusMs } from '../../kernel/clock.ts';
import { NotFoundError, PreconditionError, ValidationError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import { assertCountable, LARGEST_CENTS } from '../../money-out/wallet/model.ts';
import { entryOf, type JournalEntry } from '../../state/ledger/journal.ts';
import { type Balances, type LedgerTransaction, ledgerTransaction } from '../../state/ledger/postings.ts';
import { type DisputeFile, MAX_FILES } from './files.ts';
import {
  canFollow,
  type DisputedResource,
  type DisputeOutcome,
  type DisputeReason,
  type Evidence,
  type EvidenceInput,
  evidenceDueAfter,
  isUndecided,
  MAX_EVIDENCE,
  type StoredDispute,
} from './model.ts';

/** A change of a dispute. */
export interface DisputeChange {
  /** The dispute before the change; null if it is new. */
  previous: StoredDispute | null;
  dispute: StoredDispute;
  transaction: LedgerTransaction | null;
}

/** Opens a dispute and holds its amount, even beyond the balance. @throws ValidationError, PreconditionError */
export function decideOpen(
  {
    disputeId,
    amountCents,
    reason,
    resource,
  }: {
    disputeId: string;
    amountCents: Cents;
    reason: DisputeReason | 'unknown';
    resource: DisputedResource | null;
  },
  { balances, now }: { balances: Balances; now: Date },
): DisputeChange {
  assertCountable('amountCents', amountCents, { largest: LARGEST_CENTS, account: 'dispute_hold', balances });
  return {
    previous: null,
    dispute: {
      disputeId,
      version: 1,
      status: 'open',
      reason,
      resource,
      amountCents,
      evidence: [],
      files: [],
      evidenceDueAt: evidenceDueAfter(now),
      createdAt: now,
      closedAt: null,
      acceptedAt: null,
    },
    transaction: ledgerTransaction(
      `dispute.opened:${disputeId}`,
      [{ from: 'dispute_claims', to: 'dispute_hold', amount: amountCents }],
      entryOfDispute({ disputeId, resource }, 'dispute_hold'),
    ),
  };
}

/**
 * Raises the amount of a dispute by a part of its shortfall. A decided dispute is still raised while its
 * amount is held.
 */
export function decideRaise(dispute: StoredDispute, byCents: Cents): DisputeChange {
  const step = changed(dispute, { amountCents: dispute.amountCents + byCents });
  return {
    ...step,
    transaction: ledgerTransaction(
      `dispute.raised:${dispute.disputeId}:${step.dispute.version}`,
      [{ from: 'dispute_claims', to: 'dispute_hold', amount: byCents }],
      entryOfDispute(dispute, 'dispute_hold'),
    ),
  };
}

/**
 * Adds evidence: from then on the banks review it.
 * @throws PreconditionError (DISPUTE_STATE), ValidationError (a file of another dispute)
 */
export function decideEvidence(
  dispute: StoredDispute,
  { text, documents, fileIds }: Pick<EvidenceInput, 'text' | 'documents' | 'fileIds'>,
  now: Date,
): DisputeChange {
  assertTakesEvidence(dispute, now);
  const known = new Set(dispute.files.map(({ fileId }) => fileId));
  const unknown = (fileIds ?? []).findIndex((id) => !known.has(id));
  if (unknown >= 0)
    throw new ValidationError([
      { path: `input.fileIds.${unknown}`, message: 'must be a file of this dispute' },
    ]);
  const submitted: Evidence = {
    text: text ?? null,
    documents: (documents ?? []).map(({ url, description }) => ({ url, description: description ?? null })),
    fileIds: fileIds ?? [],
    submittedAt: now,
  };
  return changed(dispute, { status: 'under_review', evidence: [...dispute.evidence, submitted] });
}

/** Adds a file, which a submission may have later. @throws PreconditionError (DISPUTE_STATE) */
export function decideFile(dispute: StoredDispute, file: DisputeFile, now: Date): DisputeChange {
  assertTakesEvidence(dispute, now);
  if (dispute.files.length >= MAX_FILES)
    throw new PreconditionError(
      'DISPUTE_STATE',
      `This dispute takes no more files: it has ${dispute.files.length}`,
    );
  return changed(dispute, { files: [...dispute.files, file] });
}

/** Removes a file that no submission has. @throws NotFoundError (the file), PreconditionError (DISPUTE_STATE) */
export function decideFileDeletion(dispute: StoredDispute, fileId: string, now: Date): DisputeChange {
  const files = dispute.files.filter((file) => file.fileId !== fileId);
  if (files.length === dispute.files.length) throw new NotFoundError('File not found');
  if (dispute.evidence.some(({ fileIds }) => fileIds.includes(fileId)))
    throw new PreconditionError(
      'DISPUTE_STATE',
      'This file is in a submission, which the banks may have seen',
    );
  assertTakesEvidence(dispute, now);
  return changed(dispute, { files });
}

/** @throws PreconditionError (DISPUTE_STATE) */
function assertTakesEvidence({ status, evidenceDueAt, evidence }: StoredDispute, now: Date): void {
  const refusal = (reason: string) =>
    new PreconditionError('DISPUTE_STATE', `This dispute takes no more evidence: ${reason}`);
  if (!isUndecided(status)) throw refusal(`it is ${status}`);
  if (now >= evidenceDueAt) throw refusal(`the time for it ended at ${evidenceDueAt.toISOString()}`);
  if (evidence.length >= MAX_EVIDENCE) throw refusal(`it has had ${MAX_EVIDENCE} submissions`);
}

/** Ends the time for evidence of an open dispute; null if there is nothing to end. */
export function decideEvidenceDue(dispute: StoredDispute, now: Date): DisputeChange | null {
  if (dispute.status !== 'open' || now < dispute.evidenceDueAt) return null;
  return changed(dispute, { status: 'under_review' });
}

/**
 * Decides a dispute; null if it has this outcome already. The amount of a lost one stays held.
 * @throws ValidationError
 */
export function decideClose(
  dispute: StoredDispute,
  outcome: DisputeOutcome,
  now: Date,
): DisputeChange | null {
  const { status, disputeId, amountCents } = dispute;
  if (status === outcome) return null;
  // A dispute is forgiven once it is lost, and not before.
  if (!canFollow(status, outcome) || (outcome === 'forgiven' && status !== 'lost'))
    throw new ValidationError([
      { path: 'outcome', message: `a dispute that is ${status} never becomes ${outcome}` },
    ]);
  return {
    ...changed(dispute, { status: outcome, closedAt: dispute.closedAt ?? now }),
    transaction:
      outcome === 'lost'
        ? null
        : ledgerTransaction(
            `dispute.${outcome}:${disputeId}`,
            [{ from: 'dispute_hold', to: 'dispute_claims', amount: amountCents }],
            entryOfDispute(dispute, 'dispute_release'),
          ),
  };
}

/** A hold is known by the payment that is disputed, if the bank has named one. */
function entryOfDispute(
  { disputeId, resource }: Pick<StoredDispute, 'disputeId' | 'resource'>,
  kind: JournalEntry['kind'],
): JournalEntry {
  return { ...entryOf(kind, 'dispute', disputeId), ref: resource?.id ?? disputeId };
}

/**
 * Loses a dispute because the merchant accepts it, while the banks have not decided; null if the merchant has
 * accepted it before.
 * @throws PreconditionError (DISPUTE_STATE)
 */
export function decideAccept(dispute: StoredDispute, now: Date): DisputeChange | null {
  if (dispute.acceptedAt) return null;
  if (!isUndecided(dispute.status))
    throw new PreconditionError('DISPUTE_STATE', `This dispute cannot be accepted: it is ${dispute.status}`);
  return changed(dispute, { status: 'lost', closedAt: now, acceptedAt: now });
}

/** The instant of the next lookup of an undecided claim at the rail; null for none. */
export function nextLookAt(decidesAt: Date | null, now: Date): Date | null {
  if (decidesAt === null) return null;
  return decidesAt > now ? decidesAt : plusMs(now, LOOK_UP_AFTER_MS);
}

/** Milliseconds after which a bank that is late with its decision is asked again. */
const LOOK_UP_AFTER_MS = 60 * 60_000;

function changed(previous: StoredDispute, members: Partial<StoredDispute>): DisputeChange {
  return {
    previous,
    dispute: { ...previous, ...members, version: previous.version + 1 },
    transaction: null,
  };
}
