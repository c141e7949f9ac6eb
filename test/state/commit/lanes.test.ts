import { describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { createLane, type Waiting } from '../../../server/src/state/commit/lanes.ts';

const tenantOf = (accountId: string): Tenant => ({ accountId, environment: 'live' });

function waiting(accountId: string, number: number): Waiting & { name: string } {
  const name = `${accountId}${number}`;
  const command = {
    tenant: tenantOf(accountId),
    read: async () => undefined,
    decide: () => ({ outcome: name }),
  };
  return { name, inTrace: (work) => work(), command, resolve: () => undefined, reject: () => undefined };
}

/** The names of the commands in a group. */
const named = (group: readonly Waiting[]) => group.map((each) => (each as Waiting & { name: string }).name);
const numbered = (accountId: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${accountId}${from + index}`);

describe('a lane', () => {
  test('A group has up to 64 commands of one tenant, in the order of their arrival', () => {
    const lane = createLane();
    for (let number = 1; number <= 70; number += 1) lane.add(waiting('a', number));
    expect(named(lane.takeGroup())).toEqual(numbered('a', 1, 64));
    expect(named(lane.takeGroup())).toEqual(numbered('a', 65, 70));
    expect(lane.size).toBe(0);
  });

  test('A group has at most 16 commands of one tenant while others wait, and the others are in it', () => {
    const lane = createLane();
    for (let number = 1; number <= 40; number += 1) lane.add(waiting('a', number));
    lane.add(waiting('b', 1));
    lane.add(waiting('c', 1));
    expect(named(lane.takeGroup())).toEqual([...numbered('a', 1, 16), 'b1', 'c1']);
    expect(named(lane.takeGroup())).toEqual(numbered('a', 17, 40));
  });

  test('Tenants with thousands of commands delay a command of another by one group', () => {
    const lane = createLane();
    for (const busy of ['a', 'b', 'c', 'd', 'e'])
      for (let number = 1; number <= 2_000; number += 1) lane.add(waiting(busy, number));
    lane.add(waiting('f', 1));
    const first = named(lane.takeGroup());
    expect(first).toHaveLength(64);
    expect(named(lane.takeGroup())).toContain('f1');
    // What is left of each is still in its order.
    const rest: string[] = [];
    while (lane.size > 0) rest.push(...named(lane.takeGroup()));
    expect(rest.filter((name) => name.startsWith('e')).at(-1)).toBe('e2000');
    expect(rest.filter((name) => name.startsWith('a'))).toEqual(
      numbered('a', 2_001 - rest.filter((name) => name.startsWith('a')).length, 2_000),
    );
  });

  test('The commands of one tenant, or of all, can be taken from a lane', () => {
    const lane = createLane();
    for (const [accountId, number] of [
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ] as const)
      lane.add(waiting(accountId, number));
    expect(named(lane.takeOf('a/live'))).toEqual(['a1', 'a2']);
    expect(lane.takeOf('a/live')).toEqual([]);
    expect(named(lane.takeAll())).toEqual(['b1']);
    expect(lane.size).toBe(0);
  });

  test('A tenant whose commands are under way is in no other group, and keeps its place', () => {
    const lane = createLane();
    for (const [accountId, number] of [
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['c', 1],
    ] as const)
      lane.add(waiting(accountId, number));
    expect(named(lane.takeGroup(new Set(['a/live'])))).toEqual(['b1', 'c1']);
    expect(lane.takeGroup(new Set(['a/live']))).toEqual([]);
    lane.add(waiting('d', 1));
    expect(lane.size).toBe(3);
    expect(named(lane.takeGroup())).toEqual(['a1', 'a2', 'd1']);
  });
});
