import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCursors, newCursorKey } from '../../server/src/kernel/cursor.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';

const KEY = Uint8Array.from({ length: 16 }, (_, index) => index);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const cursorsFor = createCursors(KEY);
const live: Tenant = { accountId: 'acc_1', environment: 'live' };
const cursors = cursorsFor(live, 'updates');

const positions = fc.oneof(fc.maxSafeInteger(), fc.nat(1000));
const tenants = fc.record<Tenant>({
  accountId: fc.string(),
  environment: fc.constantFrom('live', 'sandbox'),
});
const purposes = fc.constantFrom('updates', 'cardPayments', 'payouts');

describe('a cursor', () => {
  test('A cursor leads back to its position on every server with the same key', () => {
    fc.assert(
      fc.property(tenants, purposes, positions, (tenant, purpose, position) => {
        const cursor = cursorsFor(tenant, purpose).encode(position);
        expect(cursor).toMatch(/^[\w-]{22}$/);
        expect(createCursors(KEY)(tenant, purpose).decode(cursor)).toBe(position);
        expect(cursorsFor(tenant, purpose).encode(position)).toBe(cursor);
      }),
    );
  });

  test('A cursor of a log holds its position and its mark, and one without a mark is that of the previous release', () => {
    const [versions, marks] = [fc.nat(2 ** 40 - 1), fc.nat(2 ** 24 - 1)];
    fc.assert(
      fc.property(tenants, versions, marks, (tenant, position, mark) => {
        const own = cursorsFor(tenant, 'updates');
        expect(own.decodeMarked(own.encode(position, mark))).toEqual({ position, mark });
        expect(own.encode(position, 0)).toBe(own.encode(position));
        expect(own.decodeMarked(cursorsFor(tenant, 'payouts').encode(position, mark))).toBeNull();
      }),
    );
  });

  test('A cursor stays the same from one release to the next', () => {
    expect(cursors.encode(1)).toBe('R-ZXwFztj-ZXWlJtAavU2w');
    expect(cursorsFor(live, 'cardPayments').encode(1)).toBe('dpZOOXxWxrh7g-c1r0S_og');
  });

  test('A cursor of another tenant or another purpose is invalid', () => {
    fc.assert(
      fc.property(tenants, tenants, purposes, purposes, positions, (one, two, from, to, position) => {
        fc.pre(one.accountId !== two.accountId || one.environment !== two.environment || from !== to);
        expect(cursorsFor(two, to).decode(cursorsFor(one, from).encode(position))).toBeNull();
      }),
    );
  });

  test('A cursor of another key is invalid', () => {
    const other = createCursors(newCursorKey())(live, 'updates');
    expect(other.decode(cursors.encode(1))).toBeNull();
  });

  test('A cursor with any one character changed is invalid', () => {
    const cursor = cursors.encode(7);
    for (let at = 0; at < cursor.length; at += 1)
      for (const character of ALPHABET) {
        const changed = cursor.slice(0, at) + character + cursor.slice(at + 1);
        expect(cursors.decode(changed)).toBe(changed === cursor ? 7 : null);
      }
  });

  test.each([
    ['nothing', () => ''],
    ['one character less', (cursor: string) => cursor.slice(1)],
    ['one character more', (cursor: string) => `${cursor}A`],
    ['padding', (cursor: string) => `${cursor}==`],
    ['a space before it', (cursor: string) => ` ${cursor}`],
    ['a space in place of its last', (cursor: string) => `${cursor.slice(0, -1)} `],
    ['it twice', (cursor: string) => cursor + cursor],
    ['another case', (cursor: string) => cursor.toLowerCase()],
    ['as many characters of no alphabet', () => 'é'.repeat(22)],
    ['a very long text', () => 'A'.repeat(1_000_000)],
    ['what it was once: the position to be read', () => Buffer.from('v1:7').toString('base64url')],
  ])('A text in place of a cursor is invalid: %s', (_, made) => {
    expect(cursors.decode(made(cursors.encode(7)))).toBeNull();
    // The failed attempt leaves no state behind that the next could meet.
    expect(cursors.decode(cursors.encode(8))).toBe(8);
  });

  test('A cursor in the other alphabet of base64 is invalid', () => {
    const position = Array.from({ length: 1000 }, (_, index) => index).find((each) =>
      /[-_]/.test(cursors.encode(each)),
    )!;
    const other = Buffer.from(cursors.encode(position), 'base64url').toString('base64').slice(0, 22);
    expect(cursors.decode(other)).toBeNull();
    expect(cursors.decode(cursors.encode(position))).toBe(position);
  });

  test('A cursor shows neither its position nor which of two cursors is the later one', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), (position) => {
        const [one, next] = [position, position + 1].map((each) =>
          Buffer.from(cursors.encode(each), 'base64url'),
        );
        const same = one!.filter((byte, index) => byte === next![index]).length;
        expect(same).toBeLessThan(8);
      }),
    );
  });
});

test('A new key of cursors is different each time', () => {
  const [one, two] = [newCursorKey(), newCursorKey()];
  expect(one).toHaveLength(16);
  expect(one).not.toEqual(two);
});
