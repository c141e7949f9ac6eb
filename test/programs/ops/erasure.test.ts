import { sql as raw } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { maskDestination } from '../../../server/src/money-out/payouts/model.ts';
import { performErasure } from '../../../server/src/programs/cli/erase.ts';
import { createPerson } from '../../../server/src/programs/ops/erasure/person.ts';
import {
  beginErasureInput,
  createErasureSteps,
  type ErasureSteps,
} from '../../../server/src/programs/ops/erasure/steps.ts';
import { ATTEMPT, SWEPT } from '../../../server/src/programs/ops/erasure/tables.ts';
import { type Contents, contentsOf } from '../../backup/backup-fixture.ts';
import { lawsOfTheBooks } from '../../faults/audit.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { pdf } from '../../support/evidence-files.ts';
import { openReceiver, type Receiver } from '../../support/receiver.ts';
import type { RestClient } from '../../support/rest.ts';

const PHONE = '+5511987654321';
const ANA = { name: 'Ana Plantada', email: 'ana@plantada.example', taxId: '12345678909', externalId: 'C-7' };
const PERSON = { email: 'Ana@Plantada.example', document: ANA.taxId, phone: PHONE, customer: ANA.externalId };
/** Other persons, with longer addresses and a name that begins in the same way. */
const OTHERS = [
  { name: 'Ana Plantadas', email: 'mariana@plantada.example', taxId: '98765432100', externalId: 'C-70' },
  { name: 'Ana', email: 'ana@plantada.example.br', externalId: 'C-8' },
];
const TEXTS = [
  /Ana(?: |\+|%20)Plantada(?!s)/i,
  /(?<!mari)ana(?:@|%40)plantada\.example(?!\.br)/i,
  /12345678909|123\.456\.789-09/,
  /11987654321|98765-4321/,
];

let app: TestApp;
let receiver: Receiver;
let steps: ErasureSteps;
const services = () => app.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
let tenant: Tenant;
let rest: RestClient;
let open: { payment: string; dispute: string };
beforeAll(async () => {
  app = await startApp();
  receiver = await openReceiver((response, { body }) => response.end(body));
  steps = createErasureSteps(app);
  const accountId = await addAccount(app, { cardReleaseDays: 1 });
  tenant = { accountId, environment: 'live' };
  rest = app.rest(await addKey(app, { accountId }));
  await services().webhooks.configure(tenant, { url: receiver.url });
  await app.controls.credit(tenant, 1_000_000);
  for (const customer of [ANA, ...OTHERS]) await live(customer);
  // What a facade has seen of another service's payment.
  await raw`
    insert into observed (account_id, environment, resource, id, version, status, final, snapshot, observed_at)
    values (${accountId}, 'live', 'payment', 'psa_seen', 1, 'paid', true,
      ${JSON.stringify({ customer: ANA, description: `de ${ANA.name}` })}::jsonb, ${app.clock.now()})
  `.execute(app.database.sql);
  await raw`
    insert into upstream_intent
      (id, account_id, environment, operation, key, input_hash, state, resource_id, summary, created_at)
    values ('seen', ${accountId}, 'live', 'payment', 'k', 'h', 'done', 'psa_seen', ${JSON.stringify({
      ...{ customer: ANA, description: `de ${ANA.name}`, successUrl: urlOf(ANA) },
    })}::jsonb, ${app.clock.now()})
  `.execute(app.database.sql);
  const disputed = await payByPix(ANA);
  const dispute = (await app.controls.disputePayment(
    tenant,
    { type: 'payment', id: disputed },
    { amountCents: 100 },
  ))!;
  open = { payment: disputed, dispute: dispute.disputeId };
  await settle();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  await receiver.shut();
});

async function settle(): Promise<void> {
  for (let pass = 0; pass < 3; pass++) {
    app.clock.advance(3_600_000);
    await app.work.settled();
  }
}

type Customer = Partial<typeof ANA>;

async function payByPix(customer: Customer): Promise<string> {
  const { payment } = await app.payments.create(tenant, { valueCents: 7_000, customer });
  await app.pix.pay({ txid: txidOf(payment.paymentId) });
  await app.payments.receive(tenant, payment.paymentId);
  return payment.paymentId;
}

