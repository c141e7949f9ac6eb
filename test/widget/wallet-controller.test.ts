import { afterEach, expect, test, vi } from 'vitest';
import { WalletController, type WalletHost } from '../../widget/src/wallet/wallet-controller.ts';

afterEach(() => vi.unstubAllGlobals());

const at = (second: number) => `2026-03-02T12:00:0${second}.000Z`;

test('Updates from before the wallet was read show no older figures, and later ones are shown', async () => {
  vi.stubGlobal('requestAnimationFrame', () => 0);
  vi.stubGlobal('document', { baseURI: 'https://shop.example/', hidden: false });
  vi.stubGlobal('fetch', async () =>
    Response.json({
      data: { wallet: { balanceCents: 700, statement: { nodes: [{ createdAt: at(3) }] } } },
    }),
  );
  const shown: (number | null)[] = [];
  const host = {
    ...{ endpoint: '/graphql', token: 'ps_dashboard_1', transport: 'poll', historyDays: 0 },
    ...{ addController: () => undefined, requestUpdate: () => undefined, dispatchEvent: () => true },
  } as unknown as WalletHost;
  const controller = new WalletController(host);
  const update = (second: number, balanceCents: number) => {
    controller.onUpdate({ cursor: `u${second}`, occurredAt: at(second), wallet: { balanceCents } });
    shown.push(controller.wallet?.balanceCents ?? null);
  };
  update(1, 100);
  (await controller.poll(new AbortController().signal))();
  shown.push(controller.wallet!.balanceCents);
  expect(controller.wallet).toEqual({ balanceCents: 700 });
  // The stream goes on from where it was before the poll.
  for (const [second, balanceCents] of [
    [2, 300],
    [3, 700],
    [4, 900],
  ] as const)
    update(second, balanceCents);
  expect(shown).toEqual([100, 700, 700, 700, 900]);
});
