import { afterEach, expect, test, vi } from 'vitest';
import { forgetAll, KeptRequest, lostOf, postOnce } from '../../../widget/demo/shared/kept-request.ts';
import { errorsOf, payoutDone } from '../../../widget/demo/shared/payout-terms.ts';

afterEach(() => {
  forgetAll();
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
  const ask = () => postOnce('./payouts', { amountCents: 5_000 });
  expect(await ask()).toMatchObject({ ok: false, refusal: { status: 0 } });
  expect(isSilent).toHaveBeenCalledWith(30_000);
  isSilent.mockImplementation(() => new AbortController().signal);
  expect(await ask()).toEqual({ ok: true, body: { replayed: true } });
  await ask();
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[1]);
});

/** Answers each request with the next status, and collects what was sent. */
function answerWith(...answers: [status: number, body?: object][]) {
  const bodies: { idempotencyKey: string }[] = [];
  vi.stubGlobal('fetch', async (_path: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(String(body)));
    const [status, answer = {}] = answers[bodies.length - 1]!;
    return Response.json(answer, { status });
  });
  return { bodies, keys: () => bodies.map(({ idempotencyKey }) => idempotencyKey) };
}

/** A storage as a tab has it. */
function stubStorage() {
  const texts: Record<string, string> = {};
  const methods = {
    getItem: (name: string) => texts[name] ?? null,
    setItem(name: string, text: string) {
      texts[name] = text;
    },
    removeItem(name: string) {
      delete texts[name];
    },
    clear() {
      for (const name of Object.keys(texts)) delete texts[name];
    },
  };
  vi.stubGlobal('sessionStorage', new Proxy(texts, { get: (_, name) => Reflect.get(methods, name) }));
  return texts;
}

test('A lost request that is refused is repeated under its key, which a conflict ends', async () => {
  const { keys } = answerWith([502], [400], [409, { code: 'IDEMPOTENCY_CONFLICT' }], [200]);
  for (let time = 0; time < 4; time++) await postOnce('./transfers', { amountCents: 1 });
  const [first] = keys();
  expect(keys().map((key) => key === first)).toEqual([true, true, true, false]);
});

test('A failure by which nothing was done is a refusal, and its request has no successor', async () => {
  const { keys } = answerWith([502, { code: 'UPSTREAM_REFUSED' }], [501, { code: 'NOT_OFFERED' }], [200]);
  for (let time = 0; time < 3; time++) await postOnce('./payouts', { amountCents: 1 });
  expect(new Set(keys()).size).toBe(3);
  const words = (code: string) => errorsOf({ status: 502, code, fields: [] }, 'PIX').form;
  expect(words('UPSTREAM_REFUSED')).toBe('O serviço de pagamentos recusou o pedido. Nada foi feito.');
  expect(words('OUTCOME_UNKNOWN')).toContain('pode ter chegado');
});

test.each(['a storage', 'no storage'])(
  'In a tab with %s a page finds what the one before has lost, and what it requests instead has its key',
  async (which) => {
    const texts = which === 'a storage' ? stubStorage() : {};
    const { bodies, keys } = answerWith([502], [400], [409, { code: 'IDEMPOTENCY_CONFLICT' }], [200], [200]);
    const post = (amount: number) =>
      new KeptRequest<number>('refund PSC-1').post('./refunds', amount, { amount, key: 'secret' });
    await post(20);
    await new KeptRequest('refund PSC-2').post('./refunds', 7, {});
    expect(new KeptRequest('refund PSC-1').lost).toBe(20);
    expect(lostOf('refund ')).toEqual([20]);
    expect(JSON.stringify(texts)).not.toContain('secret');
    await post(30);
    expect(lostOf('refund ')).toEqual([]);
    await post(30);
    expect(keys()[2]).toBe(keys()[0]);
    expect(new Set(keys()).size).toBe(3);
    expect(bodies[3]).toMatchObject({ amount: 30 });
  },
);

test('A lost request that its user drops, or that is of another account, has no successor', async () => {
  const { keys } = answerWith([502], [502], [200]);
  const request = new KeptRequest<string>('transfer');
  await request.post('./transfers', 'a', {});
  request.drop();
  expect([request.lost, new KeptRequest('transfer').lost]).toEqual([null, null]);
  await request.post('./transfers', 'b', {});
  forgetAll();
  await new KeptRequest<string>('transfer').post('./transfers', 'c', {});
  expect(new Set(keys()).size).toBe(3);
});

test('An answer that comes after the request was dropped brings it not back', async () => {
  const held = Promise.withResolvers<Response>();
  vi.stubGlobal('fetch', () => held.promise);
  const sent = new KeptRequest<string>('transfer').post('./transfers', 'a', {});
  new KeptRequest('transfer').drop();
  held.resolve(new Response(null, { status: 502 }));
  await sent;
  expect(new KeptRequest('transfer').lost).toBeNull();
});

test('The answer to a request that had been received before says that nothing new was requested', () => {
  expect(payoutDone({ code: 'SAQ-1', replayed: false })).toMatch(/^Saque SAQ-1 pedido\./);
  expect(payoutDone({ code: 'SAQ-1', replayed: true })).toBe(
    'O pedido anterior já tinha chegado: saque SAQ-1. Nada novo foi pedido.',
  );
  expect(payoutDone({ code: null, status: 'processing', inDoubt: true, replayed: true })).toMatch(
    /ainda não confirmou este saque.*Não o peça de novo/,
  );
  expect(payoutDone({ code: 'SAQ-1', status: 'denied', replayed: true })).toMatch(
    /^O pedido anterior foi negado: saque SAQ-1\./,
  );
  expect(payoutDone({ code: null, status: 'denied', replayed: true })).not.toMatch(/null|chegado/);
});
