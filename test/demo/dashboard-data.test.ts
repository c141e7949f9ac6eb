import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DashboardData, MORE_FAILED } from '../../widget/demo/dashboard/dashboard-data.ts';

const EMPTY = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };

/** A page without a socket, whose server answers each query with empty lists. */
beforeEach(() => {
  const target = { addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.stubGlobal('addEventListener', target.addEventListener);
  vi.stubGlobal('removeEventListener', target.removeEventListener);
  vi.stubGlobal('document', { ...target, hidden: false });
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', { href: 'http://127.0.0.1/demo/dashboard' });
  vi.stubGlobal(
    'WebSocket',
    class {
      static OPEN = 1;
      close = () => undefined;
    },
  );
  vi.stubGlobal('fetch', async (path: string) => Response.json(answerOf(path)));
});
afterEach(() => vi.unstubAllGlobals());

function answerOf(path: string) {
  if (path.endsWith('config.json')) return { endpoint: '/graphql', simulated: true };
  if (path.endsWith('token'))
    return { token: 'ps_1', now: '2026-03-02T12:00:00Z', expiresAt: '2026-03-02T12:15:00Z' };
  const fields = ['payouts', 'cardPayments', 'subaccounts', 'webhookDeliveries', 'payments', 'charges'];
  const others = ['disputes', 'refunds', 'subscriptions', 'deliveries', 'storeProducts'];
  return {
    data: {
      ...Object.fromEntries([...fields, ...others].map((field) => [field, EMPTY])),
      ...{ updatesCursor: '1', wallet: null },
    },
  };
}

test('A new start takes back that older items could not be loaded, and keeps why a refund failed', async () => {
  const host = {
    addController: () => undefined,
    removeController: () => undefined,
    requestUpdate: () => undefined,
    updateComplete: Promise.resolve(true),
  };
  const data = new DashboardData(host);
  data.hostConnected();
  await vi.waitFor(() => expect(data.phase).toBe('ready'));
  data.failedRefunds.set('PSC-1', 'Conta encerrada');
  await data.loadMore({ loadMore: () => Promise.reject(new Error('refused')) });
  expect([data.moreFailed, data.announcement.text]).toEqual([true, MORE_FAILED]);
  data.retry();
  await vi.waitFor(() => expect(data.phase).toBe('ready'));
  expect([data.moreFailed, data.failedRefunds.get('PSC-1')]).toEqual([false, 'Conta encerrada']);
  data.hostDisconnected();
});
