import { createHmac } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createManualClock } from './clock.ts';
import { startDocumentUpstream } from './document-upstream.ts';
import { startReceiver } from './receiver.ts';
import { createRestClient } from './rest.ts';

async function start(options: { limitPerMinute?: number } = {}) {
  const clock = createManualClock();
  const upstream = await startDocumentUpstream({ clock, ...options });
  onTestFinished(() => upstream.close());
  const { url, liveKey, testKey } = upstream;
  return {
    clock,
    upstream,
    live: createRestClient(url, liveKey),
    sandbox: createRestClient(url, testKey),
    url,
  };
}

const LIVE = { amount: 12.34, method: 'pix', walletAddress: 'ana@padaria.example' };

describe('an upstream written from the document alone', () => {
  test('An upstream from the document refuses unknown keys', async () => {
    const { url } = await start();
    for (const key of [null, 'ps_live_other'])
      expect(await createRestClient(url, key).get('/wallet')).toMatchObject({ status: 401 });
  });

  test('An upstream from the document shows a wallet with the documented names, and others for the rest', async () => {
    const { upstream, live, sandbox } = await start();
    Object.assign(upstream.live, { balanceCents: 10_000, blockedCents: 1_000, pendingCents: 5_50 });
    upstream.openSubaccount(2_500);
    const { body } = await live.get('/wallet');
    expect(body).toMatchObject({
      balance: 125,
      disputeBlocked: 10,
      withdrawable: 90,
      withdrawableCents: 9_000,
      pendingRelease: 5.5,
      cryptoBalanceLtc: 0,
      totalSubcontas: 25,
      versaoInterna: 7,
    });
    expect(Object.keys(body)).not.toContain('sandbox');
    for (const ours of ['currency', 'balanceCents', 'pendingReleaseCents', 'assignableCents'])
      expect(Object.keys(body)).not.toContain(ours);
    expect((await sandbox.get('/wallet')).body).toMatchObject({ balance: 0, sandbox: true });
    expect((await sandbox.get('/sandbox/wallet')).body).toMatchObject({ saldo: 0 });
  });

  test('An upstream from the document makes payouts of the main account, lists them, and sends their webhooks', async () => {
    const { upstream, live, sandbox } = await start();
    const receiver = await startReceiver();
    Object.assign(upstream, { webhookUrl: receiver.url, signature: 'sha256=' });
    upstream.live.balanceCents = 10_000;
    expect((await live.post('/payouts', { ...LIVE, amount: 100.01 })).status).toBe(400);
    const [reported, { status, body }] = [receiver.next(), await live.post('/payouts', LIVE)];
    expect(status).toBe(201);
    const { identificador: id } = body;
    expect(body).toMatchObject({ amount: 12.34, status: 'pendente', metodo: 'pix', chaveDestino: '***mple' });
    expect(JSON.parse((await reported).body)).toMatchObject({
      event: 'withdrawal.requested',
      withdrawalId: id,
      amount: 12.34,
      walletAddress: LIVE.walletAddress,
      status: 'pendente',
      sandbox: false,
    });
    await upstream.settle(id);
    const [, completed] = receiver.received;
    expect(JSON.parse(completed!.body)).toMatchObject({ event: 'withdrawal.completed', status: 'concluido' });
    const signature = createHmac('sha256', upstream.webhookSecret).update(completed!.body).digest('hex');
    expect(completed!.headers['x-webhook-signature']).toBe(`sha256=${signature}`);

    const { identificador: denied } = (await live.post('/payouts', { ...LIVE, method: 'pix_turbo' })).body;
    upstream.process(denied);
    const list = async () => (await live.get('/payouts?limit=1')).body;
    expect(await list()).toMatchObject({ saques: [{ status: 'processing' }], total: 2, limit: 1, offset: 0 });
    await upstream.deny(denied);
    upstream.setStatus(id, 'estornado_parcial');
    expect((await live.get('/payouts?offset=1')).body.saques).toMatchObject([
      { status: 'estornado_parcial' },
    ]);
    expect(upstream.live.balanceCents).toBe(10_000 - 1_234);
    expect((await sandbox.get('/payouts')).body).toMatchObject({ saques: [], total: 0 });
    expect((await live.get(`/payouts/${id}`)).status).toBe(404);
  });

  test('An upstream from the document makes payouts of subaccounts once for a key, and finds them by each reference', async () => {
    const { upstream, live, sandbox } = await start();
    const receiver = await startReceiver();
    upstream.webhookUrl = receiver.url;
    const id = upstream.openSubaccount(10_000);
    const input = { amountCents: 4_000, pixKey: 'bia@example.com', idempotencyKey: 'saque-1' };
    const { status, body } = await live.post(`/subaccounts/${id}/payout`, input);
    expect(status).toBe(200);
    expect((await live.post(`/subaccounts/${id}/payout`, input)).body).toEqual(body);
    const lookup = (reference: string) => live.get(`/subaccounts/${id}/payouts/${reference}`);
    for (const reference of [body.withdrawal.id, body.code, 'saq_idem_saque-1'])
      expect((await lookup(reference)).body).toMatchObject({ status: 'processing', amountCents: 4_000 });
    expect((await lookup('saq_idem_saque-2')).status).toBe(404);
    expect((await sandbox.get(`/subaccounts/${id}/payouts/${body.code}`)).status).toBe(404);

    upstream.verifies = true;
    const second = await live.post(`/subaccounts/${id}/payout`, { ...input, idempotencyKey: 'saque-2' });
    expect(second).toMatchObject({ status: 202, body: { withdrawal: null } });
    await upstream.settle(body.code);
    await upstream.deny('saq_idem_saque-2', 'Conta encerrada');
    expect(upstream.live.subaccounts.get(id)).toBe(2_000);
    await upstream.reverse('saq_idem_saque-2');
    expect(upstream.live.subaccounts.get(id)).toBe(6_000);
    expect((await lookup('saq_idem_saque-2')).body).toMatchObject({ status: 'failed', reversed: true });
    expect(receiver.received.map((each) => JSON.parse(each.body))).toMatchObject([
      { tipo: 'subaccount.payout', code: body.code },
      { tipo: 'subaccount.payout', code: second.body.code },
      { tipo: 'subaccount.payout', code: second.body.code },
    ]);
  });

  test('An upstream from the document accepts card payments, and sends a webhook to a payment’s own URL', async () => {
    const { upstream, live, sandbox } = await start();
    const [account, own] = [await startReceiver(), await startReceiver()];
    upstream.webhookUrl = account.url;
    expect((await live.post('/card-payments', { valueCents: 79 })).status).toBe(400);
    expect((await sandbox.post('/card-payments', { valueCents: 80 })).status).toBe(400);
    const first = (await live.post('/card-payments', { valueCents: 820 })).body;
    expect(first).toMatchObject({ status: 'pending', amountCents: 820, currency: 'BRL' });
    expect(first.expiresAt).toBe('2026-03-02T12:30:00.000Z');
    const input = { valueCents: 80, callbackUrl: own.url, customer: { name: 'Ana' }, metadata: '{"a":1}' };
    const second = (await live.post('/card-payments', input)).body;
    await upstream.pay(first.orderCode);
    await upstream.pay(second.orderCode);
    expect(JSON.parse(account.received[0]!.body)).toMatchObject({
      tipo: 'card_payment.paid',
      orderCode: first.orderCode,
      amount: 8.2,
    });
    expect(own.received).toHaveLength(1);
    expect((await live.get(`/card-payments/${second.orderCode}`)).body).toMatchObject({
      orderCode: second.orderCode,
      status: 'paid',
      amount: 0.8,
      metadata: '{"a":1}',
    });
    upstream.cardsConfigured = false;
    expect((await live.post('/card-payments', { valueCents: 80 })).status).toBe(422);
  });

  test('An upstream from the document creates, lists and deletes products', async () => {
    const { live } = await start();
    const { body } = await live.post('/products', { name: 'Pão', priceCents: 100 });
    expect((await live.get('/products')).body).toMatchObject({ itens: [{ _id: body._id }], total: 1 });
    expect((await live.delete(`/products/${body._id}`)).body).toMatchObject({ deleted: true });
    expect(await live.delete(`/products/${body._id}`)).toMatchObject({
      status: 404,
      body: { error: 'Product not found' },
    });
  });

  test('An upstream from the document lacks the endpoints that a test names', async () => {
    const { upstream, live } = await start();
    upstream.missing.set('GET /v1/wallet', 405).set('POST /v1/products', 404);
    expect((await live.get('/wallet')).status).toBe(405);
    expect((await live.post('/products', { name: 'Pão' })).status).toBe(404);
    expect((await live.get('/products')).status).toBe(200);
    expect((await live.get('/subaccounts')).status).toBe(404);
    expect(upstream.requestLines).toEqual([
      'GET /v1/wallet',
      'POST /v1/products',
      'GET /v1/products',
      'GET /v1/subaccounts',
    ]);
  });

  test('An upstream from the document refuses requests beyond its limit for a minute', async () => {
    const { clock, live } = await start({ limitPerMinute: 2 });
    const statuses = async () => {
      const answers = [await live.get('/wallet'), await live.get('/payouts'), await live.get('/wallet')];
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 429]);
    clock.advance(60_000);
    expect(await statuses()).toEqual([200, 200, 429]);
  });

  test('An upstream from the document sends a webhook again whenever a test asks for it', async () => {
    const { upstream, live } = await start();
    const receiver = await startReceiver();
    upstream.webhookUrl = receiver.url;
    upstream.live.balanceCents = 10_000;
    const reported = receiver.next();
    await live.post('/payouts', LIVE);
    const first = await reported;
    expect(await upstream.send(upstream.sent[0]!)).toBe(200);
    const { body, headers } = receiver.received[1]!;
    expect([body, headers['x-webhook-id']]).toEqual([first.body, first.headers['x-webhook-id']]);
  });
});
