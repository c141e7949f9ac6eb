import { expect, test } from 'vitest';
import {
  invalidInput,
  isKeyConflict,
  messageOf,
  namedRefusal,
  noEndpoint,
  refusalOf,
  toUpstreamError,
  unreadable,
  withNotOffered,
} from '../../server/src/upstream/responses.ts';

const answer = (error: string, code?: string) => ({
  body: { error },
  headers: code === undefined ? {} : { 'x-error-code': code },
});

test.each([
  ['This idempotency key was used before', undefined, true],
  ['Conflito', undefined, false],
  ['Conflito', 'IDEMPOTENCY_CONFLICT', true],
  ['Nothing of an idempotency key is refundable', 'NOT_REFUNDABLE', false],
])('A 409 that says "%s" with the code %s: that it is about the key is %s', (message, code, expected) => {
  expect(isKeyConflict(answer(message, code))).toBe(expected);
});

test.each([
  ['DISPUTE_STATE', { code: 'DISPUTE_STATE', message: 'no' }],
  ['ORDER_PAID', { code: 'ORDER_PAID', message: 'no' }],
  ['BANK_REFUSED', { code: 'BANK_REFUSED', message: 'no', retryable: false }],
])('A refusal that the service names %s reaches the caller as itself', (code, refusal) => {
  expect(namedRefusal(answer('no', code))).toMatchObject(refusal);
  expect(refusalOf({ status: 409, ...answer('no', code) })).toMatchObject(refusal);
});

test('A code that is unknown, is of a transport, or has no words is not passed on', () => {
  for (const each of [answer('no'), answer('no', 'A_LATER_CODE'), answer('no', 'UNAVAILABLE')])
    expect(namedRefusal(each)).toBeNull();
  expect(namedRefusal({ body: null, headers: { 'x-error-code': 'ORDER_PAID' } })).toBeNull();
});

test.each([
  ['valueCents: must be at least 1', 'input.valueCents', 'must be at least 1'],
  ['input.content.codes.0: is a code of before', 'input.content.codes.0', 'is a code of before'],
  ['body.amount: is too much', 'input.valueCents', 'is too much'],
  ['other.codes.0: is a code of before', 'input', 'other.codes.0: is a code of before'],
  ['content.: is odd', 'input', 'content.: is odd'],
])('A refusal "%s" is about the field %s', (text, path, message) => {
  const refused = invalidInput(text, {
    fields: ['valueCents', 'content'],
    renamed: { amount: 'valueCents' },
  });
  expect(refused.fields).toEqual([{ path, message }]);
});

test('A read that found no endpoint is not offered; a refusal and an outage stay as they are', async () => {
  const failing = (error: Error) => withNotOffered('Reading disputes', Promise.reject(error));
  await expect(failing(noEndpoint('listing disputes'))).rejects.toMatchObject({
    code: 'NOT_OFFERED',
    message: 'Reading disputes is not offered by the payments service behind this server',
  });
  for (const error of [refusalOf({ status: 401, body: {} }), toUpstreamError(unreadable())])
    await expect(failing(error)).rejects.toBe(error);
  expect(await withNotOffered('Reading disputes', Promise.resolve(7))).toBe(7);
});

test.each(['ana@example.com', 'ana%40example.com', 'YW5hQGV4YW1wbGUuY29t'])(
  'A refusal that echoes the destination of a payout does not name it: %s',
  (echoed) => {
    const body = { error: `A chave ${echoed} não existe` };
    expect(messageOf(body, { secret: 'ana@example.com' })).toMatch(/^A chave …\S? não existe$/);
  },
);
