import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DASHBOARD_SCOPES } from '../../../server/src/kernel/caller.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import type { DisputedResource } from '../../../server/src/money-in/disputes/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

// Disputes over GraphQL and REST, as a merchant, its dashboard and a payer's page see them.

const DAY = 86_400_000;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const FIELDS = `disputeId status reason amountCents blockedCents evidenceDueAt evidenceDueInSeconds createdAt closedAt
  evidence { text documents { url description } submittedAt } final version
  of { __typename ... on CardPayment { orderCode refundableCents } ... on Payment { paymentId refundableCents } }`;
const ERRORS = `... on UserError { code message } ... on ValidationError { fields { path message } }`;
const SUBMIT = `mutation ($input: SubmitDisputeEvidenceInput!) { submitDisputeEvidence(input: $input) { __typename
  ... on SubmitDisputeEvidenceSuccess { replayed dispute { id ${FIELDS} } } ${ERRORS} } }`;
const ONE = `query ($disputeId: String!) { dispute(disputeId: $disputeId) { id ${FIELDS} } }`;
const NODE = `query ($id: ID!) { node(id: $id) { ... on Dispute { id ${FIELDS} } } }`;
const OF_PAYMENT = `query ($paymentId: String!) { payment(paymentId: $paymentId) {
  status refundableCents disputes { disputeId status } } }`;
const OF_CARD = `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) {
  status refundableCents disputes { disputeId status } } }`;
