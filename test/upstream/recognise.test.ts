import { describe, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { earliestOf, recognise, type TimeWindow, windowOf } from '../../server/src/upstream/recognise.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const BEGUN = new Date('2026-03-02T12:00:00.000Z');
const WINDOW = windowOf({ beforeMs: MINUTE, afterMs: 5 * MINUTE });
/** A window without an end, by a trusted clock. */
const OPEN_WINDOW: TimeWindow = { beforeMs: 5_000, afterMs: Number.POSITIVE_INFINITY, marginMs: 0 };

interface Item {
  id: string;
  date: Date | null;
}
/** An item with a date `ms` after the request. */
const at = (id: string, ms: number): Item => ({ id, date: plusMs(BEGUN, ms) });
const undated = (id: string): Item => ({ id, date: null });

function recognised(
  items: Item[],
  options: Partial<Parameters<typeof recognise<Item>>[0]> & { rivals?: string[] } = {},
) {
  const { rivals = [], ...rest } = options;
  const recognition = recognise<Item>({
    items,
    idOf: ({ id }) => id,
    dateOf: ({ date }) => date,
    begunAt: BEGUN,
    window: WINDOW,
    claimed: new Set(),
    hasRival: ({ id }) => rivals.includes(id),
    complete: true,
    ...rest,
  });
  const how = recognition.kind === 'unclear' ? recognition.reason : recognition.kind;
  return [how, ...recognition.items.map(({ id }) => id)].join(' ');
}

describe('the resource of a request whose answer was lost', () => {
  test.each<[string, Item[], Parameters<typeof recognised>[1], string]>([
    ['a single one in the window is it', [at('a', 0)], {}, 'one a'],
    ['the window includes its first instant', [at('a', -MINUTE)], {}, 'one a'],
    ['the window includes its last instant', [at('a', 5 * MINUTE)], {}, 'one a'],
    ['an empty list has none', [], {}, 'none'],
    ['an empty list that was not read to its beginning is unclear', [], { complete: false }, 'incomplete'],
    [
      'a single one of a list that ends too early is not taken',
      [at('a', 0)],
      { complete: false },
      'incomplete a',
    ],
    ['one that another request has made is not it', [at('a', 0)], { claimed: new Set(['a']) }, 'none'],
    [
      'one that is left when the others are claimed is it',
      [at('a', 0), at('b', 0)],
      { claimed: new Set(['a']) },
      'one b',
    ],
    ['of several none is taken', [at('a', 0), at('b', 0)], {}, 'several a b'],
    ['one that a rival may have made is not taken', [at('a', 0)], { rivals: ['a'] }, 'rival a'],
    ['a rival for another one does not matter', [at('a', 0)], { rivals: ['b'] }, 'one a'],
    ['one without a date is not taken', [undated('a')], {}, 'undated a'],
    ['one shortly before the window may be it by a wrong clock', [at('a', -MINUTE - 1)], {}, 'clock a'],
    ['one shortly after the window may be it by a wrong clock', [at('a', 5 * MINUTE + 1)], {}, 'clock a'],
    ['one at the edge of the margin may be it', [at('a', -26 * HOUR - MINUTE)], {}, 'clock a'],
    ['one at the other edge of the margin may be it', [at('a', 26 * HOUR + 5 * MINUTE)], {}, 'clock a'],
    ['one before the margin is not it', [at('a', -26 * HOUR - MINUTE - 1)], {}, 'none'],
    ['one after the margin is not it', [at('a', 26 * HOUR + 5 * MINUTE + 1)], {}, 'none'],
    ['one in the window and one near it are several', [at('a', 0), at('b', -HOUR)], {}, 'several a b'],
    ['one in the window and one far from it are one', [at('a', 0), at('b', -27 * HOUR)], {}, 'one a'],
    ['one that is listed twice is one', [at('a', 0), at('a', MINUTE)], {}, 'one a'],
    ['one that is listed in the window and outside is in it', [at('a', -HOUR), at('a', 0)], {}, 'one a'],
    ['several are reported before a rival', [at('a', 0), at('b', 0)], { rivals: ['b'] }, 'several a b'],
    ['a rival is reported before a missing date', [undated('a')], { rivals: ['a'] }, 'rival a'],
  ])('The resource of a lost request is recognised by this rule: %s', (_, items, options, expected) => {
    expect(recognised(items, options)).toBe(expected);
  });

  test.each<[string, Item[], Parameters<typeof recognised>[1], string]>([
    ['one is taken from a list that ends too early', [at('a', 0)], { complete: false }, 'one a'],
    ['none in a list that ends too early is unclear', [], { complete: false }, 'incomplete'],
    ['more than were lost are too many', [at('a', 0), at('b', 0)], {}, 'several a b'],
    ['as many as were lost leave the last', [at('a', 0), at('b', 0)], { interchangeable: 1 }, 'one b'],
    [
      'a rival that is not lost leaves none',
      [at('a', 0), at('b', 0)],
      { interchangeable: 1, rivals: ['b'] },
      'rival a b',
    ],
    ['one without a date leaves none', [undated('a'), at('b', 0)], { interchangeable: 1 }, 'undated a b'],
    ['one before the window is not it, where the clock is trusted', [at('a', -5_001)], {}, 'none'],
    ['one long after the request may be it in a window without an end', [at('a', 100 * HOUR)], {}, 'one a'],
  ])(
    'An interchangeable resource of a lost request is recognised by this rule: %s',
    (_, items, options, expected) => {
      expect(recognised(items, { interchangeable: 0, window: OPEN_WINDOW, ...options })).toBe(expected);
    },
  );

  test('a list is read back to the window and its margin', () => {
    expect(earliestOf(BEGUN, OPEN_WINDOW)).toEqual(plusMs(BEGUN, -5_000));
    expect(earliestOf(BEGUN, WINDOW)).toEqual(plusMs(BEGUN, -MINUTE - 26 * HOUR));
  });
});
