import { expect, test, vi } from 'vitest';
import { type Answerable, newKey, PageRequest } from '../../widget/src/board/page-request.ts';

test.each([
  ['nothing', undefined, 'done', ''],
  ['words', { message: 'Saldo insuficiente.' }, 'refused', 'Saldo insuficiente.'],
  ['words that are empty', { message: '' }, 'failed', ''],
  ['a Response of fetch', new Response('no', { status: 500 }), 'failed', ''],
  ['whether it was done', false, 'failed', ''],
])('An answer that is %s', async (_, answer, state, message) => {
  const explained = vi.spyOn(console, 'error').mockReturnValue();
  const host = Object.assign(new EventTarget(), { requestUpdate: () => undefined });
  host.addEventListener('psa-test-request', (event) => {
    (event as CustomEvent<Answerable>).detail.respondWith(Promise.resolve(answer as undefined));
  });
  const request = new PageRequest(host as never);
  await request.send('psa-test-request', {});
  expect([request.state, request.message]).toEqual([state, message]);
  expect(explained.mock.calls.length).toBe(state === 'failed' ? 1 : 0);
  explained.mockRestore();
});

test('A key is made where the page has no https, and is another one each time', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const keys = [newKey(), newKey()];
  expect(keys[0]).toMatch(/^[\da-z-]{8,128}$/);
  expect(keys[1]).not.toBe(keys[0]);
  vi.unstubAllGlobals();
});
