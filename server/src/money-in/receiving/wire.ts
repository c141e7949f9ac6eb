import { z } from 'zod';
import { LANGUAGES } from '../../kernel/language.ts';
import {
  type JsonRecord,
  readCents,
  readInstant,
  readRecord,
  readRecords,
  readWholeText,
  readWord,
} from '../../kernel/lenient-json.ts';
import { answeredWord } from '../../kernel/text.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from './model.ts';

// Payments of another service, whichever method pays them: documented members by name, others by form.

const STATUSES: ReadonlySet<unknown> = new Set<PaymentStatus>(PAYMENT_STATUSES);
/** The number of dates that a payment of a status has at least. */
const DATES_AT: Partial<Record<string, number>> = { pending: 1, paid: 2 };

/** The language of a resource, in a response. */
export const answeredLanguage = answeredWord(LANGUAGES)
  .nullable()
  .meta({ description: 'The language of its page; null where none was given' });

/** The members for money that was not kept, in a response. */
export const returnedWireShape = {
  returned: z.boolean().meta({
    description: 'Whether its money came and is returned to the payer: it has failed, and was never paid',
  }),
  keptPayment: z.string().nullable().meta({
    description: 'The payment of the same order that was kept, where this one has ended after it; else null',
  }),
};

/** The members of a payment that show the status of its order, in a response. */
export const orderWireShape = {
  orderId: z.string().nullable().meta({
    description: 'The number of your order, of whose payments one is kept; null where none was given',
  }),
  externalId: z.string().nullable().meta({ description: 'orderId under its earlier name' }),
  orderPaid: z.boolean().meta({
    description:
      'Another payment has paid the order while this one was open or had expired: nobody can pay this one any more',
  }),
  orderRefunded: z.boolean().meta({ description: 'That payment was refunded in full since' }),
};

export function orderToWire({
  externalId,
  orderStatus,
}: {
  externalId: string | null;
  orderStatus: string | null;
}) {
  return {
    orderId: externalId,
    externalId,
    orderPaid: orderStatus !== null,
    orderRefunded: orderStatus === 'refunded',
  };
}

/** The members of an event of a payment with an order. */
export const orderEventShape = {
  orderId: z.string().optional().meta({ description: 'The number of your order, where one was given' }),
  externalId: z.string().optional().meta({ description: 'orderId under its earlier name' }),
};

export function orderToEvent({ externalId }: { externalId?: string | null }) {
  return externalId == null ? {} : { orderId: externalId, externalId };
}

/** Reads the members of a payment that each method has, from a response. */
export function readPayment(record: JsonRecord) {
  const status = readStatus(record.status);
  const namedCreated = readInstant(record.createdAt);
  const namedPaid = readInstant(record.paidAt);
  // The document does not show the names of these dates: a pending payment has one, a paid one a second.
  const expected = DATES_AT[status ?? 'unknown'] ?? 0;
  const missing = expected > 0 && (!namedCreated || (!namedPaid && expected > 1));
  const dates = missing ? datesOf(record) : [];
  const [created = null, paid = null] = dates.length === expected ? dates : [];
  // The order matters: a property added after a spread costs ten times as much as one before it.
  return {
    status,
    checkoutUrl: readUrl(record.checkoutUrl),
    createdAt: namedCreated ?? created,
    expiresAt: readInstant(record.expiresAt),
    paidAt: namedPaid ?? paid,
    paidLate: typeof record.paidLate === 'boolean' ? record.paidLate : null,
    refundedAt: readInstant(record.refundedAt),
    refundedCents: readCents(record.refundedCents),
    refundableCents: readCents(record.refundableCents),
    ...readDetails(record),
  };
}

/** Reads the members of a payment that each method has, from an event whose name begins with `family`. */
export function readPaymentEvent(record: JsonRecord, family: string) {
  const words = Object.values(record).filter((value) => typeof value === 'string');
  const kind = words.map((word) => kindOfEvent(word, family)).find((each) => each !== null);
  const status = record.status ?? kind ?? words.find((word) => STATUSES.has(readWord(word)));
  return {
    status: readStatus(status),
    paidAt: readInstant(record.paidAt) ?? datesOf(record, CREATION)[0] ?? null,
    refundedAt: readInstant(record.refundedAt),
    ...readDetails(record),
  };
}