/** An address of a shop, with the customer in the forms of a path and of a form. */
const urlOf = ({ name = '', email = '' }: Customer) =>
  `https://loja.example/${encodeURIComponent(name)}?${new URLSearchParams({ de: `Sra ${name}`, email })}`;

const mintOf = (customer: Customer) =>
  services().checkoutTokens.create(tenant, null, {
    ...{ amount: { fixedCents: 500 }, externalId: `O-${customer.externalId}`, customer },
    ...{ description: `Pedido de ${customer.name}`, successUrl: urlOf(customer) },
  });

/** Buys and is paid in every way that leaves data of a person. */
async function live(customer: Customer): Promise<void> {
  const { name, email, taxId } = customer;
  const description = `Pedido de ${name}, ${email}.`;
  const { payment } = await app.cardPayments.create(tenant, {
    ...{ valueCents: 5_000, customer, description, metadata: JSON.stringify({ de: name, cpf: taxId }) },
  });
  await app.cardPayments.pay(payment.orderCode, approved());
  await mintOf(customer);
  // Its webhook has a name and no address.
  const { payment: byDocument } = await app.cardPayments.create(tenant, {
    ...{ valueCents: 5_000, customer: { name, externalId: customer.externalId } },
  });
  await app.cardPayments.pay(byDocument.orderCode, approved());
  const id = await payByPix(customer);
  await rest.post(`/payments/${id}/refunds`, { amountCents: 100, reason: `${name} <${email} > desistiu` });
  await settle();
  const claim = (await app.controls.disputePayment(tenant, { type: 'payment', id }, { amountCents: 100 }))!;
  const { body: file } = await rest.send(
    `/disputes/${claim.disputeId}/files?name=${encodeURIComponent(`${name}.pdf`)}`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/pdf' },
      body: new Uint8Array(pdf(`${name}`)),
    },
  );
  await services().disputes.submitEvidence(tenant, claim.disputeId, {
    text: `${name} recebeu em casa`,
    documents: [],
    fileIds: [file.fileId],
  });
  await app.controls.closeDispute(tenant, claim.disputeId, 'won');
  await app.subscriptions.create(tenant, { valueCents: 900, interval: 'monthly', customer });
  for (const walletAddress of [email, taxId].filter((each) => each !== undefined))
    await rest.post('/payouts', {
      amount: 30,
      method: 'pix',
      walletAddress,
      idempotencyKey: `${customer.externalId}-${walletAddress.length}`,
    });
  const { subaccount } = await app.subaccounts.create(tenant, {
    name: `${name}`,
    externalId: customer.externalId,
  });
  await app.subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 2_000 });
  const pixKey = customer === ANA ? PHONE : `${email}`;
  await app.subaccounts.requestPayout(tenant, { subaccountId: subaccount.id, amountCents: 2_000, pixKey });
  await settle();
}

const command = (isDryRun = false) =>
  beginErasureInput.parse({ accountId: tenant.accountId, requestedBy: 'ticket 4711', isDryRun, ...PERSON });

const isNamed = (row: string) => TEXTS.some((text) => text.test(row));

/** The rows of all tables in which a text of the person stands. */
async function hits(): Promise<string[]> {
  const contents = await contentsOf(app.database);
  return Object.entries(contents).flatMap(([table, rows]) =>
    rows.filter(isNamed).map((row) => `${table}: ${row}`),
  );
}

