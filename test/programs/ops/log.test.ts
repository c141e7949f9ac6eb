import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  NotBegun,
  OperatorNotice,
  PreconditionError,
  UpstreamError,
} from '../../../server/src/kernel/errors.ts';
import { setTracer } from '../../../server/src/kernel/traces.ts';
import { createFaultLog } from '../../../server/src/programs/ops/fault-log.ts';
import { createLog } from '../../../server/src/programs/ops/log.ts';
import { createFieldLog, createRequestLog } from '../../../server/src/programs/ops/request-log.ts';
import { createManualClock } from '../../support/clock.ts';

function captured() {
  const lines: string[] = [];
  return { lines, log: createLog({ write: (line) => void lines.push(line) }) };
}

const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line));

test('no member that carries a secret reaches a line, at any depth, nor a key in the text of an error', () => {
  const { lines, log } = captured();
  const secrets = {
    authorization: 'Bearer hidden',
    token: 'hidden',
    secret: 'hidden',
    pixKey: 'hidden@example.com',
    walletAddress: 'hidden',
    destination: 'hidden',
    taxId: 'hidden',
    card: { number: '4242hidden' },
    securityCode: 'hidden',
    detail: 'Failing row contains (hidden)',
  };
  log.info(secrets, 'flat');
  log.info({ request: secrets }, 'inside');
  log.warn({ task: { payload: secrets } }, 'deeper');
  const cause = new Error('of ps_checkout_hidden00000000');
  log.error(
    { err: Object.assign(new Error('no such key: ps_live_hidden0123456789', { cause }), secrets) },
    'a fault',
  );
  log.error({ err: 'whsec_hidden+/=' }, 'thrown text');
  const thrown = { message: 'ps_test_hidden' };
  log.error({ err: thrown }, 'a thrown object');
  expect(lines).toHaveLength(6);
  expect(lines.join()).not.toContain('hidden');
  expect(lines.join()).toContain('no such key: ps_live_…');
  // The thrown error is unchanged.
  expect(thrown.message).toBe('ps_test_hidden');
});

test('News for the operator is a warning without a stack', () => {
  const { lines, log } = captured();
  const logFault = createFaultLog({ log, clock: createManualClock(), onOutage: () => undefined });
  logFault(new OperatorNotice('A webhook was refused: none of the secrets'), {}, 'an internal fault');
  expect(parsed(lines)).toEqual([
    { level: 'warn', time: expect.any(String), msg: 'A webhook was refused: none of the secrets' },
  ]);
});

test('each error of an outage is counted, though a line in ten seconds is enough, and no other error is', () => {
  const { lines, log } = captured();
  let outages = 0;
  const onOutage = () => {
    outages += 1;
  };
  const logFault = createFaultLog({ log, clock: createManualClock(), onOutage });
  for (let times = 0; times < 3; times += 1) logFault(new NotBegun('refused'), {}, 'a fault');
  logFault(new OperatorNotice('news'), {}, 'a fault');
  logFault(new Error('a mistake'), {}, 'a fault');
  expect([outages, lines.length]).toEqual([3, 3]);
});

test('No secret reaches the log in gathered errors, or in what a database adds to an error', () => {
  const { lines, log } = captured();
  const all = new AggregateError(
    [new Error('to hidden.maria@exemplo.com'), 'hidden@exemplo.com'],
    'both failed',
  );
  const where = "unnamed portal parameter $1 = 'hidden@exemplo.com'";
  log.error(
    { err: Object.assign(all, { where, hint: 'hidden@exemplo.com', rows: [{ key: 'whsec_hidden' }] }) },
    'a fault',
  );
  log.error({ err: new Error(`${'x'.repeat(100_000)} hidden@exemplo.com`) }, 'a long one');
  const cyclic = new Error('round');
  log.error({ err: Object.assign(cyclic, { again: { cyclic }, bytes: Buffer.from('hidden') }) }, 'a cycle');
  expect(lines.join()).not.toContain('hidden');
  expect(parsed(lines)[0].err).toMatchObject({ where: "unnamed portal parameter $1 = '…@exemplo.com'" });
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(20_000);
});

