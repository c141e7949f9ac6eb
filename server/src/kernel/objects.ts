import { isDeepStrictEqual } from 'node:util';

/** Whether two states are the same to callers and to later claims. */
export function isUnchanged(left: object, right: object): boolean {
  // As JSON, in which a snapshot is stored: without members that are undefined.
  return isDeepStrictEqual(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)));
}

/** Copies an object without the members that are undefined. */
export function withoutUndefined<Members extends object>(members: Members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]: Exclude<Members[Name], undefined>;
  };
}
