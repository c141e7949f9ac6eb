import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAccountInput, MAX_ACTIVE_KEYS } from '../server/src/access/keys.ts';
import {
  type AccountSettings,
  createDashboardTokenInput,
  DEFAULT_SETTINGS,
} from '../server/src/access/model.ts';
import { DEFAULT_PAGE, LARGEST_PAGE } from '../server/src/api/graphql/paging.ts';
import { describeOperations } from '../server/src/api/http/openapi.ts';
import { statusOf } from '../server/src/api/http/rest.ts';
import { MAX_CODES, MAX_DELIVERIES, MAX_STOCK } from '../server/src/catalogue/deliveries/model.ts';
import { MAX_PRODUCTS } from '../server/src/catalogue/products/model.ts';
import { MAX_STORE_PRODUCTS } from '../server/src/catalogue/store/model.ts';
import { KEY_PREFIX, REQUESTS_A_MINUTE } from '../server/src/kernel/caller.ts';
import { CODE_ROWS } from '../server/src/kernel/error-codes.ts';
import { methodOf, PAYOUT_METHODS, type PayoutMethod } from '../server/src/kernel/payout-methods/registry.ts';
import { maskPixKey, parsePixKey } from '../server/src/kernel/pix-key.ts';
import { decideCreate } from '../server/src/money-in/card-payments/decisions.ts';
import {
  type CardPayment,
  type CardPaymentStatus,
  canFollow,
  MAX_DECLINED_CHARGES,
} from '../server/src/money-in/card-payments/model.ts';
import { REFUND_DAYS as CARD_REFUND_DAYS } from '../server/src/money-in/card-payments/refunding.ts';
import { createCheckoutTokenInput } from '../server/src/money-in/card-payments/tokens/model.ts';
import { tokenWebhook } from '../server/src/money-in/card-payments/tokens/wire.ts';
import { cardPaymentWebhook } from '../server/src/money-in/card-payments/wire.ts';
import { decideCreate as decideCreateCharge } from '../server/src/money-in/charges/decisions.ts';
import { normalRequest, SPLIT_MAX_CENTS, type StoredCharge } from '../server/src/money-in/charges/model.ts';
import { chargeWebhook } from '../server/src/money-in/charges/wire.ts';
import { CHECKOUT_SESSION_MS } from '../server/src/money-in/checkout/model.ts';
import {
  FILE_NAME_MAX,
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_STORED_BYTES,
} from '../server/src/money-in/disputes/files.ts';
import {
  CLAIM_DAYS,
  EVIDENCE_DAYS,
  MAX_EVIDENCE,
  NEXT as NEXT_OF_DISPUTE,
} from '../server/src/money-in/disputes/model.ts';
import { decideCreate as decideCreatePayment } from '../server/src/money-in/payments/decisions.ts';
import type { StoredPayment } from '../server/src/money-in/payments/model.ts';
import { paymentWebhook } from '../server/src/money-in/payments/wire.ts';
import { NEXT as NEXT_OF_PIX } from '../server/src/money-in/pix/model.ts';
import { REFUND_DAYS as PIX_REFUND_DAYS } from '../server/src/money-in/pix/refunding.ts';
import { MAX_REFUNDS } from '../server/src/money-in/receiving/model.ts';
import { refundWebhook } from '../server/src/money-in/refunds/wire.ts';
import { NEXT as NEXT_OF_SUBSCRIPTION } from '../server/src/money-in/subscriptions/model.ts';
import { PAYOUTS_AN_HOUR } from '../server/src/money-out/payouts/limits.ts';
import {
  nextStatuses,
  PAYOUT_STATUSES,
  type Payout,
  type PayoutStatus,
} from '../server/src/money-out/payouts/model.ts';
import { payoutWebhook } from '../server/src/money-out/payouts/wire.ts';
import { guidanceOf, type SubaccountPayout } from '../server/src/money-out/subaccounts/model.ts';
import { referenceKind } from '../server/src/money-out/subaccounts/names.ts';
import { subaccountPayoutWebhook } from '../server/src/money-out/subaccounts/wire.ts';
import { readConfig } from '../server/src/programs/config/config.ts';
import { createOperations } from '../server/src/programs/modes/parts.ts';
import { NO_BALANCES } from '../server/src/state/ledger/postings.ts';
import { ATTEMPT_TIMEOUT_MS, type WebhookDelivery } from '../server/src/webhooks/model.ts';
import { decideAttempt } from '../server/src/webhooks/series.ts';
import { PAYOUT } from './money-out/payouts/examples.ts';
import { DOCUMENT_ROWS } from './support/document.ts';