test('a line says its trace, where traces are written', () => {
  const { lines, log } = captured();
  log.info({}, 'before');
  setTracer({ traceId: () => 'abc' } as Parameters<typeof setTracer>[0]);
  onTestFinished(() => setTracer(null));
  log.info({}, 'within');
  expect(parsed(lines).map(({ traceId }) => traceId)).toEqual([undefined, 'abc']);
});

test('an answer that took long has a line, with its route and without its path, and others have none', async () => {
  const { lines, log } = captured();
  const clock = createManualClock();
  const answers: unknown[][] = [];
  const metrics = { onAnswer: (...reported: unknown[]) => void answers.push(reported) };
  const onRequest = createRequestLog({ metrics, clock, log, slowMs: 1_000 });
  const ended: Promise<void>[] = [];
  const server = createServer((request, response) => {
    const onEnd = onRequest(request, response);
    ended.push(
      new Promise((resolve) => {
        response.once('close', () => {
          onEnd(routeOf(request));
          resolve();
        });
      }),
    );
    clock.advance(Number(new URL(request.url!, 'http://x').searchParams.get('ms')));
    if (request.url!.startsWith('/stream')) response.setHeader('content-type', 'text/event-stream');
    response.end('ok');
  });
  const routeOf = ({ url = '' }: IncomingMessage) => (url.startsWith('/none') ? null : '/a/{id}');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = async (path: string, requestId: string) =>
    (await fetch(url + path, { headers: { 'x-request-id': requestId, connection: 'close' } })).text();
  await get('/a/hidden?ms=999&k=hidden', 'r-1');
  await get('/a/hidden?ms=1000&k=hidden', 'r-2');
  await get('/none?ms=1500', 'hidden of a client');
  await get('/stream?ms=5000', 'r-4');
  await Promise.all(ended);
  expect(answers).toEqual([
    ['/a/{id}', 200, 999],
    ['/a/{id}', 200, 1_000],
    [null, 200, 1_500],
    ['/a/{id}', 200, null],
  ]);
  expect(parsed(lines)).toEqual([
    expect.objectContaining({
      level: 'info',
      method: 'GET',
      route: '/a/{id}',
      durationMs: 1_000,
      requestId: 'r-2',
    }),
    expect.objectContaining({ route: null, status: 200, durationMs: 1_500 }),
  ]);
  expect(lines.join()).not.toContain('hidden');
});

test('an operation has a line where it took long, or a change got no answer; a fault’s own line names it', () => {
  const { lines, log } = captured();
  const reported: unknown[][] = [];
  const fields = createFieldLog({
    metrics: { onRootField: (...each: unknown[]) => void reported.push(each) },
    log,
    slowMs: 1_000,
  });
  const away = new UpstreamError('OUTCOME_UNKNOWN', 'away', { moneyMayHaveMoved: true });
  const fault = new TypeError('x is undefined');
  fields.onRootField('query', 'wallet', null, 999);
  fields.onRootField('query', 'payouts', null, 1_000);
  fields.onRootField('mutation', 'requestPayout', new PreconditionError('LIMIT_REACHED', 'full'), 1);
  fields.onRootField('mutation', 'requestPayout', away, 1);
  fields.onRootField('query', 'wallet', away, 1);
  fields.onRootField('query', 'node', fault, 1);
  expect(reported).toHaveLength(6);
  expect(parsed(lines)).toEqual([
    expect.objectContaining({ level: 'info', operation: 'query payouts', outcome: 'ok', durationMs: 1_000 }),
    expect.objectContaining({
      level: 'warn',
      operation: 'mutation requestPayout',
      outcome: 'OUTCOME_UNKNOWN',
    }),
  ]);
  expect(fields.operationOf(fault)).toEqual({ operation: 'query node' });
  expect(fields.operationOf(new Error('another'))).toEqual({});
});
