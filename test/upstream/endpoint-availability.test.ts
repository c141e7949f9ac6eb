import { describe, expect, test } from 'vitest';
import { createOffsetClock } from '../../server/src/kernel/clock.ts';
import { createEndpoints } from '../../server/src/upstream/endpoint-availability.ts';
import { messageOf } from '../../server/src/upstream/responses.ts';
import { UpstreamFault } from '../../server/src/upstream/upstream.ts';
import { createManualClock } from '../support/clock.ts';

const LIST = { name: 'GET /v1/things', inWords: 'listing things' };
const GET = { name: 'GET /v1/things/{id}', inWords: 'looking a thing up' };
const POST = { name: 'POST /v1/things', inWords: 'making things' };
const NOT_IMPLEMENTED = new UpstreamFault('server_error', 'maybe', '501');
const BROKEN = new UpstreamFault('server_error', 'maybe', '502');

function start() {
  const clock = createManualClock();
  const endpoints = createEndpoints(clock);
  let asked = 0;
  const answering = (said: number | Error) => async () => {
    asked += 1;
    if (said instanceof Error) throw said;
    return { status: said, body: null };
  };
  return { clock, endpoints, answering, asked: () => asked };
}

describe('an endpoint', () => {
  test.each([
    [LIST, 404],
    [LIST, 405],
    [LIST, NOT_IMPLEMENTED],
    [GET, 405],
    [GET, NOT_IMPLEMENTED],
  ])('a missing endpoint is called once in ten minutes, in its environment (%#)', async (endpoint, said) => {
    const { clock, endpoints, answering, asked } = start();
    for (let time = 0; time < 3; time += 1)
      await expect(endpoints.ask('live', endpoint, answering(said))).rejects.toMatchObject({
        code: 'UPSTREAM_REFUSED',
        retryable: false,
        moneyMayHaveMoved: false,
        message: `The payments service has no endpoint for ${endpoint.inWords}`,
      });
    expect(await endpoints.callIfSupported('live', endpoint, answering(said))).toBeNull();
    expect(asked()).toBe(1);
    expect(await endpoints.ask('sandbox', endpoint, answering(200))).toMatchObject({ status: 200 });
    clock.advance(10 * 60_000);
    expect(await endpoints.ask('live', endpoint, answering(200))).toMatchObject({ status: 200 });
  });

  test.each([
    [GET, 404],
    [GET, 400],
    [LIST, 401],
    [LIST, 403],
    [LIST, 200],
  ])('an endpoint that answers exists, whatever it answers (%#)', async (endpoint, status) => {
    const { endpoints } = start();
    const answer = { status, body: { error: 'no' } };
    expect(await endpoints.ask('live', endpoint, async () => answer)).toEqual(answer);
    expect(endpoints.isMissing('live', endpoint)).toBe(false);
  });

  test('a 404 of a route that the service has not is no answer about a resource', async () => {
    const { endpoints } = start();
    const answer = {
      status: 404,
      body: { error: 'Not found' },
      headers: { 'x-error-code': 'ROUTE_NOT_FOUND' },
    };
    await expect(endpoints.ask('live', GET, async () => answer)).rejects.toThrow('no endpoint');
    expect(endpoints.isMissing('live', GET)).toBe(true);
  });

  test.each([
    ['GET /v1/wallet', 404],
    ['GET /v1/wallet', 405],
    ['GET /v1/payouts', NOT_IMPLEMENTED],
    ['POST /v1/payouts', 404],
    ['POST /v1/subaccounts/{id}/payout', 405],
    ['DELETE /v1/products/{id}', 404],
    ['GET /v1/things', 403],
    ['GET /v1/things/{id}', 404],
    ['GET /v1/things/{id}', 400],
  ])('the page of a proxy is no answer, and the next call is sent: %s (%#)', async (name, said) => {
    const { endpoints, answering, asked } = start();
    const endpoint = { name, inWords: 'this' };
    for (let time = 1; time <= 2; time += 1) {
      await expect(endpoints.ask('live', endpoint, answering(said))).rejects.toMatchObject({
        kind: 'unreachable',
        reached: 'no',
      });
      expect(asked()).toBe(time);
      expect(endpoints.isMissing('live', endpoint)).toBe(false);
    }
  });

  test.each([404, 405, NOT_IMPLEMENTED])(
    'an endpoint that has worked is called again half a minute after an answer as if it were missing (%#)',
    async (said) => {
      const { clock, endpoints, answering, asked } = start();
      expect(await endpoints.ask('live', LIST, answering(201))).toMatchObject({ status: 201 });
      await expect(endpoints.ask('live', LIST, answering(said))).rejects.toThrow('no endpoint');
      clock.advance(29_000);
      await expect(endpoints.ask('live', LIST, answering(201))).rejects.toThrow('no endpoint');
      clock.advance(1_000);
      expect(await endpoints.ask('live', LIST, answering(201))).toMatchObject({ status: 201 });
      await expect(endpoints.ask('sandbox', LIST, answering(said))).rejects.toThrow('no endpoint');
      clock.advance(60_000);
      await expect(endpoints.ask('sandbox', LIST, answering(201))).rejects.toThrow('no endpoint');
      expect(asked()).toBe(4);
    },
  );

  test('a 404 to a POST with a message is the refusal of that request, and one without is a missing endpoint', async () => {
    const { endpoints, clock } = start();
    const answering = (status: number, body: unknown) => async () => ({ status, body });
    const refusal = { status: 404, body: { error: 'chave não encontrada' } };
    expect(await endpoints.ask('live', POST, answering(404, refusal.body))).toEqual(refusal);
    expect(endpoints.isMissing('live', POST)).toBe(false);
    for (const body of [null, {}, '<h1>Not found</h1>']) {
      await expect(endpoints.ask('live', POST, answering(404, body))).rejects.toThrow('no endpoint');
      clock.advance(10 * 60_000);
    }
    await expect(endpoints.ask('live', POST, answering(405, refusal.body))).rejects.toThrow('no endpoint');
    // A list is there or not, whatever the answer's words are.
    await expect(endpoints.ask('live', LIST, answering(404, refusal.body))).rejects.toThrow('no endpoint');
  });

  test('a missing endpoint is called again where the clock was set back', () => {
    const clock = createOffsetClock(createManualClock());
    clock.setOffset(60 * 60_000);
    const endpoints = createEndpoints(clock);
    endpoints.markMissing('live', LIST);
    expect(endpoints.isMissing('live', LIST)).toBe(true);
    clock.setOffset(0);
    expect(endpoints.isMissing('live', LIST)).toBe(false);
  });

  test('an endpoint that fails may exist', async () => {
    const { endpoints, answering } = start();
    await expect(endpoints.ask('live', LIST, answering(BROKEN))).rejects.toBe(BROKEN);
    expect(endpoints.isMissing('live', LIST)).toBe(false);
  });
});

test('the words of a refusal are given bounded, and without what was sent', () => {
  expect(messageOf({ error: 'bia@cliente.example is no key' }, { secret: 'bia@cliente.example' })).toBe(
    '… is no key',
  );
  expect(messageOf({ error: 'x'.repeat(1_000) })).toHaveLength(500);
  for (const body of [null, 'no', {}, { error: '' }, { error: 1 }]) expect(messageOf(body)).toBeNull();
});
