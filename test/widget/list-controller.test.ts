import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ListController, type ListHost } from '../../widget/src/list/list-controller.ts';
import type { Texts } from '../../widget/src/sales/locales/texts.ts';
import type { Sale } from '../../widget/src/sales/operations.ts';
import { sales } from '../../widget/src/sales/sales-kind.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', () => 0);
  vi.stubGlobal('document', { baseURI: 'https://shop.example/', hidden: false });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

class Opened extends ListController<Sale, Texts> {
  override load(signal: AbortSignal): Promise<string> {
    return super.load(signal);
  }
}

const sale = (number: number, values: Partial<Sale> = {}) =>
  ({
    id: `s${number}`,
    status: 'PAID',
    amountCents: number * 100,
    createdAt: new Date(Date.UTC(2026, 2, 2, 10, number)).toISOString(),
    version: 1,
    ...values,
  }) as Sale;

/** A list of sales in front of a server with these, newest first. */
function open(server: { rows: Sale[] }, values: Partial<ListHost<Sale>> = {}) {
  vi.stubGlobal('fetch', async (_: unknown, { body }: { body: string }) => {
    const { first = 50, after } = JSON.parse(body).variables;
    const from = Number(after ?? 0);
    const nodes = server.rows.slice(from, from + first);
    const hasNextPage = from + nodes.length < server.rows.length;
    const pageInfo = { hasNextPage, hasPreviousPage: false, startCursor: '0', endCursor: `${from + first}` };
    const page = { totalCount: server.rows.length, nodes, pageInfo };
    return Response.json({
      data: { updatesCursor: 'u1', sales: page, nodes: [] },
    });
  });
  const events: { type: string; detail: object }[] = [];
  const host = {
    ...{ endpoint: '/graphql', token: 'ps_dashboard_1', transport: 'poll', pageSize: 2, freezeOrder: false },
    ...{ addController: vi.fn(), requestUpdate: vi.fn(), onRow: vi.fn(), onRowChange: vi.fn() },
    dispatchEvent: (event: CustomEvent) => events.push(event),
    view: { chosen: [], sort: '-created' },
    ...values,
  };
  const controller = new Opened(host as unknown as ListHost<Sale>, sales);
  const load = async () => {
    await controller.load(new AbortController().signal);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { controller, host, load, events, ids: () => controller.list.ids.join(' ') };
}

test('Rows that are sorted here do not move under the pointer after a gap', async () => {
  const server = { rows: [sale(3), sale(2), sale(1)] };
  const { host, load, ids } = open(server, { view: { chosen: [], sort: '-amount' } });
  host.freezeOrder = true;
  await load();
  expect(ids()).toBe('s3 s2 s1');
  server.rows[0] = sale(3, { amountCents: 50, version: 2 });
  await load();
  expect(ids()).toBe('s3 s2');
  host.freezeOrder = false;
  await load();
  expect(ids()).toBe('s2 s1 s3');
});

test('New rows stay where the order is changed while they are read', async () => {
  const server = { rows: [sale(1)] };
  const { controller, host, load } = open(server, {
    view: { chosen: [], sort: '-created', filter: { method: ['PIX'] } },
  });
  await load();
  server.rows.unshift(sale(2));
  const show = await controller.poll(new AbortController().signal);
  host.view = { chosen: [], sort: '-amount', filter: { method: ['PIX'] } };
  show();
  expect(controller.list.get('s2')).toBeDefined();
});

test('The update of a refund changes a loaded sale, and leaves another one to its own update', async () => {
  const { controller, load, events } = open({ rows: [sale(1)] });
  await load();
  const refunded = { status: 'REFUNDED', version: 2 } as const;
  controller.onUpdate({ refund: { of: sale(1, refunded) } });
  controller.onUpdate({ refund: { of: sale(2, refunded) } });
  controller.onUpdate({ saleBefore: 'PAID', sale: sale(2, refunded) });
  expect(events.map(({ detail }) => detail)).toEqual([
    { sale: sale(1, refunded), previous: 'PAID' },
    { sale: sale(2, refunded), previous: 'PAID' },
  ]);
});
