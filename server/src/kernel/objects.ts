import { isDeepStrictEqual } from 'node:util';

/** Whether two objects have the same JSON. Snapshots are stored as JSON, which has no undefined members. */
export function isUnchanged(left: object, right: object): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)));
}

/** Copies an object without the members that are undefined. */
export function withoutUndefined<Members extends object>(members: Members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]: Exclude<Members[Name], undefined>;
  };
}
