import { isDeepStrictEqual } from 'node:util';

/** Whether two objects have the same JSON. Snapshots are stored as JSON, which has no undefined members. */
export function isUnchanged(left: object, right: object): boolean {
  const [before, after] = [JSON.stringify(left), JSON.stringify(right)];
  // Most have their members in the same order. Those of a snapshot out of `jsonb` may have another.
  return before === after || isDeepStrictEqual(JSON.parse(before), JSON.parse(after));
}

/** Copies an object without the members that are undefined. */
export function withoutUndefined<Members extends object>(members: Members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]: Exclude<Members[Name], undefined>;
  };
}
