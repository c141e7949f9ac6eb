import { describe, expect, it } from 'vitest';
import { RateLimitError } from '../../server/src/kernel/errors.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { createPoller, type PollTargets } from '../../server/src/upstream/poller.ts';
import { cannotAsk } from '../../server/src/upstream/responses.ts';
import { UpstreamFault } from '../../server/src/upstream/upstream.ts';
import { createManualClock } from '../support/clock.ts';

const LIVE: Tenant = { accountId: 'acc_1', environment: 'live' };
const SANDBOX: Tenant = { accountId: 'acc_1', environment: 'sandbox' };
const SECOND = 1_000;

/** A poller whose polls of payouts the test answers. */
function start() {
  const clock = createManualClock();
  const polls: { tenant: Tenant; wanted: PollTargets; at: number }[] = [];
  const started = clock.now().getTime();
  let answer: () => Promise<Date | null> = async () => null;
  const faults: unknown[] = [];
  const never = { poll: () => Promise.reject(new Error('not followed')) };
  const watch = createPoller({
    clock,
    slices: {
      payout: {
        poll(tenant, wanted) {
          polls.push({ tenant, wanted, at: clock.now().getTime() - started });
          return answer();
        },
      },
      wallet: never,
      card_payment: never,
      charge: never,
      dispute: never,
      payment: never,
      refund: never,
      subaccount_payout: never,
      subscription: never,
    },
    onFault: (fault) => faults.push(fault),
  });
  return {
    clock,
    polls,
    watch,
    faults,
    answering: (next: () => Promise<Date | null>) => {
      answer = next;
    },
    every: (ms: number) => {
      answer = async () => new Date(clock.now().getTime() + ms);
    },
    /** Advances the clock in steps, so that begun polls end in between. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        await turn();
      }
    },
  };
}

async function turn() {
  for (let index = 0; index < 3; index += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('polling', () => {
  it('a followed resource is polled once, however many follow it', async () => {
    const { watch, polls, every } = start();
    every(10 * SECOND);

    for (let tailer = 0; tailer < 5_000; tailer += 1) watch.join(LIVE, 'payout', `payout-${tailer % 200}`);
    await turn();

    expect(polls).toHaveLength(1);
    expect(polls[0]?.wanted.ids).toHaveLength(200);
    expect(polls[0]?.wanted.all).toBe(false);
  });

  it('a poll is repeated when its poller says, and ends with its last follower', async () => {
    const { watch, polls, every, pass } = start();
    every(2 * SECOND);
    const leave = [watch.join(LIVE, 'payout', 'p1'), watch.join(LIVE, 'payout', 'p1')];
    await turn();

    await pass(4 * SECOND);
    expect(polls.map(({ at }) => at)).toEqual([0, 2 * SECOND, 4 * SECOND]);
    leave[0]!();
    leave[0]!();
    await pass(2 * SECOND);
    expect(polls).toHaveLength(4);
    leave[1]!();
    await pass(60 * SECOND);
    expect(polls).toHaveLength(4);
  });

  it('a resource that cannot change is not polled again until it is known to have changed', async () => {
    const { watch, polls, pass } = start();
    watch.join(LIVE, 'payout', 'p1');
    await turn();
    await pass(60 * SECOND);
    expect(polls).toHaveLength(1);

    watch.pollNow(LIVE, 'payout');
    watch.pollNow(SANDBOX, 'payout');
    await turn();
    expect(polls).toHaveLength(2);
    expect(polls[0]!.wanted).not.toHaveProperty('isChanged');
    expect(polls[1]!.wanted).toMatchObject({ isChanged: true });
  });

  it('a resource that changed while it was polled is polled once more', async () => {
    const { watch, polls, answering } = start();
    let end!: () => void;
    const first = new Promise<void>((resolve) => {
      end = resolve;
    });
    answering(() => first.then(() => null));
    watch.join(LIVE, 'payout', null);
    await turn();
    watch.pollNow(LIVE, 'payout');
    await turn();
    expect(polls).toHaveLength(1);

    end();
    await turn();
    expect(polls).toHaveLength(2);
  });

  it('live and sandbox are polled apart', async () => {
    const { watch, polls } = start();
    watch.join(LIVE, 'payout', 'p1');
    watch.join(SANDBOX, 'payout', null);
    await turn();

    expect(polls.map(({ tenant, wanted }) => [tenant.environment, wanted])).toEqual([
      ['live', { all: false, ids: ['p1'] }],
      ['sandbox', { all: true, ids: [] }],
    ]);
  });
});

describe('a poll that fails', () => {
  it('a poll without a slot is repeated when the budget has room', async () => {
    const { watch, polls, answering, pass, faults } = start();
    answering(() => Promise.reject(new RateLimitError('120 requests a minute', 7)));
    watch.join(LIVE, 'payout', null);
    await turn();
    await pass(7 * SECOND);

    expect(polls.map(({ at }) => at)).toEqual([0, 7 * SECOND]);
    expect(faults).toEqual([]);
  });

  it('a poll that fails is repeated after a moment, and an internal fault is reported', async () => {
    const { watch, polls, answering, pass, faults } = start();
    answering(() => Promise.reject(new UpstreamFault('timeout', 'maybe')));
    watch.join(LIVE, 'payout', null);
    await turn();
    await pass(5 * SECOND);
    expect(polls).toHaveLength(2);
    expect(faults).toEqual([]);

    answering(() => Promise.reject(cannotAsk()));
    await pass(5 * SECOND);
    expect(polls).toHaveLength(3);
    expect(faults).toEqual([]);

    answering(() => Promise.reject(new TypeError('ours')));
    await pass(5 * SECOND);
    expect(polls).toHaveLength(4);
    expect(faults).toEqual([new TypeError('ours')]);
  });

  it('a poll that fails after a change is repeated as one after a change', async () => {
    const { watch, polls, answering, pass, every } = start();
    every(60 * SECOND);
    watch.join(LIVE, 'payout', null);
    await turn();
    answering(() => Promise.reject(new UpstreamFault('timeout', 'maybe')));
    watch.pollNow(LIVE, 'payout');
    await turn();
    every(60 * SECOND);
    await pass(65 * SECOND);
    expect(polls.map(({ wanted }) => wanted.isChanged ?? false)).toEqual([false, true, true, false]);
  });

  it('a failing poll is the last when the poller is closed', async () => {
    const { watch, polls, every, pass } = start();
    every(SECOND);
    watch.join(LIVE, 'payout', null);
    await turn();
    await watch.close();
    await pass(10 * SECOND);

    expect(polls).toHaveLength(1);
  });
});
