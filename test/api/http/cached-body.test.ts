import { expect, test } from 'vitest';
import { createCachedBody } from '../../../server/src/api/http/cached-body.ts';

test('A body is compressed once for all requests of an encoding, and again after a failure', async () => {
  const asked: string[] = [];
  let fails = true;
  const body = createCachedBody(Buffer.from('long'), async (plain, encoding) => {
    asked.push(encoding);
    if (fails) throw new Error('no memory');
    return Buffer.from(`${encoding} of ${plain}`);
  });
  await expect(body.compress('br')).rejects.toThrow('no memory');
  fails = false;
  const both = await Promise.all([body.compress('br'), body.compress('br'), body.compress('gzip')]);
  expect([...both, await body.compress('br')].map(String)).toEqual([
    'br of long',
    'br of long',
    'gzip of long',
    'br of long',
  ]);
  expect(asked).toEqual(['br', 'br', 'gzip']);
});