const REFUND = `mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) { __typename ${ERRORS} } }`;
const FOLLOW = `subscription ($disputeId: String!, $after: String) { disputeUpdates(disputeId: $disputeId, after: $after) {
  cursor occurredAt previousStatus dispute { disputeId status version evidence { text } } } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(environment: Tenant['environment'] = 'live') {
  const tenant = { accountId: await addAccount(app), environment };
  const key = await addKey(app, tenant);
  return { tenant, client: app.client(key), rest: app.rest(key) };
}
type Merchant = Awaited<ReturnType<typeof merchant>>;

async function sellByPix({ tenant }: Pick<Merchant, 'tenant'>): Promise<DisputedResource> {
  const { payments } = app.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
  const { payment } = await payments.create(tenant, { valueCents: 5000 });
  await app.pix.pay({ txid: txidOf(payment.paymentId) });
  await app.payments.receive(tenant, payment.paymentId);
  return { type: 'payment', id: payment.paymentId };
}

async function sellByCard({ tenant }: Pick<Merchant, 'tenant'>): Promise<DisputedResource> {
  const { payment } = await app.cardPayments.create(tenant, { valueCents: 5000 });
  await app.cardPayments.pay(payment.orderCode, approved());
  return { type: 'card_payment', id: payment.orderCode };
}

const claim = async ({ tenant }: Pick<Merchant, 'tenant'>, resource: DisputedResource, amountCents = 2000) =>
  (await app.controls.disputePayment(tenant, resource, { amountCents }))!.disputeId;
const open = ({ tenant }: Pick<Merchant, 'tenant'>) =>
  app.controls.openDispute(tenant, { amountCents: 2000 });
const submit = async (client: GraphQLClient, input: object) =>
  (await client.request(SUBMIT, { input })).submitDisputeEvidence;

describe('a dispute over GraphQL', () => {
  test('A dispute is found by id and by node, with its payment, and takes evidence', async () => {
    const shop = await merchant();
    const { client } = shop;
    const { id: paymentId } = await sellByPix(shop);
    const disputeId = await claim(shop, { type: 'payment', id: paymentId });
    const now = app.clock.now().getTime();
    const { dispute } = await client.request(ONE, { disputeId });
    const { id } = dispute;
    expect(dispute).toEqual({
      id,
      disputeId,
      status: 'OPEN',
      reason: 'FRAUD',
      amountCents: 2000,
      blockedCents: 2000,
      evidenceDueAt: new Date(now + 5 * DAY).toISOString(),
      evidenceDueInSeconds: 432_000,
      createdAt: new Date(now).toISOString(),
      closedAt: null,
      evidence: [],
      final: false,
      version: 1,
      of: { __typename: 'Payment', paymentId, refundableCents: 3000 },
    });
    expect(await client.request(NODE, { id })).toEqual({ node: dispute });
    const input = {
      disputeId,
      text: 'Entregue\nna portaria',
      idempotencyKey: 'prova-1',
      documents: [
        { url: 'https://loja.example/1.pdf', description: 'Nota' },
        { url: 'https://loja.example/2.pdf' },
      ],
    };
    const made = await submit(client, input);
    expect(made).toMatchObject({
      __typename: 'SubmitDisputeEvidenceSuccess',
      replayed: false,
      dispute: {
        id,
        status: 'UNDER_REVIEW',
        version: 2,
        evidence: [
          {
            text: input.text,
            submittedAt: new Date(now).toISOString(),
            documents: [input.documents[0], { url: 'https://loja.example/2.pdf', description: null }],
          },
        ],
      },
    });
    expect(await submit(client, input)).toMatchObject({ replayed: true, dispute: made.dispute });
    expect(await submit(client, { ...input, text: 'x' })).toMatchObject({ __typename: 'IdempotencyError' });
    await app.controls.closeDispute(shop.tenant, disputeId, 'won');
    expect(await submit(client, { disputeId, text: 'x' })).toMatchObject({
      __typename: 'PreconditionError',
      code: 'DISPUTE_STATE',
    });
    expect((await client.request(ONE, { disputeId })).dispute).toMatchObject({
      status: 'WON',
      blockedCents: 0,
      final: true,
      closedAt: expect.stringMatching(ISO),
      evidenceDueAt: dispute.evidenceDueAt,
      of: { refundableCents: 5000 },
    });
  });

  test('A payment shows its disputes, and what is disputed cannot be refunded', async () => {
    const shop = await merchant();
    const [pix, byCard] = [await sellByPix(shop), await sellByCard(shop)];
    const [first, second] = [await claim(shop, pix, 2000), await claim(shop, pix, 9999)];
    expect((await shop.client.request(OF_PAYMENT, { paymentId: pix.id })).payment).toEqual({
      status: 'PAID',
      refundableCents: 0,
      disputes: [
        { disputeId: first, status: 'OPEN' },
        { disputeId: second, status: 'OPEN' },
      ],
    });
    expect((await shop.client.request(REFUND, { input: { paymentId: pix.id } })).refundPayment).toMatchObject(
      { __typename: 'PreconditionError', code: 'DISPUTE_STATE' },
    );
    const third = await claim(shop, byCard);
    expect((await shop.client.request(OF_CARD, { orderCode: byCard.id })).cardPayment).toEqual({
      status: 'PAID',
      refundableCents: 3000,
      disputes: [{ disputeId: third, status: 'OPEN' }],
    });
    const { status, body } = await shop.rest.post(`/card-payments/${byCard.id}/refunds`, {
      amountCents: 3001,
    });
    expect([status, body.error]).toEqual([409, expect.stringContaining('disputed')]);
  });

  test('Bad evidence is refused over GraphQL and REST, by the name of the field', async () => {
    const shop = await merchant();
    const disputeId = await open(shop);
    for (const [input, path] of [
      [{}, 'input.text'],
      [{ text: ' ' }, 'input.text'],
      [{ text: 'x'.repeat(4_001) }, 'input.text'],
      [{ documents: [{ url: 'javascript:alert(1)' }] }, 'input.documents.0.url'],
      [{ documents: [{ url: 'https://10.0.0.1/a' }] }, 'input.documents.0.url'],
      [{ documents: [{ url: 'http://a.example' }] }, 'input.documents.0.url'],
      [
        { documents: [{ url: 'https://a.example', description: 'x'.repeat(201) }] },
        'input.documents.0.description',
      ],
      [{ documents: Array.from({ length: 11 }, () => ({ url: 'https://a.example' })) }, 'input.documents'],
      [{ disputeId: 'ref_1', text: 'x' }, 'input.disputeId'],
    ] as const) {
      const { fields } = await submit(shop.client, { disputeId, ...input });
      expect(fields.map((field: { path: string }) => field.path)).toEqual([path]);
      const { disputeId: id = disputeId, ...body } = input as { disputeId?: string };
      const answer = await shop.rest.post(`/disputes/${id}/evidence`, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain(
        path === 'input.disputeId' ? 'id: ' : `${path.slice('input.'.length)}: `,
      );
    }
    expect(await app.controls.listDisputes(shop.tenant, { limit: 1 })).toMatchObject([{ evidence: [] }]);
  });
});

describe('a dispute over REST', () => {
  test('Every field is there, null where it is empty, and the list has its page', async () => {
    const shop = await merchant();
    const byCard = await sellByCard(shop);
    const disputeId = await claim(shop, byCard);
    const { body } = await shop.rest.get(`/disputes/${disputeId}`);
    expect(body).toEqual({
      disputeId,
      status: 'open',
      reason: 'fraud',
      amountCents: 2000,
      blockedCents: 2000,
      orderCode: byCard.id,
      evidence: [],
      files: [],
      evidenceDueAt: expect.stringMatching(ISO),
      createdAt: expect.stringMatching(ISO),
      closedAt: null,
      acceptedAt: null,
    });
    const other = await open(shop);
    expect((await shop.rest.get('/disputes?limit=1&offset=1')).body).toEqual({
      disputes: [body],
      total: 2,
      limit: 1,
      offset: 1,
    });
    expect((await shop.rest.get(`/disputes/${other}`)).body).not.toHaveProperty('orderCode');
    const first = await shop.rest.post(`/disputes/${other}/evidence`, { text: 'x', idempotencyKey: 'k' });
    const again = await shop.rest.post(`/disputes/${other}/evidence`, { text: 'x', idempotencyKey: 'k' });
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    for (const status of ['opened', 'OPEN', 'unknown', ''])
      expect((await shop.rest.get(`/disputes?status=${status}`)).status).toBe(400);
    expect((await shop.rest.get('/disputes/dsp_x')).status).toBe(400);
    expect((await shop.rest.get(`/disputes/dsp_${'0'.repeat(24)}`)).status).toBe(404);
  });
});

describe('following disputes', () => {
  test('A follower gets the state and each change, until it is final', async () => {
    const shop = await merchant();
    const disputeId = await open(shop);
    const updates = shop.client.ws(FOLLOW, { disputeId });
    onTestFinished(() => updates.close());
    const next = async () => (await updates.data()).disputeUpdates;
    expect(await next()).toMatchObject({ previousStatus: null, dispute: { status: 'OPEN', version: 1 } });
    await submit(shop.client, { disputeId, text: 'Primeira' });
    expect(await next()).toMatchObject({
      previousStatus: 'OPEN',
      dispute: { status: 'UNDER_REVIEW', version: 2 },
    });
    await submit(shop.client, { disputeId, text: 'Segunda' });
    expect(await next()).toMatchObject({
      previousStatus: 'UNDER_REVIEW',
      dispute: { status: 'UNDER_REVIEW', version: 3, evidence: [{ text: 'Primeira' }, { text: 'Segunda' }] },
    });
    await app.controls.closeDispute(shop.tenant, disputeId, 'lost');
    expect(await next()).toMatchObject({ dispute: { status: 'LOST' } });
    await app.controls.closeDispute(shop.tenant, disputeId, 'forgiven');
    expect(await next()).toMatchObject({ previousStatus: 'LOST', dispute: { status: 'FORGIVEN' } });
    await expect(updates.data()).rejects.toThrow('the stream has ended');
  });
});

describe('permissions', () => {
  test('A dashboard token with the scope reads disputes, and of payments what its other scopes allow', async () => {
    const shop = await merchant();
    const pix = await sellByPix(shop);
    const disputeId = await claim(shop, pix);
    const grant = async (scopes: readonly string[]) =>
      app.client(await addToken(app, { ...shop.tenant, kind: 'dashboard', grant: { scopes } }));
    const alone = await grant(['disputes']);
    expect((await alone.request(ONE, { disputeId })).dispute).toMatchObject({ status: 'OPEN', of: null });
    const both = await grant(['disputes', 'payments']);
    expect((await both.request(ONE, { disputeId })).dispute.of).toMatchObject({ paymentId: pix.id });
    const blind = await grant(DASHBOARD_SCOPES.filter((scope) => scope !== 'disputes'));
    expect((await blind.request(OF_PAYMENT, { paymentId: pix.id })).payment).toMatchObject({
      refundableCents: 3000,
      disputes: null,
    });
    const payer = app.client(
      await addToken(app, { ...shop.tenant, kind: 'payment', grant: { paymentId: pix.id } }),
    );
    expect((await payer.request(OF_PAYMENT, { paymentId: pix.id })).payment.disputes).toBeNull();
  });
});
