import { z } from 'zod';
import { PreconditionError, ValidationError } from '../../kernel/errors.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import type { Cents } from '../../kernel/money.ts';
import type { DestinationVariant } from '../../kernel/payout-methods/method.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { assertAmount } from './decisions.ts';
import {
  type AccountSettings,
  maskDestination,
  type OwnPayout,
  type Payout,
  parseDestination,
  payoutIdOf,
  type RequestPayoutInput,
  requestPayoutFields,
  variantOf,
  withDestination,
} from './model.ts';

// Payouts that are confirmed together. They are requested one after the other, in the background, as the hourly limits allow.

/** The most rows of a batch: a hundred hours of the limit that all payouts share. */
export const MAX_ROWS = 1_000;
/** The most batches of an account that are confirmed in 24 hours: they stay for good. */
const MOST_A_DAY = 50;
/** The most errors of rows that a check names. */
const MAX_ERRORS = 100;

/** The payout that a row has become, or the reason for which it never will. */
export type RowOutcome =
  | { payoutId: string; code: string | null }
  | { refused: string; field: string | null; message: string };

/** A row of a batch. The destination is masked once there is an outcome, or nothing more is requested. */
export interface BatchRow
  extends Pick<RequestPayoutInput, 'method' | 'amountCents' | 'destination' | 'pixKeyType' | 'externalId'> {
  /** Null until it has been requested. */
  outcome: RowOutcome | null;
}

/** The wait before the next row is requested. */
export interface BatchWait {
  code:
    | 'RATE_LIMITED'
    | 'INSUFFICIENT_FUNDS'
    | 'RECORDS_BEHIND'
    /** Until the merchant has it go on: it may have been canceled in what a restore has lost. */
    | 'RESTORED'
    | 'UPSTREAM_UNAVAILABLE'
    | 'UPSTREAM_REFUSED';
  until: Date;
}

/** A batch. All instants in UTC. */
export interface PayoutBatch {
  batchId: string;
  /** The API key that has confirmed it; null of an open console. */
  keyId: string | null;
  rows: readonly BatchRow[];
  rowsHash: string;
  waiting: BatchWait | null;
  createdAt: Date;
  finishedAt: Date | null;
  canceledAt: Date | null;
  cancelReason: 'merchant' | 'key_revoked' | 'restored' | null;
  /** The instant at which the merchant last had it go on. */
  resumedAt: Date | null;
}

export type BatchStatus = 'running' | 'finished' | 'canceled';

export function statusOfBatch({ finishedAt, canceledAt }: PayoutBatch): BatchStatus {
  if (canceledAt !== null) return 'canceled';
  return finishedAt === null ? 'running' : 'finished';
}

export function isBatchId(text: string): boolean {
  return /^pob_[0-9a-f]{24}$/.test(text);
}

export const batchIdText = z.string().refine(isBatchId, 'must be pob_ and 24 hex digits');

/** The idempotency key of a row's payout. It follows from the batch, so a row that is requested again is paid once. */
export const rowKey = ({ batchId }: Pick<PayoutBatch, 'batchId'>, place: number) =>
  `${batchId}-${String(place + 1)}`;

/** The place of the next row; -1 if each has an outcome. */
export const nextPlace = ({ rows }: PayoutBatch): number => rows.findIndex(({ outcome }) => outcome === null);

// ── The check ───────────────────────────────────────────────────────────────────────────────────

/** A mistake in a row, which counts from 1. */
export interface RowError {
  row: number;
  field: string;
  message: string;
}

export interface ParsedRows {
  rows: Omit<BatchRow, 'outcome'>[];
  errors: RowError[];
}

const rowFields = requestPayoutFields.omit({ idempotencyKey: true }).strict();

/** A row as it is given. A member that is not known would be lost in silence. */
export const rowInput = rowFields.transform(withDestination);

