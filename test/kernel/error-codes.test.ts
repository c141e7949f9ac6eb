import { type GraphQLEnumType, type GraphQLInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { statusOf } from '../../server/src/api/http/rest.ts';
import { CODE_ROWS, isErrorCode, RETRIES, retryOf } from '../../server/src/kernel/error-codes.ts';
import { schema } from '../../server/src/programs/modes/schema.ts';

// The one table of codes: what GraphQL, REST and the documents say of an error comes from it.

test('Each code says what is done, in one of the words of the schema', () => {
  for (const [code, { retry, meaning }] of CODE_ROWS) {
    expect(retryOf(code)).toBe(retry);
    expect(meaning).toMatch(/^[A-Z].*[^.]$/);
  }
  const words = (schema.getType('RetryPolicy') as GraphQLEnumType).getValues().map(({ name }) => name);
  expect(words.sort()).toEqual(Object.keys(RETRIES).sort());
  expect(isErrorCode('A_LATER_CODE') || isErrorCode('toString')).toBe(false);
});

test('The schema has the codes of result unions, each with a type that implements UserError', () => {
  const inUnions = CODE_ROWS.filter(([, { type }]) => type !== null);
  const { getValues } = schema.getType('ErrorCode') as GraphQLEnumType;
  const values = getValues.call(schema.getType('ErrorCode'));
  expect(values.map(({ name }) => name).sort()).toEqual(inUnions.map(([code]) => code).sort());
  const userError = schema.getType('UserError') as GraphQLInterfaceType;
  const types = schema.getPossibleTypes(userError).map(({ name }) => name);
  expect(types.slice().sort()).toEqual([...new Set(inUnions.map(([, { type }]) => type))].sort());
  for (const name of types) expect(isObjectType(schema.getType(name))).toBe(true);
});

test('“Unavailable” is a word of codes that a retry with the same key may resolve, and of no other', () => {
  for (const [code, { retry, type }] of CODE_ROWS)
    if (/UNAVAILABLE/.test(code)) expect([code, retry]).toEqual([code, 'SAME_KEY']);
    else expect(type ?? '').not.toMatch(/unavailable/i);
});

test('A status of HTTP does not contradict the retry', () => {
  for (const [code, { retry }] of CODE_ROWS) {
    if (statusOf(code) === 503) expect([code, retry]).toEqual([code, 'SAME_KEY']);
    if (statusOf(code) === 504 || statusOf(code) === 500) expect([code, retry]).toEqual([code, 'LOOK_UP']);
  }
});