// server/docs/service.md against the code, whose comments cite its sections: document.test.ts shows over HTTP that
// the document is true.

const root = fileURLToPath(new URL('..', import.meta.url));
const sections = sectionsIn(readFileSync(join(root, 'server/docs/service.md'), 'utf8'));

// ── Reading the document ────────────────────────────────────────────────────────────────────────

/** The text of each numbered section, without its subsections. */
function sectionsIn(markdown: string): ReadonlyMap<string, string> {
  const parts = markdown.split(/^#{2,3} (?=\d)/m).slice(1);
  return new Map(parts.map((part) => [/^[\d.]+/.exec(part)![0], part]));
}

/** Whether the document has a section or a rule of this number: 2.1.6 is the sixth item of the list in 2.1. */
function isNumbered(number: string): boolean {
  const [, section = '', rule = ''] = /^(.*)\.(\d+)$/.exec(number) ?? [];
  return sections.has(number) || new RegExp(`^${rule}\\. `, 'm').test(sections.get(section) ?? '');
}

type Row = Readonly<Record<string, string>>;

/** The tables of a section, row by row, each cell under the title of its column. */
function tablesIn(number: string): Row[][] {
  const blocks = sections.get(number)!.match(/(?:^\|.*\n?)+/gm) ?? [];
  return blocks.map((block) => {
    const [titles = [], , ...rows] = block
      .trim()
      .split('\n')
      .map((line) => line.split('|').slice(1, -1))
      .map((cells) => cells.map((cell) => cell.trim()));
    return rows.map((cells) => Object.fromEntries(titles.map((title, index) => [title, cells[index]!])));
  });
}

/** The rows of the table that has this column. */
function rowsIn(number: string, column: string): Row[] {
  return tablesIn(number).find(([row]) => row && column in row) ?? [];
}

/** The texts of a cell between backticks. */
function codeIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
}

const column = (rows: readonly Row[], title: string) => rows.flatMap((row) => codeIn(row[title]));

// ── Reading the code ────────────────────────────────────────────────────────────────────────────

interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  enum?: string[];
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
  default?: number;
}

const publicUrl = 'http://localhost';
// Describing the operations calls no service.
const operations = createOperations({ publicUrl } as Parameters<typeof createOperations>[0]);
const description = describeOperations(operations, publicUrl) as unknown as {
  info: { version: string };
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { requestBody: unknown; parameters: unknown }>>;
};
const { schemas } = description.components;

function bodyOf(method: string, path: string): Schema {
  const { requestBody } = description.paths[path]![method]!;
  return (requestBody as { content: Record<string, { schema: Schema }> }).content['application/json']!.schema;
}

/** The schema of a member, with the members that its alternatives require. */
function memberOf({ properties = {} }: Schema, name: string): Schema {
  const { anyOf = [], ...member } = properties[name]!;
  return Object.assign({}, ...anyOf.filter(({ type }) => type !== 'null'), member);
}

const fieldsOf = (name: string) => Object.keys(schemas[name]!.properties!);
const isNullable = ({ type, anyOf = [] }: Schema): boolean =>
  type === 'null' || (Array.isArray(type) && type.includes('null')) || anyOf.some(isNullable);

const now = new Date('2026-03-02T12:00:00Z');
const created = decideCreate(
  { valueCents: 80, customer: { name: 'Ana', email: 'ana@example.com' } },
  { orderCode: 'PSC-0', checkoutAttempt: null, now },
).payment;
const paid: CardPayment = { ...created, status: 'paid', paidAt: now };