/** Reads the rows of a batch: each as a request for a payout. Without settings, in front of another service, no fee is known. */
export function parseRows(given: readonly unknown[], settings: AccountSettings | null): ParsedRows {
  const rows: ParsedRows['rows'] = [];
  const errors: RowError[] = [];
  for (const [place, each] of given.entries()) {
    const { data, error } = rowInput.safeParse(each);
    if (error) {
      const found = error.issues.map(({ path, message }) => ({ field: String(path[0] ?? 'row'), message }));
      errors.push(...withOthers(found, each, settings).map((mistake) => ({ row: place + 1, ...mistake })));
      continue;
    }
    const { method, amountCents, destination, pixKeyType, externalId } = data;
    const row = {
      ...{ method, amountCents, destination },
      ...(pixKeyType && { pixKeyType }),
      ...(externalId && { externalId }),
    };
    rows.push(row);
    errors.push(...amountErrors(row, settings).map((mistake) => ({ row: place + 1, ...mistake })));
  }
  return { rows, errors: errors.slice(0, MAX_ERRORS) };
}

type Mistake = Omit<RowError, 'row'>;

/** Adds to the mistakes of single members those that only members together show, as far as these are right in themselves. */
function withOthers(found: Mistake[], given: unknown, settings: AccountSettings | null): Mistake[] {
  const isRight = (field: string) => !found.some((mistake) => mistake.field === field);
  if (!isRight('row') || !isRight('method')) return found;
  const { method, destination, amountCents, pixKeyType } = given as RequestPayoutInput;
  const parsed =
    isRight('destination') && isRight('pixKeyType')
      ? parseDestination(method, destination, pixKeyType)
      : { destination };
  return [
    ...found,
    ...(parsed.destination === null ? [{ field: parsed.wrong, message: parsed.why }] : []),
    ...(isRight('amountCents') ? amountErrors({ method, amountCents }, settings) : []),
  ];
}

function amountErrors(
  row: Pick<RequestPayoutInput, 'method' | 'amountCents'>,
  settings: AccountSettings | null,
): Mistake[] {
  if (!settings) return [];
  try {
    assertAmount(row, settings);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.fields.map(({ message }) => ({ field: 'amountCents', message }));
  }
}

/** The rows that have the method, the destination and the amount of another, by their numbers. */
function duplicatesIn(rows: ParsedRows['rows']): number[][] {
  const byPayout = Map.groupBy(rows.keys(), (place) => {
    const { method, destination, amountCents } = rows[place]!;
    return hashInput([method, destination, amountCents]);
  });
  return [...byPayout.values()]
    .filter((places) => places.length > 1)
    .map((places) => places.map((place) => place + 1));
}

/** A row, which counts from 1, with the payout of the last seven days that it would repeat. */
export interface PaidRow extends Pick<Payout, 'code' | 'requestedAt'> {
  row: number;
  payoutId: string;
  inDoubt: boolean;
}

/** The sums of a batch before it is confirmed, or the errors that keep it from being. */
export interface BatchCheck {
  errors: RowError[];
  count: number;
  totalCents: Cents;
  /** Null in front of another service, which names its fees with the payout. */
  feesCents: Cents | null;
  /** Groups of rows with one method, destination and amount. */
  duplicates: number[][];
  /** The kind of each destination, in the order of the rows; empty if there are errors. */
  destinationKinds: (DestinationVariant | null)[];
  /** The instant at which the newest batch with the same rows was confirmed; null if there is none. */
  confirmedBefore: Date | null;
  /** The rows that would repeat a payout; empty if there are errors. */
  paidBefore: PaidRow[];
  /** The instant since which this server lacks payouts and batches, because it was restored in the last seven days; null if it lacks none. */
  lacksSince: Date | null;
  /** The instant at which the last row can be requested, if nothing else is. */
  endsAt: Date;
}