describe('the erasure of a person', () => {
  test('A dry run changes nothing and counts; an interrupted run is finished by the next; nothing of the person is left but what a dispute needs', async () => {
    const before = await contentsOf(app.database);
    expect((await hits()).length).toBeGreaterThan(20);
    const dry = await performErasure(steps, command(true));
    expect(await contentsOf(app.database)).toEqual(before);
    expect(dry).toMatchObject({ erasureId: null, found: ['***.456.789-**', 'a***@plantada.example'] });

    let left = 5;
    const failing: ErasureSteps = {
      ...steps,
      async stepErasure(input) {
        if (left-- === 0) throw new Error('the process ends');
        return steps.stepErasure(input);
      },
    };
    await expect(performErasure(failing, command())).rejects.toThrow('the process ends');
    const { erasureId, kept } = await performErasure(steps, command());
    expect(kept).toEqual(
      expect.arrayContaining([{ resource: 'payment', id: open.payment, reason: 'a dispute of it is open' }]),
    );
    expect(new Set(kept.map(({ id }) => id))).toEqual(new Set([open.payment]));
    expect((await hits()).filter((row) => !row.includes(open.payment))).toEqual([]);

    // What the dispute needs goes with its end.
    await app.controls.closeDispute(tenant, open.dispute, 'lost');
    await settle();
    const rest = await performErasure(steps, command());
    expect(rest.kept).toEqual([]);
    expect(await hits()).toEqual([]);
    const files = await app.database.sql.selectFrom('dispute_file').select('file_id').execute();
    expect(files).toHaveLength(OTHERS.length);
    expect(await performErasure(steps, command())).toMatchObject({ erased: {}, kept: [] });

    const { rows: records } = await raw<{
      erasure_id: string;
      requested_by: string;
      finished_at: Date | null;
    }>`
      select erasure_id, requested_by, finished_at from erasure order by started_at`.execute(
      app.database.sql,
    );
    expect(records[0]).toMatchObject({
      erasure_id: erasureId,
      requested_by: 'ticket 4711',
      finished_at: expect.any(Date),
    });
    expect(records).toHaveLength(3);
    expectOthersUntouched(before, await contentsOf(app.database));
  });

  test('The books and the totals hold, and every interface shows the marker', async () => {
    const laws = lawsOfTheBooks(`'${app.clock.now().toISOString()}'::timestamptz`);
    for (const [law, text] of Object.entries(laws))
      expect((await raw.raw(text).execute(app.database.sql)).rows, law).toEqual([]);
    const { body } = await rest.get(`/payments/${open.payment}`);
    expect(body).toMatchObject({ status: 'paid', customer: { name: '[erased]', externalId: 'C-7' } });
    const { items } = await services().payouts.list(tenant, { end: 'first', limit: 100 });
    const masks = items.map(({ payout }) => maskDestination(payout, { masksPublic: true }));
    expect(masks.filter((mask) => mask === '[erased]')).toHaveLength(2);
  });

  test('An order goes on after the erasure, and is still compared with the customer of another', async () => {
    await mintOf(ANA);
    await expect(mintOf({ ...ANA, externalId: OTHERS[0]!.externalId })).rejects.toThrow('customer.name');
  });

  test('An event changes by an erasure alone, and in its snapshot alone', async () => {
    const { sql } = app.database;
    await expect(raw`update event set snapshot = '{}'`.execute(sql)).rejects.toThrow('append-only');
    await expect(
      app.database.transaction(async (on) => {
        await raw`select set_config('psa.erasing', 'on', true)`.execute(on);
        await raw`update event set kind = 'another'`.execute(on);
      }),
    ).rejects.toThrow('only the snapshot');
  });
});

/** Rows that do not name the person are as they were, but for what time has changed since. */
function expectOthersUntouched(before: Contents, after: Contents): void {
  for (const table of [
    'card_payment',
    'charge',
    'event',
    'payout',
    'posting',
    'refund',
    'webhook_delivery',
  ]) {
    const there = new Set(after[table]);
    const own = before[table]!.filter((row) => OTHERS.some(({ email }) => row.includes(email)));
    expect(own.filter((row) => !isNamed(row) && !there.has(row))).toEqual([]);
  }
  expect(after.posting).toEqual(expect.arrayContaining(before.posting!));
}

test('Each column of text is swept, or is known to have no person', async () => {
  const { rows } = await raw<{ column: string }>`
    select table_name || '.' || column_name as "column" from information_schema.columns
    where table_schema = 'public' and table_name not like 'kysely%' and table_name not like 'simulated%'
      and (data_type in ('jsonb', 'ARRAY') or data_type = 'text' and column_name !~ ${NAMES_OF_NO_PERSON})
    order by 1`.execute(app.database.sql);
  const swept = [...SWEPT, ATTEMPT].flatMap(({ table, columns }) =>
    columns.map((column) => `${table}.${column}`),
  );
  expect(
    rows
      .map(({ column }) => column)
      .filter((column) => !swept.includes(column) && !WITHOUT_PERSONS.includes(column)),
  ).toEqual([]);
});