const pending = decideCreatePayment(
  { customer: { name: 'Ana', email: 'ana@example.com' } },
  { amountCents: 80, description: null },
  {
    paymentId: 'psa_0',
    checkoutAttempt: null,
    environment: 'live',
    now,
    account: { pixEnabled: true, pixFeeCents: 0 },
    balances: NO_BALANCES,
  },
).resource;
const payment = (change: Partial<StoredPayment>): StoredPayment => ({ ...pending, ...change });
const paymentEvent = (change: Partial<StoredPayment>) => paymentWebhook(payment(change), 'pending', 'live')!;

const chargeOf = decideCreateCharge(normalRequest({ valueCents: 80 }), {
  chargeId: 'psc_0',
  environment: 'live',
  now,
  account: { pixEnabled: true, pixFeeCents: 0 },
  balances: NO_BALANCES,
}).resource;
const chargeEvent = (change: Partial<StoredCharge>) =>
  chargeWebhook({ ...chargeOf, ...change }, 'pending', 'live')!;

const payout = (change: Partial<Payout>): Payout => ({ ...PAYOUT, ...change });

const completed: SubaccountPayout = {
  id: 'sqp_0',
  version: 3,
  payoutId: 'saq_0',
  withdrawalId: '0'.repeat(24),
  code: 'TURBO-0',
  subaccountId: 'sacc_0',
  status: 'completed',
  reversed: false,
  amountCents: 1_000,
  feeCents: 50,
  platformFeeCents: 100,
  netAmountCents: 850,
  pixKey: '****4321',
  endToEndId: null,
  recipientName: null,
  recipientBankName: null,
  failureReason: null,
  createdAt: now,
  completedAt: now,
  reversedAt: null,
  externalId: 'ana-8',
  destinationKind: 'phone',
};

/** The waits between the attempts of a delivery that always fails, in seconds. */
function waitsOf(random: number): number[] {
  const waits: number[] = [];
  let delivery: WebhookDelivery = {
    webhookId: 'whd_0',
    event: 'card_payment.paid',
    url: 'https://shop.example',
    createdAt: now,
    status: 'pending',
    attempts: 0,
    failures: 0,
    nextAttemptAt: now,
    ...{
      endpointId: null,
      responseStatus: null,
      responseClass: null,
      resource: 'payment',
      resourceId: '0',
      subjectType: null,
      subjectId: null,
    },
  };
  for (;;) {
    delivery = decideAttempt(delivery, { delivered: false, now, random });
    if (delivery.nextAttemptAt === null) return waits;
    waits.push((delivery.nextAttemptAt.getTime() - now.getTime()) / 1_000);
  }
}

// ── Citations ───────────────────────────────────────────────────────────────────────────────────

const ANY = String.raw`[1-9](?:\.\d+)*`;
const INNER = String.raw`[1-9](?:\.\d+)+`;
const several = (number: string) => String.raw`(${number}(?:(?:, | and )${number})*)(?![\d.]*\d)`;
const CITED = [
  new RegExp(`document(?:['’]s|,)(?: sections?)? ${several(ANY)}`, 'g'),
  new RegExp(String.raw`\bsections? ${several(ANY)}`, 'g'),
  new RegExp(`section: '${several(ANY)}'`, 'g'),
  new RegExp(String.raw`\b(?:forms?|object|wallet|convention) of ${several(INNER)}`, 'g'),
  // The pattern of a citation that only comments have: (2.1.1, 2.1.2).
  new RegExp(String.raw`^(?:.*//|\s*/?\*).*\(${several(INNER)}\)`, 'gm'),
];

function citationsIn(folder: string): { file: string; number: string }[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : citationsIn(path);
    if (!/\.(?:ts|tsx|mjs|sql)$/.test(entry.name) || entry.name === 'service-document.test.ts') return [];
    const text = readFileSync(join(root, path), 'utf8');
    return CITED.flatMap((pattern) => [...text.matchAll(pattern)]).flatMap(([, numbers = '']) =>
      numbers.split(/, | and /).map((number) => ({ file: path, number })),
    );
  });
}

