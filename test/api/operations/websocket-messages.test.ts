import { expect, test } from 'vitest';
import { unknownInPayload } from '../../../server/src/api/operations/websocket-messages.ts';

test('A payload may have what Apollo Client and urql add to a request, and nothing that may be variables', () => {
  const payload = { query: '{ a }', variables: {}, operationName: 'A', extensions: {} };
  expect(unknownInPayload({ ...payload, operationType: 'subscription' })).toBeNull();
  expect(unknownInPayload({ ...payload, key: '4f', context: { url: '/graphql' } })).toBeNull();
  expect(unknownInPayload({ query: '{ a }', vars: {} })).toBe('The payload has no member vars');
});