/**
 * Reads from an event's name what has happened: `paid` from `payment.paid`. Null for a text that is no such
 * name.
 */
export function kindOfEvent(text: string, family: string): string | null {
  return text.startsWith(`${family}.`) ? text.slice(family.length + 1).replace(/^test\./, '') : null;
}

/**
 * The identifiers of families whose events also name a payment. The first one present decides what an event
 * is about.
 */
const FAMILIES = ['disputeId', 'refundId', 'returnId', 'deliveryId', 'subscriptionId', 'chargeId'];

/**
 * Finds the record of a payment in an event: the event itself, or a member of it. Null if the event, or that
 * record, is about a resource of another family. `identifier`: that of the payment's family, if it is among
 * those that decide.
 */
export function findEventRecord<Found extends JsonRecord>(
  payload: unknown,
  matches: (record: JsonRecord) => record is Found,
  identifier?: string,
): Found | null {
  const own = identifier === undefined ? FAMILIES.length : FAMILIES.indexOf(identifier);
  const others = FAMILIES.slice(0, own);
  const found = readRecords(payload).find(matches);
  const isOther = [readRecord(payload), found].some((record) =>
    others.some((name) => typeof record?.[name] === 'string'),
  );
  return isOther ? null : (found ?? null);
}

/** Reads a text, unless it is longer than any text of the document. */
function readDocumentText(value: unknown): string | null {
  return readWholeText(value, { max: 4_096 });
}

function readStatus(word: unknown): PaymentStatus | 'unknown' | null {
  if (typeof word !== 'string') return null;
  const status = readWord(word);
  return STATUSES.has(status) ? (status as PaymentStatus) : 'unknown';
}

function readDetails(record: JsonRecord) {
  return {
    customer: findCustomer(record),
    description: readDocumentText(record.description),
    metadata: readDocumentText(record.metadata),
    successUrl: readUrl(record.successUrl),
    cancelUrl: readUrl(record.cancelUrl),
    failureReason: readDocumentText(record.failureReason),
    returned: typeof record.returned === 'boolean' ? record.returned : null,
    keptPayment: readDocumentText(record.keptPayment),
  };
}

/**
 * Finds the customer: the member of that name, unless it has only an externalId and another member has more.
 */
function findCustomer(record: JsonRecord) {
  const named = readCustomer(record.customer);
  if (named?.name ?? named?.email) return named;
  // A product has a name and an externalId, too: beside a `customer` another member needs an e-mail.
  const others = Object.values(record).map(readCustomer);
  return others.find((each) => each?.email ?? (named ? null : each?.name)) ?? named;
}

function readCustomer(value: unknown): { name?: string; email?: string; externalId?: string } | null {
  const record = readRecord(value);
  if (!record) return null;
  const members = (['name', 'email', 'externalId'] as const).flatMap((name) => {
    const text = readDocumentText(record[name]);
    return text === null ? [] : [[name, text] as const];
  });
  return members.length > 0 ? Object.fromEntries(members) : null;
}

function readUrl(value: unknown): string | null {
  const text = readDocumentText(value);
  return text !== null && /^https?:/i.test(text) && URL.canParse(text) ? text : null;
}

/** The names of the instant of a creation, which an event of a payment need not have. */
const CREATION = /creat|cria/i;

/**
 * The distinct dates of a record, earliest first, without those of an expiry, a refund or a cancellation, and those whose names
 * match `others`.
 */
function datesOf(record: JsonRecord, others?: RegExp): Date[] {
  const times = Object.entries(record).flatMap(([name, value]) =>
    /expir|valid|venc|refund|reemb|estorn|cancel/i.test(name) || others?.test(name)
      ? []
      : (readInstant(value)?.getTime() ?? []),
  );
  return [...new Set(times)].sort((left, right) => left - right).map((time) => new Date(time));
}