describe('the sections of the service document', () => {
  const cited = ['server/src', 'test', 'widget/src', 'widget/demo'].flatMap(citationsIn);

  test('Every section that a comment cites is in the service document', () => {
    expect(cited.filter(({ number }) => !isNumbered(number))).toEqual([]);
    // With fewer citations the patterns would be broken.
    expect(cited.length).toBeGreaterThan(60);
  });

  test('Every section of the service document that says something is shown by document.test.ts', () => {
    // The number of a section is its key; a section with a heading alone has no text.
    const said = [...sections].filter(([, text]) => text.split('\n').slice(1).join('').trim() !== '');
    expect(Object.keys(DOCUMENT_ROWS).sort()).toEqual(said.map(([number]) => number).sort());
    for (const [section, rows] of Object.entries(DOCUMENT_ROWS))
      expect([section, rows.length]).not.toEqual([section, 0]);
  });

  test.each(['3.2', '3.4', '3.6', '3.7'] as const)(
    'Every step between the statuses of section %s is shown by document.test.ts',
    (number) => {
      const steps = rowsIn(number, 'status').flatMap((row) =>
        codeIn(row.next).map((next) => `${codeIn(row.status)[0]} to ${next}`),
      );
      expect(steps.length).toBeGreaterThan(3);
      const shown: readonly string[] = DOCUMENT_ROWS[number];
      expect(steps.filter((step) => !shown.includes(step))).toEqual([]);
    },
  );

  test('Every endpoint, optional event and fee of the service document is shown by document.test.ts', () => {
    const endpoints = codeIn(sections.get('4.5')).filter((code) => /^(?:GET|POST|DELETE) \/v1\//.test(code));
    expect([...DOCUMENT_ROWS['4.5']].sort()).toEqual(endpoints.sort());
    const events = column(rowsIn('6.4', 'optional event'), 'optional event');
    const resources = events.map((event) => event.split('.')[0]);
    expect([...resources, 'returned withdrawal']).toEqual(expect.arrayContaining([...DOCUMENT_ROWS['6.4']]));
    const fees = rowsIn('8.1', 'setting').map(({ setting }) => setting!.replaceAll('`', ''));
    expect([...DOCUMENT_ROWS['8.1']]).toEqual(fees);
  });

  test('Every REST operation is in the section of the service document that it names', () => {
    const named = ['4.1', '4.2', '4.3', '4.4', '4.5'].flatMap((number) =>
      codeIn(sections.get(number))
        .filter((code) => /^(?:GET|POST|DELETE) \/v1\//.test(code))
        .map((code) => `${number} ${code}`),
    );
    const declared = operations.map(({ section, method, path }) => `${section} ${method} ${path}`);
    expect(named.sort()).toEqual(declared.sort());
  });
});

describe('the fields in the service document', () => {
  test('The optional members that refuse null are those that section 2.1 lists', () => {
    const bodies: Schema[] = [
      ...operations.flatMap(({ body }) => body ?? []),
      createCheckoutTokenInput,
      createDashboardTokenInput,
    ].map((schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema);
    const refusing = bodies.flatMap(({ properties = {}, required = [] }) =>
      Object.keys(properties).filter((name) => !required.includes(name) && !isNullable(properties[name]!)),
    );
    const listed = column(rowsIn('2.1', 'member that may not be null'), 'member that may not be null');
    // `seconds` is an argument, and no member of an input.
    expect(new Set([...refusing, 'seconds'])).toEqual(new Set(listed));
  });

  test.each([
    ['2.2', 'SubaccountPayout'],
    ['2.4', 'Wallet'],
  ])(
    'Section %s of the service document has the fields of %s, and says which may be null',
    (number, name) => {
      const rows = rowsIn(number, 'field');
      expect(column(rows, 'field')).toEqual(fieldsOf(name));
      const nullable = rows.filter((row) => row['may be null'] === 'yes');
      expect(column(nullable, 'field')).toEqual(
        fieldsOf(name).filter((field) => isNullable(schemas[name]!.properties![field]!)),
      );
    },
  );

  test('The service document has the fields of the answer to a new card payment', () => {
    expect(column(rowsIn('2.3', 'field'), 'field')).toEqual(fieldsOf('CreatedCardPayment'));
  });

  test('The service document has the fields of each record that its rules leave open', () => {
    const records = Object.fromEntries(
      rowsIn('2.5', 'record').map(({ record, fields }) => [record, codeIn(fields)]),
    );
    expect(records).toEqual({
      dispute: fieldsOf('Dispute'),
      subaccount: fieldsOf('Subaccount'),
      'statement entry': fieldsOf('StatementEntry'),
      product: fieldsOf('Product'),
      delivery: fieldsOf('Delivery'),
      'store product': fieldsOf('StoreProduct'),
      payment: fieldsOf('Payment'),
      charge: fieldsOf('Charge'),
      payout: fieldsOf('Payout'),
      subscription: fieldsOf('Subscription'),
      'test payment': fieldsOf('TestPayment'),
    });
  });

  test('The service document has the fields of the request for a card payment', () => {
    const body = bodyOf('post', '/v1/card-payments');
    const fields = column(rowsIn('4.2', 'field'), 'field');
    // The document describes the extensions in words, because they are not the service's.
    const extensions = ['amountCents', 'externalId', 'idempotencyKey', 'language', 'orderId'];
    expect([...fields, ...extensions].sort()).toEqual(Object.keys(body.properties!).sort());
    // Of the two names of the amount one is required.
    expect(body.required ?? []).toEqual([]);
  });

  test('The service document has the fields of the request for a payment by PIX', () => {
    const body = bodyOf('post', '/v1/payments');
    const fields = column(rowsIn('4.5', 'field of a payment'), 'field of a payment');
    expect([...fields].sort()).toEqual(Object.keys(body.properties!).sort());
    expect(body.required ?? []).toEqual([]);
  });

  test('The service document has the fields of the request for a charge', () => {
    const body = bodyOf('post', '/v1/charges');
    const fields = column(rowsIn('4.5', 'field of a charge'), 'field of a charge');
    expect([...fields].sort()).toEqual(Object.keys(body.properties!).sort());
    expect(body.required ?? []).toEqual([]);
  });

  test('The service document has the fields of the request for a subscription, and which are required', () => {
    const body = bodyOf('post', '/v1/subscriptions');
    const fields = column(rowsIn('4.5', 'field of a subscription'), 'field of a subscription');
    expect([...fields].sort()).toEqual(Object.keys(body.properties!).sort());
    expect(body.required).toEqual(['interval']);
  });

  test('The service document has the fields of each webhook', () => {
    const requested = Object.keys(payoutWebhook(payout({}), 'live')!);
    const processed = Object.keys(payoutWebhook(payout({ status: 'completed', processedAt: now }), 'live')!);
    const withdrawal = column(rowsIn('6.1', 'field'), 'field');
    expect([...withdrawal].sort()).toEqual([...new Set([...requested, ...processed])].sort());
    const always = rowsIn('6.1', 'field').filter(({ present }) => present === 'always');
    expect(column(always, 'field')).toEqual(requested.filter((field) => processed.includes(field)));
    expect(column(rowsIn('6.2', 'field'), 'field')).toEqual(
      Object.keys(cardPaymentWebhook(paid, 'pending')!),
    );
    expect(Object.keys(subaccountPayoutWebhook(completed)!)).toEqual(
      expect.arrayContaining(['event', ...fieldsOf('SubaccountPayout')]),
    );
    const ofPayment = Object.keys(paymentEvent({ status: 'paid', paidAt: now }));
    expect(column(rowsIn('6.3', 'field of a payment'), 'field of a payment')).toEqual(ofPayment);
    const ofCharge = Object.keys(chargeEvent({ status: 'paid', paidAt: now }));
    expect(column(rowsIn('6.3', 'field of a charge'), 'field of a charge')).toEqual(ofCharge);
    const refund = { refundId: 'ref_0', resource: { type: 'payment', id: 'psa_0' } } as const;
    const ended = {
      status: 'completed',
      amountCents: 1,
      completedAt: now,
      failedAt: null,
      metadata: null,
    } as const;
    const of = { reason: null, failureReason: null, endToEndId: null, createdAt: now };
    const snapshot = { ...refund, ...ended, ...of, version: 2, callbackUrl: null };
    for (const field of Object.keys(refundWebhook(snapshot, 'live')!))
      if (field !== 'event') expect(codeIn(sections.get('6.3'))).toContain(field);
    const pause = { reason: 'declines', pausedAt: now, pausedUntil: null } as const;
    for (const field of Object.keys(tokenWebhook({ tokenId: 'tok_0', pause })!))
      if (field !== 'event') expect(codeIn(sections.get('6.3'))).toContain(field);
  });
});

describe('the statuses in the service document', () => {
  test('The service document has the statuses of a payout of a subaccount, with the guidance for each', () => {
    const rows = rowsIn('3.1', 'status');
    expect([...new Set(column(rows, 'status'))].sort()).toEqual(
      [...memberOf(schemas.SubaccountPayout!, 'status').enum!].sort(),
    );
    for (const { status, reversed, guidance } of rows) {
      const stands = { ...completed, status: codeIn(status)[0] as SubaccountPayout['status'] };
      expect(codeIn(guidance)).toEqual([guidanceOf({ ...stands, reversed: reversed === 'yes' })]);
    }
  });

  test('The service document has the statuses of a card payment, and the steps between them', () => {
    const steps = new Map(rowsIn('3.2', 'status').map((row) => [codeIn(row.status)[0]!, codeIn(row.next)]));
    const statuses = memberOf(schemas.CardPayment!, 'status').enum!;
    expect([...steps.keys()].sort()).toEqual([...statuses].sort());
    const reachable = (from: string): string[] =>
      steps.get(from)!.flatMap((next) => [next, ...reachable(next)]);
    for (const from of statuses)
      expect([from, [...new Set(reachable(from))].sort()]).toEqual([
        from,
        statuses.filter((to) => canFollow(from as CardPaymentStatus, to as CardPaymentStatus)).sort(),
      ]);
  });

  test('The service document has the statuses of a payment by PIX, and the steps between them', () => {
    const steps = rowsIn('3.4', 'status').map((row) => [codeIn(row.status)[0]!, codeIn(row.next)]);
    expect(Object.fromEntries(steps)).toEqual(NEXT_OF_PIX);
  });

  test('The service document has the statuses of a dispute, and the steps between them', () => {
    const steps = rowsIn('3.6', 'status').map((row) => [codeIn(row.status)[0]!, codeIn(row.next)]);
    expect(Object.fromEntries(steps)).toEqual(NEXT_OF_DISPUTE);
  });

  test('The service document has the statuses of a subscription, and the steps between them', () => {
    const steps = rowsIn('3.7', 'status').map((row) => [codeIn(row.status)[0]!, codeIn(row.next).sort()]);
    const expected = Object.entries(NEXT_OF_SUBSCRIPTION).map(([from, next]) => [from, [...next].sort()]);
    expect(Object.fromEntries(steps)).toEqual(Object.fromEntries(expected));
  });

  test('The service document has the statuses of a payout of the main account, and the steps of each method', () => {
    const rows = rowsIn('3.3', 'status');
    const words = memberOf(schemas.Payout!, 'status').enum!;
    // A returned payout stays `concluido`.
    const own = PAYOUT_STATUSES.filter((status) => status !== 'returned');
    const wordsOf = (statuses: readonly PayoutStatus[]) =>
      own.flatMap((status, index) => (statuses.includes(status) ? [words[index]!] : []));
    expect(column(rows, 'status')).toEqual(words);
    for (const [index, status] of own.entries()) {
      const turbo = wordsOf(nextStatuses({ method: 'pix_turbo', status }));
      expect(codeIn(rows[index]!['next, turbo'])).toEqual(turbo);
      if (status === 'processing') continue;
      const others = wordsOf(nextStatuses({ method: 'pix', status }));
      expect(codeIn(rows[index]!['next, other methods'])).toEqual(others);
    }
    const events = own.flatMap((status) => {
      const processedAt = status === 'completed' || status === 'denied' ? now : null;
      return payoutWebhook(payout({ status, processedAt }), 'live')?.event ?? [];
    });
    expect(column(rows, 'event')).toEqual(events);
  });

  test('The service document has each error code with its HTTP status and its retry', () => {
    const rows = rowsIn('7', 'code').map(({ code, status, retryPolicy }) => [
      codeIn(code)[0],
      [Number(status) || null, codeIn(retryPolicy)[0]],
    ]);
    const codes = CODE_ROWS.map(([code, { only, retry }]) => [
      code,
      [only === 'GraphQL' ? null : statusOf(code), retry],
    ]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(codes));
  });
});

/** The settings of 8.1 that are not the fee of a payout. */
const SETTINGS: Readonly<Record<string, keyof AccountSettings>> = {
  'fee of a payment by PIX': 'pixFeeCents',
  'markup of a subaccount': 'subaccountMarkupCents',
  'release of a card sale': 'cardReleaseDays',
};

describe('the numbers in the service document', () => {
  test('Every limit in the service document is that of the code', () => {
    const listed = tablesIn('8')
      .flat()
      .map(({ limit, value }) => [limit, Number(value)]);
    const card = bodyOf('post', '/v1/card-payments');
    const pix = bodyOf('post', '/v1/payments');
    const of = bodyOf('post', '/v1/charges');
    const charged = { of, splits: memberOf(of, 'splits') as Schema & { maxItems?: number } };
    const evidence = bodyOf('post', '/v1/disputes/{id}/evidence');
    const test = bodyOf('post', '/v1/sandbox/payments');
    const subaccount = bodyOf('post', '/v1/subaccounts');
    const product = bodyOf('post', '/v1/products');
    const [limit] = description.paths['/v1/payouts']!.get!.parameters as { schema: Schema }[];
    const { minimum, maximum, default: initial } = limit!.schema;
    expect([minimum, maximum, initial]).toEqual([1, LARGEST_PAGE, DEFAULT_PAGE]);
    const facade = readConfig({
      PSA_UPSTREAM_URL: 'https://service.example',
      PSA_UPSTREAM_LIVE_KEY: 'ps_live_0',
    });
    expect(facade.upstream?.requestsPerMinute).toBe(REQUESTS_A_MINUTE);
    for (const url of ['callbackUrl', 'successUrl', 'cancelUrl'])
      for (const body of [card, pix])
        expect(memberOf(body, url).maxLength).toBe(memberOf(card, 'callbackUrl').maxLength);
    expect(Object.fromEntries(listed)).toEqual({
      requests: REQUESTS_A_MINUTE,
      'payouts of the main account': PAYOUTS_AN_HOUR,
      'turbo payouts among them': methodOf('pix_turbo').hourly?.most,
      'active API keys': MAX_ACTIVE_KEYS,
      products: MAX_PRODUCTS,
      deliveries: MAX_DELIVERIES,
      'codes in stock': MAX_STOCK,
      codes: MAX_CODES,
      'products of the store': MAX_STORE_PRODUCTS,
      'page of a list, smallest': minimum,
      'page of a list, largest': maximum,
      'page of a list, where left out': initial,
      'card payment, smallest': memberOf(card, 'valueCents').minimum,
      description: memberOf(card, 'description').maxLength,
      URL: memberOf(card, 'callbackUrl').maxLength,
      metadata: memberOf(card, 'metadata').maxLength,
      'checkout session': CHECKOUT_SESSION_MS / 60_000,
      'webhook timeout': ATTEMPT_TIMEOUT_MS / 1_000,
      'webhook attempts': 1 + waitsOf(0).length,
      'split charge, largest': SPLIT_MAX_CENTS,
      'beneficiaries of a split charge': charged.splits.maxItems,
      'charge, smallest': memberOf(charged.of, 'valueCents').minimum,
      'charge, largest': memberOf(charged.of, 'valueCents').maximum,
      'charge, shortest time': memberOf(charged.of, 'expiresInSeconds').minimum,
      'charge, longest time': memberOf(charged.of, 'expiresInSeconds').maximum,
      'charge, where left out': normalRequest({ valueCents: 1 }).expiresInSeconds,
      'card payment, largest': memberOf(card, 'valueCents').maximum,
      'test payment, largest': memberOf(test, 'valueCents').maximum,
      'test payment, smallest': memberOf(test, 'valueCents').minimum,
      'payment by PIX, smallest': memberOf(pix, 'valueCents').minimum,
      'payment by PIX, largest': memberOf(pix, 'valueCents').maximum,
      'refunds of a payment': MAX_REFUNDS,
      'evidence of a dispute': MAX_EVIDENCE,
      'time for evidence': EVIDENCE_DAYS,
      'claim of a payment by PIX': CLAIM_DAYS.payment,
      'text of evidence': memberOf(evidence, 'text').maxLength,
      'documents of evidence': memberOf(evidence, 'documents').maxItems,
      'files of a dispute': MAX_FILES,
      'file of a dispute': MAX_FILE_BYTES,
      'name of a file': FILE_NAME_MAX,
      'files of an account': MAX_STORED_BYTES,
      'refund of a card payment': CARD_REFUND_DAYS,
      'refund of a payment by PIX': PIX_REFUND_DAYS,
      'declined cards': MAX_DECLINED_CHARGES,
      'idempotency key': 2 + Number(/\{0,(\d+)\}/.exec(memberOf(card, 'idempotencyKey').pattern!)?.[1]),
      'name of a subaccount': memberOf(subaccount, 'name').maxLength,
      'name of a product': memberOf(product, 'name').maxLength,
      'description of a product': memberOf(product, 'description').maxLength,
    });
  });

  test('Every fee in the service document is that of the code, and so is the largest that is taken', () => {
    const settings = rowsIn('8.1', 'setting').map(({ setting, value, largest }) => {
      const [method] = codeIn(setting) as PayoutMethod[];
      const change = (figure: number) =>
        method ? { payoutFeesCents: { [method]: figure } } : { [SETTINGS[setting!]!]: figure };
      const isTaken = (figure: number) =>
        createAccountInput.safeParse({ name: 'Ana', ...change(figure) }).success;
      expect([setting, isTaken(Number(largest)), isTaken(Number(largest) + 1)]).toEqual([
        setting,
        true,
        false,
      ]);
      return change(Number(value));
    });
    const { cardPaymentsEnabled, pixEnabled, ltcEnabled, pixMaxCents, ...expected } = DEFAULT_SETTINGS;
    expect([cardPaymentsEnabled, pixEnabled, ltcEnabled]).toEqual([true, true, true]);
    expect(pixMaxCents).toBeNull();
    const fees = Object.assign({}, ...settings.map(({ payoutFeesCents }) => payoutFeesCents));
    expect(Object.assign({}, ...settings, { payoutFeesCents: fees })).toEqual(expected);
  });

  test('The waits between the attempts of a webhook in the service document are those of the code', () => {
    const rows = rowsIn('6', 'before attempt').map((row) => [
      Number(row['before attempt']),
      Number(row.seconds),
    ]);
    expect(rows).toEqual(waitsOf(0).map((seconds, index) => [index + 2, seconds]));
    expect(waitsOf(1)).toEqual(waitsOf(0).map((seconds) => seconds * 1.2));
  });

  test('The version in the service document is that of the REST interface', () => {
    expect(sections.get('9')).toContain(` ${description.info.version}.`);
  });
});

describe('the names in the service document', () => {
  test('The service document names each method of a payout', () => {
    expect(column(rowsIn('4.5', 'method'), 'method')).toEqual(PAYOUT_METHODS);
  });

  test('The service document names the beginning of each kind of API key', () => {
    for (const prefix of Object.values(KEY_PREFIX)) expect(codeIn(sections.get('5'))).toContain(prefix);
  });

  test('The service document has an example of each form of a reference to a payout', () => {
    const examples = column(rowsIn('2.2', 'form'), 'example');
    expect(examples.map(referenceKind)).toEqual([
      'withdrawalId',
      'turboCode',
      'payoutId',
      'payoutId',
      'subCode',
    ]);
  });

  test('The service document shows each kind of PIX key with the mask that the code gives it', () => {
    for (const row of rowsIn('4.5', 'shown as')) {
      const [example = ''] = codeIn(row.example);
      expect([example, maskPixKey(parsePixKey(example)!.key)]).toEqual([example, codeIn(row['shown as'])[0]]);
    }
  });
});