/** Ids, kinds and states; hashes and secrets; what names a rail's or a service's thing. */
const NAMES_OF_NO_PERSON =
  '(^|_)(id|ids|code|codes|key|keys|kind|status|state|resource|type|method|hash|reason_code|environment|event|operation|parent|list|instant|cause|language|color|class|subject|network|name_of|secret|txid|attempt|order|payment|reference|ref)$';

/** Columns that merchants and operators write of themselves, and those of amounts, ids and states. */
const WITHOUT_PERSONS: readonly string[] = [
  ...['account.name', 'api_key.hint', 'api_key.name', 'api_key.permissions', 'database_mode.mode'],
  ...['database_mode.upstream_origin', 'delivery.content', 'product.description', 'product.name'],
  ...['store_product.description', 'store_product.image_url', 'store_product.name', 'store_product.price'],
  ...['webhook_endpoint.optional_events', 'webhook_endpoint.previous_secrets', 'webhook_endpoint.url'],
  ...['webhook_endpoint.further', 'verify_checkpoint.sums', 'verify_checkpoint.laws', 'verified_law.law'],
  ...['erasure.erased', 'erasure.kept', 'erasure.requested_by', 'token.allowed_origins', 'token.minted_by'],
  ...['token.pause_reason', 'charge.refund_parts', 'charge.returned_credits', 'charge.splits'],
  ...['payment.ltc_address', 'payment.returned_credits', 'pix_subscription.returned_credits'],
  ...['pix_subscription.cancel_reason', 'pix_subscription.every', 'subscription_cycle.failure_reason'],
  ...['dispute.reason', 'dispute_shortfall.claims', 'ledger_account.name', 'posting.ledger_account'],
  ...['pix_paid_order.name', 'task.slot_group', 'upstream_poll.name', 'payout_batch.waiting'],
  ...['payout_batch.cancel_reason', 'observed_entry.wallet', 'observed_entry.known'],
];

describe('what names a person', () => {
  const without = (text: string, input: Parameters<typeof createPerson>[0], own = false) =>
    createPerson(input).without(text, own ? { names: ['Ana Lima'] } : null);

  test.each([
    ['escreva a ana@x.example.', 'escreva a [erased].'],
    ['ANA@X.EXAMPLE', '[erased]'],
    [
      'mariana@x.example, ana@x.example.br, ana@x.example2',
      'mariana@x.example, ana@x.example.br, ana@x.example2',
    ],
    ['joao.ana@x.example', 'joao.ana@x.example'],
    ['?de=ana%40x.example&', '?de=[erased]&'],
    ['CPF 123.456.789-09, 12345678909; 112345678909', 'CPF [erased], [erased]; 112345678909'],
    ['(11) 98765-4321 ou +5511987654321', '[erased] ou [erased]'],
    ['?a=%2B5511987654321&b=%2B55+11+98765-4321', '?a=[erased]&b=%2B55+[erased]'],
    ['?a=%2811%29%2098765-4321&b=(11)%2098765-4321', '?a=[erased]&b=[erased]'],
    ['de%3Aana%40x.example%20e%20123.456.789-09%22', 'de%3A[erased]%20e%20[erased]%22'],
    ['joao%2Bana%40x.example, joao+ana@x.example', 'joao%2Bana%40x.example, joao+ana@x.example'],
  ])('%s becomes %s', (before, after) => {
    expect(without(before, { email: 'ana@x.example', document: '12345678909', phone: PHONE })).toBe(after);
    expect(without(after, { email: 'ana@x.example', document: '12345678909', phone: PHONE })).toBe(after);
  });

  test('A name goes from records of the person, and stays in others', () => {
    expect(without('Para Ana Lima', { email: 'a@b.c' }, true)).toBe('Para [erased]');
    expect(without('/Ana%20Lima?de=Sra+Ana+Lima', { email: 'a@b.c' }, true)).toBe(
      '/[erased]?de=Sra+[erased]',
    );
    expect(without('Para Ana Lima', { email: 'a@b.c' })).toBe('Para Ana Lima');
  });
});
