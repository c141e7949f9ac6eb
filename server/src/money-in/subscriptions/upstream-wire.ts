import { parseBrCode } from '../../kernel/br-code.ts';
import {
  type JsonRecord,
  readCents,
  readId,
  readInstant,
  readNumber,
  readRecord,
  readRecords,
  readText,
  readWholeText,
  readWord,
} from '../../kernel/lenient-json.ts';
import { INTERVALS } from './calendar.ts';
import {
  CANCEL_REASONS,
  CYCLE_STATUSES,
  isAnySubscriptionId,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from './model.ts';
import type { UpstreamCycle, UpstreamSubscription } from './upstream-subscription.ts';

// Read from another service: members by name. Their names are this service's own, for the document shows none.

/** Reads the response to a lookup; null if it is not one. */
export function subscriptionFromWire(body: unknown): UpstreamSubscription | null {
  const record = readRecords(body).find((each) => idOf(each) !== null);
  return record ? { ...membersOf(record, readStatus(record.status)), isWebhook: false } : null;
}

/** The identifiers of families whose events also name a subscription, as that of a refund. */
const OTHER_FAMILIES = ['disputeId', 'refundId', 'deliveryId'];

/**
 * Reads the event of a webhook: any event with a `subscriptionId`, unless it is about another family. Null
 * for any other.
 */
export function subscriptionEventFromWire(payload: unknown): UpstreamSubscription | null {
  const record = readRecords(payload).find(({ subscriptionId }) => isId(subscriptionId));
  const isOther = [readRecord(payload), record].some((each) =>
    OTHER_FAMILIES.some((name) => typeof each?.[name] === 'string'),
  );
  return record && !isOther ? { ...membersOf(record, readStatus(record.status)), isWebhook: true } : null;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isAnySubscriptionId(value);
}

function idOf({ subscriptionId, id }: JsonRecord): string | null {
  return [subscriptionId, id].find(isId) ?? null;
}

function membersOf(
  record: JsonRecord,
  status: UpstreamSubscription['status'],
): Omit<UpstreamSubscription, 'isWebhook'> {
  const shown = Array.isArray(record.cycles) ? record.cycles : [record.cycle];
  const brCode = readText(record.pixCopyPaste);
  return {
    subscriptionId: idOf(record)!,
    status,
    amountCents: readCents(record.amountCents) ?? readCents(record.valueCents),
    interval: wordOf(record.interval, INTERVALS),
    endsAfterCycles: readCount(record.endsAfterCycles),
    description: readLong(record.description),
    customer: readCustomer(record.customer),
    metadata: readLong(record.metadata),
    successUrl: readUrl(record.successUrl),
    cancelUrl: readUrl(record.cancelUrl),
    checkoutUrl: readUrl(record.checkoutUrl),
    brCode: brCode !== null && parseBrCode(brCode) ? brCode.trim() : null,
    txid: typeof record.txid === 'string' && /^[A-Za-z0-9]{1,35}$/.test(record.txid) ? record.txid : null,
    nextDueAt: record.nextDueAt === null ? 'none' : readInstant(record.nextDueAt),
    cancelReason: wordOf(record.cancelReason, CANCEL_REASONS),
    canceledAt: readInstant(record.canceledAt),
    createdAt: readInstant(record.createdAt),
    expiresAt: readInstant(record.expiresAt),
    returnedCredits: null,
    cycles: shown.flatMap(readCycle),
  };
}

function readCycle(value: unknown): UpstreamCycle[] {
  const record = readRecord(value);
  const number = readCount(record?.number);
  if (!record || number === null) return [];
  return [
    {
      number,
      status: wordOf(record.status, CYCLE_STATUSES),
      amountCents: readCents(record.amountCents),
      attempts: readCount(record.attempts, 0),
      dueAt: readInstant(record.dueAt),
      nextAttemptAt: readInstant(record.nextAttemptAt),
      paymentId: readId(record.paymentId),
      paidAt: readInstant(record.paidAt),
      failureReason: readLong(record.failureReason),
    },
  ];
}

function readStatus(value: unknown): SubscriptionStatus | 'unknown' | null {
  return wordOf(value, SUBSCRIPTION_STATUSES);
}

/** A word of a closed set; `unknown` for another word. Null if there is none. */
function wordOf<Word extends string>(value: unknown, words: readonly Word[]): Word | 'unknown' | null {
  const word = readWord(value);
  return word === null ? null : (words.find((each) => each === word) ?? 'unknown');
}

/** A whole number that is not below the least. */
function readCount(value: unknown, least = 1): number | null {
  const number = readNumber(value);
  return number !== null && Number.isSafeInteger(number) && number >= least && number < 2 ** 31
    ? number
    : null;
}

function readLong(value: unknown): string | null {
  return readWholeText(value, { max: 4_096 });
}

function readUrl(value: unknown): string | null {
  const text = readLong(value);
  return text !== null && /^https?:/i.test(text) && URL.canParse(text) ? text : null;
}

function readCustomer(value: unknown): UpstreamSubscription['customer'] {
  const record = readRecord(value);
  const members = (['name', 'email', 'externalId'] as const).flatMap((name) => {
    const text = readLong(record?.[name]);
    return text === null ? [] : [[name, text] as const];
  });
  return members.length > 0 ? Object.fromEntries(members) : null;
}
