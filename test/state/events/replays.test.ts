import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createReplays } from '../../../server/src/state/events/replays.ts';

/** Limits replays by the test's clock: an update takes `msPerEvent`. */
function start(msPerEvent: number) {
  let now = 0;
  const pauses: { ms: number; then: () => void }[] = [];
  const replays = createReplays({ now: () => now, wait: (ms, then) => void pauses.push({ ms, then }) });
  const pages: { name: string; events: number }[] = [];
  /** Begins a replay of pages without end. */
  async function replay(name: string): Promise<void> {
    for (;;) {
      const { limit, end } = await replays.take();
      pages.push({ name, events: limit });
      end(limit, () => {
        now += limit * msPerEvent;
      });
    }
  }
  return { pages, pauses, replay };
}

test('However many replay, one page is handed over at a time, each in its turn, with a pause twice as long behind it', async () => {
  const { pages, pauses, replay } = start(1);
  for (const name of ['a', 'b', 'c']) void replay(name);
  for (let page = 0; page < 7; page += 1) {
    await turnOfLoop();
    expect(pages).toHaveLength(page + 1);
    expect(pauses).toHaveLength(1);
    const { ms, then } = pauses.pop()!;
    expect(ms).toBe(2 * pages[page]!.events);
    then();
  }
  expect(pages.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a']);
});

test.each([
  [0.01, 100],
  [0.1, 40],
  [0.2, 20],
  [5, 10],
])(
  'Updates of %d ms each come in pages of %d, which take no longer than a slice where they can',
  async (ms, size) => {
    const { pages, pauses, replay } = start(ms);
    void replay('a');
    await turnOfLoop();
    pauses.pop()!.then();
    await turnOfLoop();
    expect(pages.at(-1)).toEqual({ name: 'a', events: size });
  },
);

test('A turn whose page cannot be handed over ends all the same', async () => {
  const pauses: { ms: number; then: () => void }[] = [];
  const replays = createReplays({ now: () => 0, wait: (ms, then) => void pauses.push({ ms, then }) });
  const { end } = await replays.take();
  expect(() =>
    end(1, () => {
      throw new Error('a fault');
    }),
  ).toThrow('a fault');
  pauses.pop()!.then();
  expect(await replays.take()).toMatchObject({ limit: 100 });
});