export function checkOf(
  { rows, errors }: ParsedRows,
  settings: AccountSettings | null,
): Pick<BatchCheck, 'errors' | 'count' | 'totalCents' | 'feesCents' | 'duplicates' | 'destinationKinds'> {
  const sum = (cents: (row: ParsedRows['rows'][number]) => Cents) =>
    rows.reduce((total, row) => total + cents(row), 0);
  return {
    errors,
    count: rows.length,
    totalCents: sum(({ amountCents }) => amountCents),
    feesCents: settings && sum(({ method }) => settings.payoutFeesCents[method]),
    duplicates: duplicatesIn(rows),
    destinationKinds:
      errors.length > 0 ? [] : rows.map(({ method, destination }) => variantOf(method, destination)),
  };
}

// ── Decisions ───────────────────────────────────────────────────────────────────────────────────

/**
 * Decides a new batch. A second one would make the end of the first unknown.
 * @throws PreconditionError (LIMIT_REACHED) while another one is running, or after 50 in 24 hours; ValidationError if the same rows were confirmed since the check,
 * or if a row repeats a payout that is not named
 */
export function decideBatch(
  rows: ParsedRows['rows'],
  {
    batchId,
    keyId,
    rowsHash,
    running,
    inADay,
    confirmedBefore,
    paidBefore,
    now,
  }: Pick<PayoutBatch, 'batchId' | 'keyId' | 'rowsHash'> & {
    running: PayoutBatch | null;
    /** The number of batches that were confirmed in the last 24 hours. */
    inADay: number;
    /** The instant at which the newest batch with the same rows was confirmed, as the check has shown it and as it is now. */
    confirmedBefore: { shown: Date | null; found: Date | null };
    /** The payouts beside which rows are paid all the same, by their ids, and the rows that repeat one. */
    paidBefore: { named: readonly string[]; found: readonly PaidRow[] };
    now: Date;
  },
): PayoutBatch {
  if (running) throw new PreconditionError('LIMIT_REACHED', 'Another batch of payouts is running');
  if (inADay >= MOST_A_DAY)
    throw new PreconditionError(
      'LIMIT_REACHED',
      `There were ${String(MOST_A_DAY)} batches of payouts in 24 hours`,
    );
  const { shown, found } = confirmedBefore;
  const named = new Set(paidBefore.named);
  const unnamed = paidBefore.found.filter(({ payoutId }) => !named.has(payoutId));
  const errors = [
    ...(found && found.getTime() !== shown?.getTime()
      ? [
          {
            path: 'confirmedBefore',
            message: `a batch with the same rows was confirmed at ${found.toISOString()}: check the rows again`,
          },
        ]
      : []),
    ...(unnamed.length > 0
      ? [
          {
            path: 'paidBefore',
            message: `there are payouts like ${unnamed.length === 1 ? 'row' : 'rows'} ${listOf(unnamed)}: leave out what repeats them, or name the payouts that the check shows`,
          },
        ]
      : []),
  ];
  if (errors.length > 0) throw new ValidationError(errors);
  return {
    ...{ batchId, keyId, rowsHash },
    rows: rows.map((row) => ({ ...row, outcome: null })),
    ...{ waiting: null, createdAt: now, finishedAt: null, canceledAt: null, cancelReason: null },
    resumedAt: null,
  };
}

const listOf = (rows: readonly PaidRow[]) =>
  rows
    .slice(0, MAX_ERRORS)
    .map(({ row }) => String(row))
    .join(', ');

/** Decides the outcome of a row. One that a row has stays. */
export function decideRow(batch: PayoutBatch, place: number, outcome: RowOutcome, now: Date): PayoutBatch {
  const rows = batch.rows.map((row, nth) =>
    nth === place && row.outcome === null ? { ...masked(row), outcome } : row,
  );
  const after = { ...batch, rows, waiting: null };
  const isLast = nextPlace(after) < 0 && statusOfBatch(batch) === 'running';
  return isLast ? { ...after, finishedAt: now } : after;
}

