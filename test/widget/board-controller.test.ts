import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WalletController, type WalletHost } from '../../widget/src/wallet/wallet-controller.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', () => 0);
  vi.stubGlobal('document', { baseURI: 'https://shop.example/', hidden: false });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A wallet on a page, in front of a server with these answers. */
function place(answer: (query: string, token: string) => object, renewToken?: () => Promise<string>) {
  vi.stubGlobal('fetch', async (_: unknown, { body, headers }: { body: string; headers: object }) => {
    const { authorization } = headers as { authorization: string };
    return Response.json(answer(JSON.parse(body).query, authorization.replace('Bearer ', '')));
  });
  const host = {
    ...{ endpoint: '/graphql', token: 'ps_dashboard_1', transport: 'sse', historyDays: 0, isConnected: true },
    ...{ addController: vi.fn(), requestUpdate: vi.fn(), dispatchEvent: vi.fn(), renewToken },
  } as unknown as WalletHost;
  return { host, controller: new WalletController(host) };
}

const READ = { data: { updatesCursor: 'u1', wallet: { balanceCents: 700, statement: { nodes: [] } } } };
const refusal = (code: string) => ({ errors: [{ message: code, extensions: { code } }] });

test('A server that refuses each fresh cursor is asked for the next one after growing pauses', async () => {
  const reads: number[] = [];
  const { host, controller } = place((query) => {
    if (!query.startsWith('query')) return refusal('CURSOR_EXPIRED');
    // Without a pause no timer would run, and the test would not end.
    if (reads.push(Date.now()) > 50) host.token = undefined;
    return READ;
  });
  controller.resume();
  await vi.advanceTimersByTimeAsync(20_000);
  const pauses = reads.map((at, index) => at - (reads[index - 1] ?? at)).slice(2);
  // One gap is an ordinary one, after which the state is read at once.
  expect(reads[1]! - reads[0]!).toBe(0);
  expect(pauses.length).toBeGreaterThan(2);
  expect(pauses.length).toBeLessThan(6);
  for (const [nth, ms] of pauses.entries()) expect(ms).toBeGreaterThanOrEqual(750 * 2 ** nth);
  expect(controller.connection).toBe('reconnecting');
  host.token = undefined;
  controller.resume();
});

test('A request that is refused for its token is sent once more with the next one', async () => {
  const renewToken = vi.fn(async () => 'ps_dashboard_2');
  const { host, controller } = place((query) => (query.startsWith('query') ? READ : {}), renewToken);
  controller.resume();
  await vi.advanceTimersByTimeAsync(0);
  const sent: string[] = [];
  const expired = { code: 'unauthorized' };
  const { signal } = new AbortController();
  const send = async (token: string) => {
    sent.push(token);
    if (token === 'ps_dashboard_1') throw expired;
    return 'rows';
  };
  expect(await controller.authorized(signal, send)).toBe('rows');
  expect([sent, host.token]).toEqual([['ps_dashboard_1', 'ps_dashboard_2'], 'ps_dashboard_2']);
  sent.length = 0;
  const refuse = async (token: string) => {
    sent.push(token);
    throw expired;
  };
  await expect(controller.authorized(signal, refuse)).rejects.toBe(expired);
  expect(renewToken).toHaveBeenCalledTimes(2);
  host.token = undefined;
  controller.resume();
});
