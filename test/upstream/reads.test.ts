import { describe, expect, test } from 'vitest';
import { createOffsetClock } from '../../server/src/kernel/clock.ts';
import { RateLimitError } from '../../server/src/kernel/errors.ts';
import { createReads } from '../../server/src/upstream/reads.ts';
import {
  type Upstream,
  type UpstreamAnswer,
  UpstreamFault,
  type UpstreamPriority,
} from '../../server/src/upstream/upstream.ts';
import { createManualClock } from '../support/clock.ts';

interface Asked {
  environment: string;
  path: string;
  class: UpstreamPriority;
  answer(body: unknown, status?: number): void;
  fail(error: unknown): void;
}

function start(limit?: { entries: number; bytes: number }) {
  const clock = createManualClock();
  const asked: Asked[] = [];
  const sources: string[] = [];
  const upstream: Pick<Upstream, 'get'> = {
    get: ({ environment, path, requestOptions }) =>
      new Promise<UpstreamAnswer>((resolve, reject) => {
        asked.push({
          environment,
          path,
          class: requestOptions.priority,
          answer: (body, status = 200) => resolve({ status, body, headers: {} }),
          fail: reject,
        });
      }),
  };
  const reads = createReads({
    upstream,
    clock,
    ...(limit ? { limit } : {}),
    onRead: (of, source) => sources.push(`${of} ${source}`),
  });
  const get = (path: `/v1/${string}`, maxAgeMs = 0, of: UpstreamPriority = 'query') =>
    reads.get('live', path, { requestOptions: { priority: of }, maxAgeMs });
  /** Reads the path from the service. */
  const read = async (path: `/v1/${string}`, body: unknown) => {
    const answered = get(path);
    asked.at(-1)!.answer(body);
    return answered;
  };
  return { clock, asked, sources, reads, get, read };
}

const outOfTurn = () => new RateLimitError('120 requests a minute to the payments service', 30);
const down = () => new UpstreamFault('timeout', 'maybe');

describe('reads', () => {
  test('identical reads under way are one request; those of another path or environment are not', async () => {
    const { asked, reads, get, sources, clock } = start();
    const same = Array.from({ length: 100 }, () => get('/v1/wallet'));
    const other = get('/v1/products');
    const elsewhere = reads.get('sandbox', '/v1/wallet', {
      requestOptions: { priority: 'query' },
      maxAgeMs: 0,
    });
    expect(asked.map(({ environment, path }) => `${environment} ${path}`)).toEqual([
      'live /v1/wallet',
      'live /v1/products',
      'sandbox /v1/wallet',
    ]);
    const began = clock.now();
    clock.advance(300);
    for (const [index, { answer }] of asked.entries()) answer({ index });
    for (const read of await Promise.all(same))
      expect(read).toEqual({ status: 200, body: { index: 0 }, at: began, stale: false });
    expect((await other).body).toEqual({ index: 1 });
    expect((await elsewhere).body).toEqual({ index: 2 });
    expect(sources.filter((each) => each === 'query shared')).toHaveLength(99);
  });

  test('a request of its own is sent even while one is under way, and the next reads share it', async () => {
    const { asked, reads, get } = start();
    const before = get('/v1/wallet');
    const own = reads.get('live', '/v1/wallet', {
      requestOptions: { priority: 'lookup' },
      maxAgeMs: 0,
      isOwnRequest: true,
    });
    const shared = get('/v1/wallet');
    expect(asked.map((each) => each.class)).toEqual(['query', 'lookup']);
    for (const [index, { answer }] of asked.entries()) answer({ index });
    expect((await before).body).toEqual({ index: 0 });
    expect((await own).body).toEqual({ index: 1 });
    expect((await shared).body).toEqual({ index: 1 });
  });

  test('a read is answered from memory for as long as its caller allows, and not a moment longer', async () => {
    const { asked, read, get, clock, sources } = start();
    await read('/v1/wallet', 'old');
    clock.advance(1_999);
    expect(await get('/v1/wallet', 2_000)).toMatchObject({ body: 'old', stale: false });
    expect(sources.at(-1)).toBe('query memory');
    clock.advance(1);
    const next = get('/v1/wallet', 2_000);
    asked.at(-1)!.answer('new');
    expect((await next).body).toBe('new');
    expect((await get('/v1/wallet', Number.POSITIVE_INFINITY)).body).toBe('new');
    expect(asked).toHaveLength(2);
  });

  test('an answer from before the clock was set back gives way to one of now', async () => {
    const clock = createOffsetClock(createManualClock());
    let asked = 0;
    const upstream = { get: async () => ({ status: 200, body: ++asked, headers: {} }) };
    const reads = createReads({ upstream, clock });
    const get = () =>
      reads.get('live', '/v1/wallet', { requestOptions: { priority: 'query' }, maxAgeMs: 2_000 });
    clock.setOffset(3_600_000);
    await get();
    clock.setOffset(0);
    for (let time = 0; time < 2; time += 1) expect((await get()).body).toBe(2);
  });

  test('a refusal is cached as an answer is', async () => {
    const { asked, get } = start();
    const first = get('/v1/products/none');
    asked[0]!.answer({ error: 'Product not found' }, 404);
    expect((await first).status).toBe(404);
    expect((await get('/v1/products/none', 1_000)).status).toBe(404);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['the budget is spent', outOfTurn],
    ['the service fails', down],
  ])(
    'a read gives the last known answer where %s, marked as stale; where nothing is known it fails',
    async (_, because) => {
      const { asked, read, get, clock, sources } = start();
      const first = get('/v1/wallet');
      asked[0]!.fail(because());
      await expect(first).rejects.toThrow(because().message);
      const { at } = await read('/v1/wallet', 'known');
      clock.advance(3_600_000);
      const next = get('/v1/wallet', 1_000);
      asked.at(-1)!.fail(because());
      expect(await next).toEqual({ status: 200, body: 'known', at, stale: true });
      expect(sources.at(-1)).toBe('query stale');
    },
  );

  test('a body that is nested without end cannot be read, and the last known answer is given', async () => {
    const { asked, read, get } = start();
    const depth = 200_000;
    const endless = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    await expect(read('/v1/wallet', endless)).rejects.toMatchObject({ kind: 'unreadable' });
    await read('/v1/wallet', 'known');
    const next = get('/v1/wallet');
    asked.at(-1)!.answer(endless);
    expect(await next).toMatchObject({ body: 'known', stale: true });
  });

  test('an internal fault of a read is not hidden by an older answer', async () => {
    const { asked, read, get } = start();
    await read('/v1/wallet', 'known');
    const next = get('/v1/wallet');
    asked.at(-1)!.fail(new Error('the database is gone'));
    await expect(next).rejects.toThrow('the database is gone');
  });

  test('reads of a higher class that shared a request without a slot are sent themselves, once for all', async () => {
    const { asked, get, sources } = start();
    const poll = get('/v1/wallet', 0, 'poll');
    const queries = Array.from({ length: 3 }, () => get('/v1/wallet'));
    const otherPoll = get('/v1/wallet', 0, 'poll');
    expect(asked).toHaveLength(1);
    asked[0]!.fail(outOfTurn());
    await expect(poll).rejects.toThrow(RateLimitError);
    await expect(otherPoll).rejects.toThrow(RateLimitError);
    expect(asked.map(({ class: of }) => of)).toEqual(['poll', 'query']);
    asked[1]!.answer('now');
    for (const read of await Promise.all(queries)) expect(read.body).toBe('now');
    expect(sources).toEqual(['query upstream', 'query shared', 'query shared']);
  });
});

