import { afterEach, expect, test, vi } from 'vitest';
import { evidenceDone, payoutDone, refundDone } from '../../../widget/demo/dashboard/outcomes.ts';
import { KeyedRequests } from '../../../widget/demo/shared/keyed-requests.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('A request that nothing answers ends, and is repeated under its key, which an answer ends', async () => {
  const isSilent = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort());
  const keys: string[] = [];
  vi.stubGlobal('fetch', async (_path: string, { body, signal }: RequestInit) => {
    keys.push(JSON.parse(String(body)).idempotencyKey);
    signal?.throwIfAborted();
    return Response.json({ replayed: true });
  });
  const requests = new KeyedRequests();
  const ask = () => requests.post('/demo/dashboard/payouts', { amountCents: 5_000 });
  expect(await ask()).toMatchObject({ ok: false, refusal: { status: 0 } });
  expect(isSilent).toHaveBeenCalledWith(30_000);
  isSilent.mockImplementation(() => new AbortController().signal);
  expect(await ask()).toEqual({ ok: true, body: { replayed: true } });
  await ask();
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[1]);
});

test('A lost request that is refused is repeated under its key, which a conflict ends', async () => {
  const answers = [
    new Response(null, { status: 502 }),
    Response.json({ fields: [{ path: 'key', message: 'x' }] }, { status: 400 }),
    Response.json({ code: 'IDEMPOTENCY_CONFLICT' }, { status: 409 }),
    Response.json({ replayed: false }),
  ];
  const keys: string[] = [];
  vi.stubGlobal('fetch', async (_path: string, { body }: RequestInit) => {
    keys.push(JSON.parse(String(body)).idempotencyKey);
    return answers[keys.length - 1];
  });
  const requests = new KeyedRequests();
  for (const _ of answers) await requests.post('./transfers', { amountCents: 1 });
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).toBe(keys[0]);
  expect(keys[3]).not.toBe(keys[0]);
});

test('A key that is given apart is sent with each request, and its idempotency key is that of the input alone', async () => {
  const bodies: { key: string; idempotencyKey: string }[] = [];
  vi.stubGlobal('fetch', async (_path: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(String(body)));
    return new Response(null, { status: 502 });
  });
  const requests = new KeyedRequests();
  for (const key of ['wrong', 'right']) await requests.post('./transfers', { amountCents: 1 }, { key });
  expect(bodies.map(({ key }) => key)).toEqual(['wrong', 'right']);
  expect(bodies[1]!.idempotencyKey).toBe(bodies[0]!.idempotencyKey);
});

test('The answer to a request that had been received before says that nothing new was requested', () => {
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');
  expect(payoutDone({ code: 'SAQ-1', replayed: false })).toMatch(/^Saque SAQ-1 pedido\./);
  expect(payoutDone({ code: 'SAQ-1', replayed: true })).toBe(
    'O pedido anterior já tinha chegado: saque SAQ-1. Nada novo foi pedido.',
  );
  expect(plain(refundDone(2_000, { replayed: false }))).toBe('Estorno de R$ 20,00 pedido.');
  expect(plain(refundDone(2_000, { replayed: true }))).toBe(
    'O pedido anterior já tinha chegado: estorno de R$ 20,00. Nada novo foi pedido.',
  );
  expect(evidenceDone({ replayed: false })).toMatch(/^Provas enviadas\./);
  expect(evidenceDone({ replayed: true })).toMatch(/Nada novo foi enviado/);
});