/** A canceled batch requests nothing more; what it has requested goes on. One that has ended stays as it is. */
export function decideCancelBatch(
  batch: PayoutBatch,
  cancelReason: NonNullable<PayoutBatch['cancelReason']>,
  now: Date,
): PayoutBatch {
  if (statusOfBatch(batch) !== 'running') return batch;
  return { ...batch, rows: batch.rows.map(masked), waiting: null, canceledAt: now, cancelReason };
}

/** Has a batch go on that a restore has stopped. Any other stays as it is: in front of another service its rows would be paid again. */
export function decideResumeBatch(batch: PayoutBatch, resumedAt: Date): PayoutBatch {
  return batch.waiting?.code === 'RESTORED' ? { ...batch, waiting: null, resumedAt } : batch;
}

function masked(row: BatchRow): BatchRow {
  return { ...row, destination: maskDestination(row, { masksPublic: false }) };
}

/** The outcome of a row that was requested. A denied payout that the service never named was not made. */
export function outcomeOf(payout: Payout): RowOutcome {
  if (payout.status === 'denied' && payout.withdrawalId === null)
    return {
      refused: 'UPSTREAM_REFUSED',
      field: null,
      message: 'The payments service did not make this payout',
    };
  return { payoutId: payoutIdOf(payout), code: payout.code };
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** The terms of a payout before it is requested. */
export interface PayoutTerms extends Pick<OwnPayout, 'destination' | 'destinationKind'> {
  /** Null in front of another service, which names its fees with the payout. */
  feeCents: Cents | null;
  /** The most payouts in any 60 minutes, how many of them can be requested now, and the most of this method; null if it is not known, or there is no other. */
  hourly: { most: number; left: number | null; mostOfMethod: number | null };
  /** The payout that this one would repeat; null if there is none. */
  paidBefore: PaidRow | null;
  /** The instant at which this payout can be requested. */
  possibleAt: Date;
}

/** A batch, with what has become of its payouts. */
export interface PayoutBatchState {
  batch: PayoutBatch;
  /** The instant at which the last row can be requested; null once the batch has ended. */
  endsAt: Date | null;
  /** The payouts that were denied or returned after they were requested. */
  denied: number;
  /** The payouts whose outcome is not known: the service may not have made them. */
  inDoubt: number;
}

/** The payouts that a person requests at the console, in numbers. */
export interface PayoutBatchService {
  /** Tells the terms of a payout. @throws ValidationError (the amount does not exceed the fee, or exceeds a ceiling) */
  terms(tenant: Tenant, input: RequestPayoutInput): Promise<PayoutTerms>;
  /** Checks rows, each of the form of `rowInput`, and requests nothing. */
  check(tenant: Tenant, rows: readonly unknown[]): Promise<BatchCheck>;
  /**
   * Confirms a batch, whose payouts are requested in the background. The same key and rows give the same batch.
   * `confirmedBefore`: that of the check; `paidBefore`: the ids of the payouts there that rows repeat, and are paid all the same.
   * @throws ValidationError for a row that is wrong, if the same rows were confirmed since the check, or if a row repeats another payout; IdempotencyError,
   * PreconditionError (LIMIT_REACHED: another is running, or 50 were confirmed in 24 hours)
   */
  request(
    tenant: Tenant,
    input: {
      rows: readonly unknown[];
      confirmedBefore: Date | null;
      paidBefore: readonly string[];
      idempotencyKey: string;
      keyId: string | null;
    },
  ): Promise<{ batch: PayoutBatch; replayed: boolean }>;
  /** Ends a batch before its last row. @throws NotFoundError */
  cancel(tenant: Tenant, batchId: string): Promise<PayoutBatch>;
  /** Has a batch go on that a restore has stopped. Any other stays as it is. @throws NotFoundError */
  resume(tenant: Tenant, batchId: string): Promise<PayoutBatch>;
  /** Finds the newest batch, a running one first; null if there is none. */
  newest(tenant: Tenant): Promise<PayoutBatchState | null>;
}

/** The task that requests the next row of a batch. */
export type BatchTask = 'payout.batch';
