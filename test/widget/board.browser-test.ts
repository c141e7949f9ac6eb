import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import '../../widget/src/board/define.ts';
import { act, event, openWorld, part, place, readWorld, shows, words } from './board.ts';

beforeEach(() => {
  document.documentElement.lang = 'pt-BR';
});

afterEach(() => {
  for (const element of document.querySelectorAll('psa-payouts,psa-wallet,psa-sales,psa-statement'))
    element.remove();
});

describe('the elements of one token', () => {
  it('elements of one token share one stream, which has the kinds of all', async () => {
    const world = await openWorld({ count: 3, entryCount: 3 });
    const wallet = await place('psa-wallet', world);
    const payouts = await place('psa-payouts', world);
    const statement = await place('psa-statement', world);
    const { subscriptions } = await readWorld(world);
    expect(subscriptions.at(-1)?.kinds).toEqual(['PAYOUT', 'WALLET']);
    await act(world.token, { add: {} });
    await act(world.token, { move: { amountCents: 2_500 } });
    await shows(() => payouts.totalCount, 4);
    await shows(() => wallet.wallet?.balanceCents, 1_011_000);
    await shows(() => statement.totalCount, 4);
    const before = (await readWorld(world)).subscriptions.length;
    wallet.remove();
    await act(world.token, { add: {} });
    await shows(() => payouts.totalCount, 5);
    expect((await readWorld(world)).subscriptions).toHaveLength(before);
  });

  it('sales share it, with the kinds that the token may follow', async () => {
    const updateKinds = ['CARD_PAYMENT', 'PAYOUT', 'REFUND'];
    const world = await openWorld({ count: 1, saleCount: 8, updateKinds });
    const payouts = await place('psa-payouts', world);
    const sales = await place('psa-sales', world);
    expect((await readWorld(world)).subscriptions.at(-1)?.kinds).toEqual(updateKinds);
    await act(world.token, { add: {} });
    await act(world.token, { changeSale: { number: 4, values: { status: 'REFUNDED' } } });
    await shows(() => payouts.totalCount, 2);
    await shows(() => sales.sales.find(({ id }) => id === 'sale-4')?.status, 'REFUNDED');
  });

  it('an element that joins misses no change that comes while it reads', async () => {
    const world = await openWorld({ count: 1 });
    const payouts = await place('psa-payouts', world);
    await act(world.token, { move: { amountCents: 100 } });
    await act(world.token, { add: {} });
    await shows(() => payouts.totalCount, 2);
    await openWorld({ token: world.token, fail: { times: 1, hold: true }, failOnly: 'WalletStart' });
    const joined = place('psa-wallet', world);
    await shows(async () => (await readWorld(world)).fail?.times, 0);
    await act(world.token, { add: {} });
    await act(world.token, { move: { amountCents: 50 } });
    await shows(() => payouts.totalCount, 3);
    await openWorld({ token: world.token, release: true });
    const wallet = await joined;
    await shows(() => wallet.wallet?.balanceCents, 1_000_150);
    const { subscriptions } = await readWorld(world);
    // The stream goes on from where it was before the reading.
    expect(subscriptions.at(-1)).toMatchObject({ after: 'u2', kinds: ['PAYOUT', 'WALLET'] });
  });

  it('a wallet shows no older figures again where the stream goes back for an element that joins', async () => {
    const world = await openWorld({ count: 1 });
    const wallet = await place('psa-wallet', world);
    const balances: (number | null)[] = [];
    wallet.addEventListener('psa-wallet-update', ({ detail }) => balances.push(detail.wallet.balanceCents));
    await openWorld({ token: world.token, fail: { times: 1, hold: true }, failOnly: 'PayoutsStart' });
    const joined = place('psa-payouts', world);
    await shows(async () => (await readWorld(world)).fail?.times, 0);
    await act(world.token, { move: { amountCents: 100 } });
    await act(world.token, { move: { amountCents: 50 } });
    await shows(() => wallet.wallet?.balanceCents, 1_000_150);
    await openWorld({ token: world.token, release: true });
    await joined;
    await act(world.token, { move: { amountCents: 7 } });
    await shows(() => wallet.wallet?.balanceCents, 1_000_157);
    expect(balances).toEqual([1_000_100, 1_000_150, 1_000_157]);
  });

  it('one renewal of the token serves all, also those without a function of their own', async () => {
    const world = await openWorld({ count: 1 });
    const renewed = await openWorld({ token: world.token, renew: true });
    const renewToken = vi.fn(async () => renewed.token);
    const payouts = await place('psa-payouts', world);
    const wallet = await place('psa-wallet', world, { renewToken });
    await act(world.token, { expire: true });
    await shows(() => [payouts.token, wallet.token], [renewed.token, renewed.token]);
    await act(renewed.token, { add: {} });
    await act(renewed.token, { move: { amountCents: 7 } });
    await shows(() => payouts.totalCount, 2);
    await shows(() => wallet.wallet?.balanceCents, 1_000_007);
    expect(renewToken).toHaveBeenCalledOnce();
  });

  it('an element whose token lacks its scope says so, and leaves the others as they are', async () => {
    const world = await openWorld({
      count: 2,
      fail: { code: 'FORBIDDEN', times: 9 },
      failOnly: 'WalletStart',
    });
    const renewToken = vi.fn(async () => world.token);
    const payouts = await place('psa-payouts', world, { renewToken });
    const wallet = await place('psa-wallet', world, { renewToken }, 'error');
    expect(words(part(wallet, 'error'))).toBe('Este acesso não mostra a carteira. Tentar de novo');
    expect(wallet.matches(':state(forbidden)')).toBe(true);
    await act(world.token, { add: {} });
    await shows(() => payouts.totalCount, 3);
    expect(renewToken).not.toHaveBeenCalled();
    expect((await readWorld(world)).subscriptions.at(-1)?.kinds).toEqual(['PAYOUT']);
  });

  it.each(['ws', 'sse', 'poll'] as const)(
    'where a renewed token lacks the scope of one element, the others go on over %s',
    async (transport) => {
      const world = await openWorld({ count: 1 });
      const renewed = await openWorld({ token: world.token, renew: true });
      const properties = { transport, renewToken: async () => renewed.token };
      const payouts = await place('psa-payouts', world, properties);
      const wallet = await place('psa-wallet', world, properties);
      await openWorld({ token: renewed.token, forbids: 'Wallet' });
      await act(world.token, { expire: true });
      await shows(() => wallet.phase, 'error');
      expect(wallet.matches(':state(forbidden)')).toBe(true);
      await act(renewed.token, { add: {} });
      await shows(() => payouts.totalCount, 2);
      expect(payouts.phase).toBe('ready');
    },
  );

  it('the kinds that a renewed token may follow besides are followed at once', async () => {
    const given = { saleCount: 4, updateKinds: ['CARD_PAYMENT', 'REFUND'] };
    const world = await openWorld(given);
    const renewed = await openWorld({ token: world.token, renew: true });
    const sales = await place('psa-sales', world, { renewToken: async () => renewed.token });
    expect((await readWorld(world)).subscriptions.at(-1)?.kinds).toEqual(given.updateKinds);
    const updateKinds = ['CARD_PAYMENT', 'CHARGE', 'PAYMENT', 'REFUND'];
    await openWorld({ token: renewed.token, updateKinds });
    await act(world.token, { expire: true });
    await shows(async () => (await readWorld(renewed)).subscriptions.at(-1)?.kinds, updateKinds);
    await act(renewed.token, { changeSale: { number: 3, values: { status: 'PAID' } } });
    await shows(() => sales.sales.find(({ id }) => id === 'sale-3')?.status, 'PAID');
    // Nothing is read again for a token that follows all of the list.
    const starts = async () =>
      (await readWorld(renewed)).queries.filter(({ name }) => name === 'SalesStart').length;
    const before = await starts();
    sales.token = (await openWorld({ token: renewed.token, renew: true })).token;
    await shows(async () => (await readWorld(renewed)).subscriptions.at(-1)?.token, sales.token);
    expect(await starts()).toBe(before);
  });

  it('an element with a function alone joins those that have their token from it', async () => {
    const world = await openWorld({ count: 1 });
    const renewToken = vi.fn(async () => world.token);
    const first = await place('psa-payouts', world, { token: undefined, renewToken });
    const second = await place('psa-wallet', world, { token: undefined, renewToken });
    expect([first.token, second.token]).toEqual([world.token, world.token]);
    expect(renewToken).toHaveBeenCalledOnce();
    expect((await readWorld(world)).subscriptions.at(-1)?.kinds).toEqual(['PAYOUT', 'WALLET']);
  });

  it('elements of different accounts share nothing', async () => {
    const [first, second] = [await openWorld({ count: 2 }), await openWorld({ count: 5 })];
    const one = await place('psa-payouts', first);
    const other = await place('psa-payouts', second);
    expect([one.totalCount, other.totalCount]).toEqual([2, 5]);
    await act(second.token, { add: {} });
    await shows(() => other.totalCount, 6);
    expect(one.totalCount).toBe(2);
  });

  it('where the stream has a gap all elements read again', async () => {
    const world = await openWorld({ count: 2 });
    const payouts = await place('psa-payouts', world);
    const wallet = await place('psa-wallet', world);
    await openWorld({ token: world.token, forgotten: true });
    await act(world.token, { add: {}, silent: true });
    await act(world.token, { move: { amountCents: 9 }, silent: true, drop: true });
    await shows(async () => (await readWorld(world)).queries.length > 3, true);
    await openWorld({ token: world.token, forgotten: false });
    await shows(() => payouts.totalCount, 3);
    await shows(() => wallet.wallet?.balanceCents, 1_000_009);
    await shows(() => wallet.connection, 'live');
  });

  it('over polls each element reads what it shows', async () => {
    const world = await openWorld({ count: 2, entryCount: 1, ws: 'refuse', sse: 'refuse' });
    const wallet = await place('psa-wallet', world);
    const statement = await place('psa-statement', world);
    await act(world.token, { move: { amountCents: 11 } });
    await shows(() => wallet.wallet?.balanceCents, 1_005_011);
    await shows(() => statement.totalCount, 2);
  });

  it.each(['psa-wallet', 'psa-sales', 'psa-statement', 'psa-payouts'] as const)(
    '%s keeps no secret key, and sends it nowhere',
    async (name) => {
      const world = await openWorld();
      const errors = vi.spyOn(console, 'error').mockReturnValue();
      const sent = vi.spyOn(window, 'fetch');
      const element = await place(name, world, { token: 'ps_live_secret' }, 'idle');
      expect(element.token).toBeUndefined();
      await shows(() => errors.mock.calls.length, 1);
      expect(sent).not.toHaveBeenCalled();
      vi.restoreAllMocks();
    },
  );

  it('psa-token-expired comes from each element, and a token that one is given serves all', async () => {
    const world = await openWorld({ count: 1 });
    const renewed = await openWorld({ token: world.token, renew: true });
    const payouts = await place('psa-payouts', world);
    const wallet = await place('psa-wallet', world);
    const heard = Promise.all([event(payouts, 'psa-token-expired'), event(wallet, 'psa-token-expired')]);
    payouts.addEventListener('psa-token-expired', () => {
      payouts.token = renewed.token;
    });
    await act(world.token, { expire: true });
    await heard;
    await shows(() => wallet.token, renewed.token);
    await shows(() => wallet.connection, 'live');
  });
});
