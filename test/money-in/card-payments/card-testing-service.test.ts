import { beforeAll, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  createCardTestingGuard,
  waitMs,
} from '../../../server/src/money-in/card-payments/card-testing-service.ts';
import type { ChargeAttempt } from '../../../server/src/money-in/card-payments/model.ts';
import type { TokenPause } from '../../../server/src/money-in/card-payments/tokens/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createManualClock, type ManualClock } from '../../support/clock.ts';
import { describeOnDatabase } from '../../support/database.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test.each([
  [0, 0],
  [4, 0],
  [5, 2 * SECOND],
  [6, 4 * SECOND],
  [10, 64 * SECOND],
  [14, 1_024 * SECOND],
  [15, 30 * MINUTE],
  [1_000, 30 * MINUTE],
])('after %d declined cards a network waits %d ms', (declines, ms) => {
  expect(waitMs(declines, { free: 5, firstWaitMs: 2 * SECOND })).toBe(ms);
});

describeOnDatabase('declined cards', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  let names = 0;
  /** Instances of one shop with names that no other test uses, on one clock. */
  function shop({
    clock = createManualClock(),
    instances = 1,
  }: {
    clock?: ManualClock;
    instances?: number;
  } = {}) {
    names += 1;
    const name = `${names}`;
    const tenant = { accountId: `acc_${name}`, environment: 'live' } as const;
    const state = { pause: null as TokenPause | null, paused: [] as string[], cards: [] as string[] };
    const guards = Array.from({ length: instances }, () =>
      createCardTestingGuard({
        sql: database.sql,
        clock,
        tokens: {
          pauseOf: async () => state.pause,
          async pauseForDeclines(_, tokenId) {
            state.paused.push(tokenId);
            state.pause = {
              reason: 'declines',
              pausedAt: clock.now(),
              pausedUntil: plusMs(clock.now(), 5 * MINUTE),
            };
            return true;
          },
        },
        meter: { onCard: (outcome) => state.cards.push(outcome), onTokenPaused: () => undefined },
      }),
    );
    const attempt = (
      address: string | null = '192.0.2.1',
      tokenId: string | null = `tok_${name}`,
    ): ChargeAttempt => ({
      tenant,
      tokenId,
      // Each shop has networks of its own.
      address: address?.replace('192.0.2', `10.${names >> 8}.${names & 255}`) ?? null,
    });
    const [guard] = guards as [(typeof guards)[0]];
    /** Tries a card. Returns false if the payer has to wait. */
    async function tries(outcome: 'approved' | 'declined' | 'unused', address?: string): Promise<boolean> {
      const own = attempt(address);
      if (await guard.admit(own)) return false;
      await guard.record(own, outcome);
      return true;
    }
    return { clock, state, guard, guards, attempt, tries, name };
  }

  test('a network tries some cards at once, and then ever fewer, however often it tries', async () => {
    const { clock, tries } = shop();
    let tried = 0;
    const perMinute: number[] = [];
    for (let ms = 0; ms < HOUR; ) {
      for (let time = 0; time < 6; time += 1) tried += Number(await tries('declined'));
      const step = ms < MINUTE ? SECOND : MINUTE / 2;
      clock.advance(step);
      ms += step;
      if (ms % MINUTE === 0) perMinute.push(tried);
    }
    // Without the guard, 600 tries a minute were possible.
    expect(perMinute[0]).toBe(9);
    expect(perMinute[4]).toBeLessThanOrEqual(12);
    expect(perMinute.at(-1)).toBeLessThanOrEqual(17);
  });

  test('a network tries five cards at most where 64 come at once, on two instances', async () => {
    const { guards, attempt } = shop({ instances: 2 });
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => guards[index % 2]!.admit(attempt())),
    );
    expect(answers.filter((retryAt) => retryAt === null)).toHaveLength(5);
  });

  test('a refused card names the time at which the next one is admitted', async () => {
    const { clock, guard, attempt, tries } = shop();
    for (let card = 0; card < 7; card += 1) {
      await tries('declined');
      clock.advance(card < 4 ? 0 : 4 * SECOND);
    }
    const retryAt = await guard.admit(attempt());
    // The last try was four seconds ago, and was the seventh.
    expect(retryAt).toEqual(plusMs(clock.now(), 4 * SECOND));
    expect(await guard.peek(attempt())).toEqual(retryAt);
    clock.advance(4 * SECOND - 1);
    expect(await tries('declined')).toBe(false);
    clock.advance(1);
    expect(await guard.peek(attempt())).toBeNull();
    expect(await tries('declined')).toBe(true);
  });

  test('eleven approved cards clear a network, however many were declined before', async () => {
    const { clock, tries } = shop();
    for (let card = 0; card < 19; card += 1) {
      expect(await tries('declined')).toBe(true);
      clock.advance(30 * MINUTE);
    }
    for (let card = 0; card < 11; card += 1) {
      expect(await tries('approved')).toBe(true);
      clock.advance(30 * MINUTE);
    }
    expect(await tries('declined')).toBe(true);
    expect(await tries('approved')).toBe(false);
    clock.advance(2 * SECOND);
    expect(await tries('approved')).toBe(true);
  });

  test('a network with more approved cards waits for nothing, however many payers it has', async () => {
    const { tries, state } = shop();
    for (let payer = 0; payer < 150; payer += 1)
      expect(await tries(payer % 3 === 0 ? 'declined' : 'approved')).toBe(true);
    expect(state.paused).toEqual([]);
  });

  test('declined cards count for an IPv6 network as one, and for all accounts together', async () => {
    const { guard, attempt } = shop();
    const other = shop();
    const network = { ...attempt(), address: `2001:db8:${names}:1::1` };
    for (let card = 0; card < 5; card += 1) {
      const own = { ...network, address: `2001:db8:${names}:1::${card + 1}` };
      expect(await guard.admit(own)).toBeNull();
      await guard.record(own, 'declined');
    }
    expect(await guard.admit(network)).not.toBeNull();
    expect(await guard.admit({ ...network, address: `2001:db8:${names}:2::1` })).toBeNull();
    expect(await other.guard.admit({ ...other.attempt(), address: network.address })).not.toBeNull();
  });

  test('declined cards of many networks with one token slow all of them down, and stop none', async () => {
    const { clock, tries, state } = shop();
    for (let network = 0; network < 20; network += 1)
      expect(await tries('declined', `192.0.2.${network}`)).toBe(true);
    // Two tries are free from here on, and then one each quarter of a minute.
    for (let card = 0; card < 2; card += 1) expect(await tries('declined', '192.0.2.100')).toBe(true);
    expect(await tries('declined', '192.0.2.100')).toBe(false);
    clock.advance(15 * SECOND);
    expect(await tries('declined', '192.0.2.100')).toBe(true);
    for (let network = 120; state.paused.length === 0; network += 1)
      expect(await tries('declined', `192.0.2.${network}`)).toBe(true);
    expect(state.paused).toHaveLength(1);
    // During the pause anybody may try a card, and another one a minute after a declined card.
    expect(await tries('declined', '192.0.2.200')).toBe(true);
    expect(await tries('declined', '192.0.2.200')).toBe(false);
    clock.advance(MINUTE);
    expect(await tries('approved', '192.0.2.200')).toBe(true);
    for (let payer = 201; payer < 240; payer += 1)
      expect(await tries('approved', `192.0.2.${payer}`)).toBe(true);
    // Approved cards of other payers end the pause.
    clock.advance(5 * MINUTE);
    for (let card = 0; card < 5; card += 1) expect(await tries('declined', '192.0.2.240')).toBe(true);
  });

  test('declined cards pause a token once for each twenty more, and late decisions count too', async () => {
    const { guard, attempt, state, clock } = shop();
    for (let card = 0; card < 39; card += 1) await guard.record(attempt(null), 'declined');
    expect(state.paused).toEqual([]);
    await Promise.all([1, 2, 3].map(() => guard.record(attempt(null), 'declined')));
    expect(state.paused.length).toBeGreaterThan(0);
    const pauses = state.paused.length;
    for (let card = 0; card < 15; card += 1) await guard.record(attempt(null), 'declined');
    expect(state.paused).toHaveLength(pauses);
    clock.advance(HOUR);
    for (let card = 0; card < 39; card += 1) await guard.record(attempt(null), 'declined');
    expect(state.paused).toHaveLength(pauses);
  });

  test('declined cards pause no account, and no payment that an API key has created', async () => {
    const { guard, attempt, state } = shop();
    for (let card = 0; card < 100; card += 1)
      await guard.record({ ...attempt(null), tokenId: null }, 'declined');
    expect(state.paused).toEqual([]);
    for (let card = 0; card < 2; card += 1)
      expect(await guard.admit({ ...attempt('192.0.2.7'), tokenId: null })).toBeNull();
    expect(await guard.admit({ ...attempt('192.0.2.7'), tokenId: null })).not.toBeNull();
  });

  test('declined cards are forgotten after a quiet hour, or where the clock was set back', async () => {
    const { clock, guard, attempt, tries } = shop();
    for (let card = 0; card < 5; card += 1) await tries('declined');
    expect(await tries('declined')).toBe(false);
    const before = shop({ clock: createManualClock(new Date(clock.now().getTime() - 48 * HOUR)) });
    expect(await before.guard.admit(attempt())).toBeNull();
    clock.advance(HOUR);
    for (let card = 0; card < 5; card += 1) expect(await tries('declined')).toBe(true);
    expect(await guard.peek(attempt())).not.toBeNull();
  });

  test('a card counts only where it was declined: not where nothing was tried, or the outcome is not known', async () => {
    const { tries, state } = shop();
    for (let card = 0; card < 20; card += 1) expect(await tries('unused')).toBe(true);
    expect(state.cards).toEqual([]);
  });

  test('cards are metered by their outcome', async () => {
    const { guard, attempt, tries, state } = shop();
    await tries('approved');
    for (let card = 0; card < 6; card += 1) await tries('declined');
    await guard.peek(attempt());
    expect(state.cards).toEqual(['approved', ...Array(5).fill('declined'), 'held_back']);
  });

  test('declined cards leave no growing number of rows', async () => {
    const { clock, tries } = shop();
    const rows = async () =>
      (
        await database.sql
          .selectFrom('rate_window')
          .select('key')
          .where('key', 'like', 'declines %')
          .execute()
      ).length;
    for (let network = 0; network < 40; network += 1) await tries('declined', `192.0.2.${network}`);
    const most = await rows();
    for (let hour = 0; hour < 4; hour += 1) {
      clock.advance(2 * HOUR);
      for (let network = 0; network < 40; network += 1) await tries('declined', `192.0.2.${network}`);
    }
    expect(await rows()).toBeLessThanOrEqual(most);
  });

  test('a token that the merchant has paused waits for the merchant, whatever the network', async () => {
    const { clock, guard, attempt, state } = shop();
    const pausedUntil = plusMs(clock.now(), 20 * MINUTE);
    state.pause = { reason: 'merchant', pausedAt: clock.now(), pausedUntil };
    // A wait until the end of the pause would show which payer caused it.
    expect(await guard.admit(attempt(null))).toEqual(plusMs(clock.now(), 5 * MINUTE));
    clock.advance(16 * MINUTE);
    expect(await guard.admit(attempt(null))).toEqual(pausedUntil);
    state.pause = { reason: 'merchant', pausedAt: clock.now(), pausedUntil: null };
    expect(await guard.admit(attempt())).toEqual(plusMs(clock.now(), 5 * MINUTE));
    state.pause = null;
    expect(await guard.admit(attempt())).toBeNull();
  });
});
