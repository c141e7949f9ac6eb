import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WIDGET_DOCUMENTS } from '../../server/src/api/operations/widget-documents.ts';
import type { BoardHost } from '../../widget/src/board/board-host.ts';
import { Hub, hubOf, type Member, subscriptionOf } from '../../widget/src/board/hub.ts';
import { boardUpdates, type Topic, walletUpdates } from '../../widget/src/board/updates.ts';
import { disputes } from '../../widget/src/disputes/disputes-kind.ts';
import { payouts } from '../../widget/src/payouts/payouts-kind.ts';
import { sales } from '../../widget/src/sales/sales-kind.ts';
import { statement } from '../../widget/src/statement/statement-kind.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { baseURI: 'https://shop.example/', hidden: false });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const FORBIDDEN = { code: 'unauthorized', reason: 'FORBIDDEN', message: 'no scope', retryable: false };

/** A hub over polls, and its members, each with the polls that wait for an answer. */
function open() {
  const host = { endpoint: '/graphql', token: 'ps_dashboard_1', transport: 'poll' } as BoardHost;
  const hub = new Hub(host);
  hub.cursor = 'u1';
  const place = () => {
    const polls: Deferred<() => void>[] = [];
    const member: Member = {
      host,
      topic: { kinds: ['WALLET'], alone: () => '' },
      cursor: undefined,
      onUpdate: () => undefined,
      poll() {
        const answer = deferred<() => void>();
        polls.push(answer);
        return answer.promise;
      },
      onConnection: () => undefined,
      onTokenExpired: () => undefined,
    };
    hub.join(member);
    const leaving = new AbortController();
    return { polls, leave: () => leaving.abort(), follow: () => hub.follow(member, leaving.signal) };
  };
  return { hub, place };
}

const refusal = () => Promise.reject(FORBIDDEN) as never;
const turns = () => vi.advanceTimersByTimeAsync(0);

test('The answer to a member that has left is not shown, and its refusal ends no other', async () => {
  const { place } = open();
  const [left, other] = [place(), place()];
  const following = [left.follow(), other.follow()];
  const ended = vi.fn();
  void following[1]!.then(ended);
  const [shownOfLeft, shown] = [vi.fn(), vi.fn()];
  await turns();
  left.leave();
  expect(await following[0]).toBeUndefined();
  left.polls[0]!.resolve(shownOfLeft);
  other.polls[0]!.resolve(shown);
  await turns();
  expect([shownOfLeft.mock.calls.length, shown.mock.calls.length]).toEqual([0, 1]);

  const joined = place();
  void joined.follow();
  await turns();
  joined.leave();
  joined.polls[0]!.resolve(refusal());
  other.polls.at(-1)!.resolve(shown);
  await turns();
  expect(shown).toHaveBeenCalledTimes(2);
  expect(ended).not.toHaveBeenCalled();
  other.leave();
});

test('A stream that lacks a scope makes the members read again, once for each token', async () => {
  const { hub, place } = open();
  const members = [place(), place()];
  const follow = async () => {
    const following = members.map((member) => member.follow());
    await turns();
    members[0]!.polls.at(-1)!.resolve(refusal());
    return Promise.all(following);
  };
  expect(await follow()).toEqual([undefined, undefined]);
  expect(hub.cursor).toBeUndefined();
  hub.cursor = 'u2';
  expect(await follow()).toEqual([FORBIDDEN, FORBIDDEN]);
  hub.token = 'ps_dashboard_2';
  hub.cursor = 'u3';
  expect(await follow()).toEqual([undefined, undefined]);
});

test('An element with a function alone joins the hub whose token came from it, and gets that token', () => {
  const renewToken = async () => 'ps_dashboard_1';
  const host = (given: object) =>
    ({ endpoint: '/graphql', transport: 'poll', renewToken, ...given }) as BoardHost;
  const first = { host: host({}) } as Member;
  const hub = hubOf(first.host);
  hub.join(first);
  hub.token = 'ps_dashboard_1';
  const [second, stranger] = [
    { host: host({}) } as Member,
    { host: host({ renewToken: () => '' }) } as Member,
  ];
  expect(hubOf(second.host)).toBe(hub);
  hub.join(second);
  expect([first.host.token, second.host.token]).toEqual(['ps_dashboard_1', 'ps_dashboard_1']);
  expect(hubOf(stranger.host)).not.toBe(hub);
  for (const member of [first, second]) hub.leave(member);
});

test('A token that the page has removed does not come back from the hub of before', () => {
  const renewToken = () => 'ps_dashboard_2';
  const place = () =>
    ({ host: { endpoint: '/graphql', transport: 'poll', renewToken } as unknown as BoardHost }) as Member;
  const [first, second, later] = [place(), place(), place()];
  const old = hubOf(first.host);
  for (const member of [first, second]) old.join(member);
  old.token = 'ps_dashboard_1';
  for (const { host } of [first, second]) host.token = undefined;
  const hub = hubOf(first.host, old);
  expect(hub).not.toBe(old);
  old.leave(first);
  hub.join(first);
  // One that is read before the second is, and one that has just been inserted.
  expect([hubOf(second.host, old), hubOf(later.host)]).toEqual([hub, hub]);
  expect(first.host.token).toBeUndefined();
  // It alone was cleared: another one that keeps the token does not give it back either.
  second.host.token = 'ps_dashboard_1';
  expect(hubOf(first.host, hub)).toBe(hub);
  for (const [of, member] of [
    [old, second],
    [hub, first],
  ] as const)
    of.leave(member);
});

test('A member that has left before it follows opens no stream', async () => {
  const { place } = open();
  const member = place();
  member.leave();
  expect(await member.follow()).toBeUndefined();
  await turns();
  expect(member.polls).toEqual([]);
});

test('A first reading is repeated where a member has brought a cursor meanwhile', async () => {
  const { hub } = open();
  hub.cursor = undefined;
  const answers = [deferred<string>(), deferred<string>()];
  const read = vi.fn(() => answers[read.mock.calls.length - 1]!.promise);
  const reading = hub.read(read);
  hub.cursor = 'u5';
  answers[0]!.resolve('u3');
  await turns();
  expect([read.mock.calls.length, hub.cursor]).toEqual([2, 'u5']);
  answers[1]!.resolve('u6');
  await reading;
  expect(hub.cursor).toBe('u5');
});

test('Every set of elements follows by its own document or by that of all, which servers trust', () => {
  const wallet = { kinds: ['WALLET'], alone: walletUpdates, among: boardUpdates };
  const topics: Topic[] = [wallet, ...[payouts, disputes, sales, statement].map(({ topic }) => topic)];
  for (let set = 1; set < 2 ** topics.length; set += 1) {
    const members = topics.filter((_, index) => set & (1 << index));
    const document = subscriptionOf(members);
    expect(document).toBe(members.length > 1 ? boardUpdates() : members[0]!.alone());
    expect(WIDGET_DOCUMENTS).toContain(document);
  }
  const streams = WIDGET_DOCUMENTS.filter((document) => document.includes(' BoardUpdates('));
  // That of all, and that of a list of the console, which is alone on its page.
  expect(streams).toHaveLength(topics.length + 2);
});