describe('after a write', () => {
  test('nothing that was read before a write is fresh; it stays the last known answer', async () => {
    const { asked, read, reads, get } = start();
    await read('/v1/wallet', 'before');
    reads.forget('sandbox');
    expect((await get('/v1/wallet', 60_000)).body).toBe('before');
    reads.forget('live');
    const next = get('/v1/wallet', 60_000);
    asked.at(-1)!.fail(down());
    expect(await next).toMatchObject({ body: 'before', stale: true });
    const after = get('/v1/wallet', 60_000);
    asked.at(-1)!.answer('after');
    expect(await after).toMatchObject({ body: 'after', stale: false });
    expect((await get('/v1/wallet', 60_000)).body).toBe('after');
    expect(asked).toHaveLength(3);
  });

  test('a reading that began before a write is not shared, and does not replace a later one', async () => {
    const { asked, reads, get } = start();
    const early = get('/v1/wallet', 60_000);
    reads.forget('live');
    const late = get('/v1/wallet', 60_000);
    const later = get('/v1/wallet', 60_000);
    expect(asked).toHaveLength(2);
    asked[1]!.answer('after');
    expect((await late).body).toBe('after');
    asked[0]!.answer('before');
    expect((await early).body).toBe('before');
    expect((await later).body).toBe('after');
    expect((await get('/v1/wallet', 60_000)).body).toBe('after');
    expect(asked).toHaveLength(2);
  });

  test('a reading that began before a write and ends alone is the last known answer, not a fresh one', async () => {
    const { asked, reads, get } = start();
    const early = get('/v1/wallet', 60_000);
    reads.forget('live');
    asked[0]!.answer('before');
    await early;
    const next = get('/v1/wallet', 60_000);
    expect(asked).toHaveLength(2);
    asked[1]!.fail(outOfTurn());
    expect(await next).toMatchObject({ body: 'before', stale: true });
  });
});

describe('the memory', () => {
  test('the memory holds a number of answers, and drops the least recently used', async () => {
    const { asked, read, get } = start({ entries: 3, bytes: 10_000 });
    for (const name of ['a', 'b', 'c'] as const) await read(`/v1/${name}`, name);
    await get('/v1/a', 60_000);
    await read('/v1/d', 'd');
    const before = asked.length;
    for (const name of ['a', 'c', 'd'] as const) expect((await get(`/v1/${name}`, 60_000)).body).toBe(name);
    expect(asked).toHaveLength(before);
    const again = get('/v1/b', 60_000);
    expect(asked).toHaveLength(before + 1);
    asked.at(-1)!.answer('b');
    await again;
  });

  test('the memory holds a number of bytes, and never an answer that is larger than all of it', async () => {
    const { asked, read, get } = start({ entries: 100, bytes: 1_500 });
    await read('/v1/a', 'a'.repeat(400));
    await read('/v1/b', 'b'.repeat(400));
    await read('/v1/b', 'b'.repeat(500));
    await read('/v1/huge', 'h'.repeat(2_000));
    const before = asked.length;
    await get('/v1/a', 60_000);
    await get('/v1/b', 60_000);
    expect(asked).toHaveLength(before);
    await read('/v1/c', 'c'.repeat(400));
    await get('/v1/b', 60_000);
    expect(asked).toHaveLength(before + 1);
    void get('/v1/a', 60_000);
    void get('/v1/huge', 60_000);
    expect(asked).toHaveLength(before + 3);
  });
});
