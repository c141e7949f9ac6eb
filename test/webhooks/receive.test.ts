import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import {
  NotFoundError,
  OperatorNotice,
  RateLimitError,
  UpstreamError,
} from '../../server/src/kernel/errors.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { touchMirrored } from '../../server/src/upstream/mirror-store.ts';
import { noEndpoint } from '../../server/src/upstream/responses.ts';
import { UpstreamFault } from '../../server/src/upstream/upstream.ts';
import { createManualClock } from '../support/clock.ts';
import { describeOnDatabase, openFreshDatabase } from '../support/database.ts';
import { generated, sampled } from '../support/scale.ts';
import { recordStatements } from '../support/statements.ts';
import {
  cardPaid,
  delivered,
  type Receiving,
  SECRET,
  sign,
  startReceiving,
  withdrawal,
} from './receiving.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const ID = '0123456789abcdef01234567';
const TAKEN = { status: 200, body: { received: true } };
const REFUSED = {
  status: 401,
  body: { error: 'Invalid webhook signature', code: 'UNAUTHENTICATED', retryPolicy: 'AFTER_CHANGE' },
};

describe('a signature', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openFreshDatabase();
    return () => database.close();
  });

  const body = JSON.stringify(withdrawal(ID, 'pending'));
  const hex = sign(body).digest('hex');
  const base64 = sign(body).digest('base64');

  test.each([
    ['hex', hex],
    ['hex in capitals', hex.toUpperCase()],
    ['base64', base64],
    ['hex behind a prefix', `sha256=${hex}`],
    ['base64 behind a prefix', `sha256=${base64}`],
    ['a prefix in capitals', `SHA256=${hex.toUpperCase()}`],
  ])('A signature is accepted in this form: %s', async (_, signature) => {
    const receiving = await startReceiving({ database });
    const headers = { 'x-webhook-signature': signature };
    expect(await receiving.post({ body, headers })).toEqual(TAKEN);
    expect(await receiving.published()).toEqual([`live payout.pending ${ID}`]);
    expect(receiving.faults).toEqual([]);
  });

  test('A signature may be made with any of the configured secrets', async () => {
    const secrets = ['first', SECRET, 'açaí 🧀'];
    const receiving = await startReceiving({ database, secrets });
    for (const [index, secret] of secrets.entries()) {
      const event = JSON.stringify(withdrawal(`${index}`, 'pending'));
      const headers = { 'x-webhook-signature': sign(event, secret).digest('hex') };
      expect(await receiving.post({ body: event, headers })).toEqual(TAKEN);
    }
    const headers = { 'x-webhook-signature': sign(body, 'fourth').digest('hex') };
    expect(await receiving.post({ body, headers })).toEqual(REFUSED);
    expect(await receiving.count('observed')).toBe(3);
  });

  test('A secret of one environment signs no webhook of the other one', async () => {
    const receiving = await startReceiving({ database, sandboxSecrets: ['of the sandbox', ''] });
    const post = (id: string, fields: { sandbox?: boolean }, secret: string) => {
      const event = JSON.stringify(withdrawal(id, 'pending', fields));
      return receiving.post({
        body: event,
        headers: { 'x-webhook-signature': sign(event, secret).digest('hex') },
      });
    };
    expect(await post('a', {}, 'of the sandbox')).toEqual(REFUSED);
    expect(await post('b', { sandbox: true }, SECRET)).toEqual(REFUSED);
    expect(await post('c', { sandbox: true }, '')).toEqual(REFUSED);
    expect(await receiving.count('received_webhook')).toBe(0);
    expect(await post('d', {}, SECRET)).toEqual(TAKEN);
    expect(await post('e', { sandbox: true }, 'of the sandbox')).toEqual(TAKEN);
    expect(await receiving.published()).toEqual(['live payout.pending d', 'sandbox payout.pending e']);
    expect(receiving.faults.map(String)).toEqual([
      'Error: A webhook was refused: one of live is signed with a secret of the other environment',
      'Error: A webhook was refused: one of sandbox is signed with a secret of the other environment',
      'Error: A webhook was refused: none of the configured secrets has signed it',
    ]);
  });

  test.each([
    ['none', null],
    ['an empty one', ''],
    ['the prefix alone', 'sha256='],
    ['half of it', hex.slice(0, 32)],
    ['more than it', `${hex}00`],
    ['two of it', `${hex}, ${hex}`],
    ['base64 with stray bits', `${base64.slice(0, 42)}${base64[42] === 'B' ? 'C' : 'B'}=`],
    ['that of an empty body', sign('').digest('hex')],
    ['one with an empty secret', sign(body, '').digest('hex')],
    [
      'one with what the base64 of the secret says',
      sign(body, 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').digest('hex'),
    ],
    ['the secret', SECRET],
  ])('A webhook without a valid signature is refused: %s', async (_, signature) => {
    const receiving = await startReceiving({ database });
    const headers: Record<string, string> = signature === null ? {} : { 'x-webhook-signature': signature };
    expect(await receiving.post({ body, headers })).toEqual(REFUSED);
    expect(await receiving.count('received_webhook')).toBe(0);
  });

  test('A signature is not valid for a body with a changed byte', async () => {
    const receiving = await startReceiving({ database });
    const answers = await Promise.all(
      [...body].map((_, place) => {
        const changed = Buffer.from(body);
        changed[place]! ^= 1;
        return receiving.post({ body: changed, headers: { 'x-webhook-signature': hex } });
      }),
    );
    for (const answer of answers) expect(answer).toEqual(REFUSED);
    expect(await receiving.count('received_webhook')).toBe(0);
  });

  test.each([[[]], [['']]])('A webhook is refused where no secret is configured (%j)', async (secrets) => {
    const receiving = await startReceiving({ database, secrets });
    for (const secret of [SECRET, ''])
      expect(
        await receiving.post({ body, headers: { 'x-webhook-signature': sign(body, secret).digest('hex') } }),
      ).toMatchObject({ status: 503, body: { error: 'Webhooks are not configured' } });
    expect(await receiving.count('received_webhook')).toBe(0);
    // The fault is logged once, and again an hour later.
    expect(receiving.faults.map(String)).toEqual([
      'Error: A webhook was refused: PSA_UPSTREAM_WEBHOOK_SECRET is not set',
    ]);
    expect(receiving.faults[0]).toBeInstanceOf(OperatorNotice);
    receiving.clock.advance(HOUR);
    await receiving.post({ body, headers: {} });
    await receiving.post({ body, headers: {} });
    expect(receiving.faults).toHaveLength(2);
  });

  const FORGED = generated(10_000);
  test(`${FORGED} forged webhooks are refused, and none of them reaches the database`, async () => {
    const { database: watched, statements } = recordStatements(database);
    const receiving = await startReceiving({ database: watched, secrets: ['first', SECRET] });
    statements.length = 0;
    const forgeries = fc.sample(forgery(body), { numRuns: FORGED, seed: 4 });
    expect(forgeries).toHaveLength(FORGED);
    const statuses = new Map<number | undefined, number>();
    for (let start = 0; start < forgeries.length; start += 100) {
      const answers = await Promise.all(
        forgeries.slice(start, start + 100).map((each) => receiving.post(each)),
      );
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([[401, FORGED]]);
    expect(statements).toEqual([]);
    expect(receiving.faults).toHaveLength(1);
  }, 120_000);
});

/** The captured request with a change outside its signature, or with another key's signature. */
function forgery(body: string) {
  const bytes = Buffer.from(body);
  const id = fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })
    .map((text) => text.trim() || 'x');
  const hex = sign(body).digest('hex');
  const changedBody = fc
    .array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    })
    .map((changes) => {
      const changed = Buffer.from(bytes);
      for (const [place, mask] of changes) changed[place]! ^= mask;
      return changed;
    })
    .filter((changed) => !changed.equals(bytes))
    .map((changed) => ({ body: changed, signature: hex }));
  const longer = fc
    .string({ minLength: 1, maxLength: 20 })
    .map((more) => ({ body: Buffer.from(body + more), signature: hex }));
  const shorter = fc
    .nat(bytes.length - 1)
    .map((length) => ({ body: bytes.subarray(0, length), signature: hex }));
  const changedSignature = fc
    .tuple(fc.nat(63), fc.constantFrom(...'0123456789abcdefg='))
    .map(([place, digit]) => hex.slice(0, place) + digit + hex.slice(place + 1))
    .filter((signature) => signature !== hex)
    .map((signature) => ({ body: bytes, signature }));
  const otherSecret = fc
    .string({ maxLength: 40 })
    .filter((secret) => secret !== SECRET)
    .map((secret) => ({ body: bytes, signature: sign(body, secret).digest('hex') }));
  const ownEvent = fc
    .tuple(fc.string(), fc.constantFrom('completed' as const, 'denied' as const))
    .map(([name, status]) => ({
      body: Buffer.from(JSON.stringify(withdrawal(name, status))),
      signature: hex,
    }));
  return fc
    .tuple(fc.oneof(changedBody, longer, shorter, changedSignature, otherSecret, ownEvent), id)
    .map(([{ body: forged, signature }, webhookId]) => ({
      body: forged,
      headers: { 'x-webhook-signature': signature, 'x-webhook-id': webhookId },
    }));
}

describeOnDatabase('webhooks of the service', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describe('of other forms', () => {
    test.each([
      ['no JSON', 'nothing'],
      ['nothing', ''],
      ['a list', '[]'],
      ['null', 'null'],
      ['a text', '"withdrawal.completed"'],
      ['two objects', '{}{}'],
      ['JSON behind a byte order mark', '\ufeff{}'],
    ])('A body that is no JSON object is refused with 400: %s', async (_, body) => {
      const receiving = await startReceiving({ database });
      const { status, body: answer } = await receiving.post(delivered(body));
      expect([status, answer]).toMatchObject([400, { error: expect.any(String), code: 'BAD_USER_INPUT' }]);
      expect(await receiving.count('received_webhook')).toBe(0);
    });

    test('A body that is not UTF-8 is refused with 400', async () => {
      const receiving = await startReceiving({ database });
      const body = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]);
      const headers = { 'x-webhook-signature': sign(body).digest('hex') };
      expect(await receiving.post({ body, headers })).toMatchObject({
        status: 400,
        body: { error: 'The body is not UTF-8' },
      });
    });

    test('A body of 256 kB is accepted, and a larger one is refused with 413', async () => {
      const receiving = await startReceiving({ database });
      const padded = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`;
      expect(await receiving.post(delivered(padded(256 * 1024)))).toEqual(TAKEN);
      expect((await receiving.post(delivered(padded(256 * 1024 + 1)))).status).toBe(413);
    });

    test.each(['GET', 'HEAD', 'PUT', 'DELETE'])('The method %s is refused with 405', async (method) => {
      const receiving = await startReceiving({ database });
      expect((await receiving.post({ body: '', headers: {}, method })).status).toBe(405);
    });

    test('events that we do not know are recorded, and change nothing', async () => {
      const receiving = await startReceiving({ database });
      for (const payload of [{}, { event: 'delivery.delivered', deliveryId: '1' }, { event: 7 }])
        expect(await receiving.post(delivered(payload))).toEqual(TAKEN);
      expect(await receiving.count('received_webhook')).toBe(3);
      expect(await receiving.published()).toEqual([]);
      expect(await receiving.count('task')).toBe(0);
      expect(receiving.polled).toEqual([]);
    });
  });

  test('An event is of the sandbox where its name or a field says so, and live otherwise', async () => {
    const receiving = await startReceiving({ database });
    await receiving.post(delivered(withdrawal('a', 'pending', { test: true })));
    await receiving.post(delivered(withdrawal('b', 'pending', { sandbox: true })));
    await receiving.post(delivered(withdrawal('c', 'pending', { sandbox: false })));
    await receiving.post(delivered(withdrawal('d', 'completed')));
    const paid = { amountCents: 100, status: 'paid' };
    await receiving.post(delivered({ tipo: 'payment.test.paid', paymentId: 'psa_e', ...paid }));
    await receiving.post(delivered({ event: 'payment.test.paid', paymentId: 'psa_f', ...paid }));
    await receiving.post(
      delivered({ event: 'payment.paid', note: 'payment.test.paid', paymentId: 'psa_g', ...paid }),
    );
    // The sandbox prefix is accepted for a family whose documented events have no sandbox names, too.
    await receiving.post(delivered({ event: 'card_payment.test.paid', orderCode: 'h', ...paid }));
    expect(await receiving.published()).toEqual([
      'live payout.pending c',
      'live payout.completed d',
      'live payment.paid psa_g',
      'sandbox payout.pending a',
      'sandbox payout.pending b',
      'sandbox payment.paid psa_e',
      'sandbox payment.paid psa_f',
      'sandbox card_payment.paid h',
    ]);
  });

  test('The envelope of an event is in nothing that is read of it, and its `resource` is not one without an envelope', async () => {
    const receiving = await startReceiving({ database });
    const resource = { type: 'payout', id: 'a' };
    const envelope = { id: 'whd_a', occurredAt: '2026-03-02T12:00:00.000Z', version: 3, resource };
    await receiving.post(delivered({ ...envelope, ...withdrawal('a', 'completed') }));
    await receiving.post(delivered({ id: '7', resource, ...withdrawal('b', 'completed') }));
    const rows = await database.sql
      .selectFrom('observed')
      .select(['id', 'snapshot'])
      .where('account_id', '=', receiving.tenant.accountId)
      .orderBy('id')
      .execute();
    const own = (id: string) => ({ ...withdrawal(id, 'completed'), version: 1 });
    expect(rows).toEqual([
      { id: 'a', snapshot: own('a') },
      { id: 'b', snapshot: { id: '7', resource, ...own('b') } },
    ]);
  });

  test('An event of an environment without a key changes nothing and is logged', async () => {
    const receiving = await startReceiving({ database, configured: ['live'] });
    const answer = await receiving.post(delivered(withdrawal('a', 'pending', { test: true })));
    expect(answer.status).toBe(200);
    expect(await receiving.published()).toEqual([]);
    expect(receiving.faults.map(String)).toEqual([
      'Error: Webhooks of sandbox are passed over: there is no key for it',
    ]);
  });

  test('An event wakes the subscribers of what it changes, and no one when nothing changes', async () => {
    const receiving = await startReceiving({ database });
    await receiving.post(delivered(withdrawal('a', 'completed')));
    expect(receiving.polled).toEqual(['live payout', 'live wallet']);
    await receiving.post(delivered(withdrawal('a', 'completed')));
    await receiving.post(delivered(withdrawal('a', 'pending')));
    expect(receiving.polled).toHaveLength(2);
  });

  describe('that come again', () => {
    test('An event that arrives again under the same id is applied once', async () => {
      const receiving = await startReceiving({ database });
      const message = delivered(withdrawal('a', 'pending'), 'whd_1');
      const answers = await Promise.all(Array.from({ length: 20 }, () => receiving.post(message)));
      for (const answer of answers) expect(answer).toEqual(TAKEN);
      expect(await receiving.published()).toEqual(['live payout.pending a']);
      expect(await receiving.count('received_webhook')).toBe(1);
    });

    test('An event that arrives again under another id, or under none, is applied once', async () => {
      const receiving = await startReceiving({ database });
      const payload = withdrawal('a', 'pending');
      for (const id of ['whd_1', 'whd_2', null, 'x'.repeat(300)])
        expect(await receiving.post(delivered(payload, id))).toEqual(TAKEN);
      expect(await receiving.count('received_webhook')).toBe(1);
    });

    test('Events without an id are recognised by their content', async () => {
      const receiving = await startReceiving({ database });
      for (const id of [null, null, 'x'.repeat(256)])
        await receiving.post(delivered(withdrawal('a', 'pending'), id));
      await receiving.post(delivered(withdrawal('a', 'completed')));
      expect(await receiving.count('received_webhook')).toBe(2);
      expect(await receiving.mirror()).toEqual({ 'payout a': 'completed' });
    });

    test('another event under an id that was there is not read: the document deduplicates by it', async () => {
      const receiving = await startReceiving({ database });
      await receiving.post(delivered(withdrawal('a', 'pending'), 'whd_1'));
      await receiving.post(delivered(withdrawal('a', 'completed'), 'whd_1'));
      expect(await receiving.mirror()).toEqual({ 'payout a': 'pending' });
    });

    test('An event that reaches two instances at once is applied once', async () => {
      const first = await startReceiving({ database });
      const second = await startReceiving({ database, tenant: first.tenant, clock: first.clock });
      const events = Array.from({ length: 25 }, (_, index) =>
        delivered(withdrawal(`w${index}`, 'pending'), `whd_${index}`),
      );
      const answers = await Promise.all(
        events.flatMap((event) => [
          first.post(event),
          second.post(event),
          first.post(event),
          second.post(event),
        ]),
      );
      for (const answer of answers) expect(answer).toEqual(TAKEN);
      expect(await first.count('received_webhook')).toBe(25);
      expect((await first.published()).toSorted()).toEqual(
        events.map((_, index) => `live payout.pending w${index}`).toSorted(),
      );
      expect([...first.polled, ...second.polled]).toHaveLength(50);
      expect([...first.faults, ...second.faults]).toEqual([]);
    });

    test('An event that arrives 72 hours late changes nothing, whether it was applied before or not', async () => {
      const receiving = await startReceiving({ database });
      const requested = delivered(withdrawal('a', 'pending'), 'whd_1');
      const completed = delivered(withdrawal('a', 'completed'), 'whd_2');
      await receiving.post(completed);
      receiving.clock.advance(72 * HOUR);
      for (const message of [completed, requested, completed, requested])
        expect(await receiving.post(message)).toEqual(TAKEN);
      expect(await receiving.published()).toEqual(['live payout.completed a']);
    });

    test('Received events are remembered for 30 days, and no longer', async () => {
      const receiving = await startReceiving({ database });
      await receiving.post(delivered(withdrawal('a', 'pending'), 'whd_1'));
      receiving.clock.advance(30 * 24 * HOUR);
      await receiving.post(delivered(withdrawal('b', 'pending'), 'whd_2'));
      expect(await receiving.count('received_webhook')).toBe(2);
      receiving.clock.advance(1);
      await receiving.post(delivered(withdrawal('c', 'pending'), 'whd_3'));
      expect(await receiving.count('received_webhook')).toBe(2);
      // The webhooks' status is not forgotten.
      await receiving.post(delivered(withdrawal('a', 'pending'), 'whd_1'));
      expect(await receiving.published()).toHaveLength(3);
    });
  });

  test('An event that the database cannot store is answered with 500, and is applied when it arrives again', async () => {
    let fails: string | null = null;
    const faulty: Database = {
      ...database,
      transaction: (work) =>
        database.transaction(async (sql) => {
          const result = await work(sql);
          // The error comes at the end of the transaction: everything is written, and must be rolled back.
          if (fails) throw new Error(fails);
          return result;
        }),
    };
    const receiving = await startReceiving({ database: faulty });
    fails = 'the disk is full';
    const message = delivered(withdrawal('a', 'pending'), 'whd_1');
    expect(await receiving.post(message)).toMatchObject({
      status: 500,
      body: { error: 'Internal error', retryPolicy: 'LOOK_UP' },
    });
    expect(await receiving.count('received_webhook')).toBe(0);
    expect(await receiving.published()).toEqual([]);
    expect(await receiving.count('task')).toBe(0);
    expect(receiving.polled).toEqual([]);
    fails = null;
    expect(await receiving.post(message)).toEqual(TAKEN);
    expect(await receiving.published()).toEqual(['live payout.pending a']);
    expect(receiving.faults.map(String)).toEqual(['Error: the disk is full']);
  });

  describe('are held against what the service itself says', () => {
    /** Starts a lookup with this answer. */
    async function looking(answer: (receiving: Receiving, look: number) => unknown) {
      const looks: string[] = [];
      const receiving: Receiving = await startReceiving({
        database,
        async refresh(tenant, resource, id) {
          looks.push(`${tenant.environment} ${resource} ${id}`);
          await answer(receiving, looks.length);
        },
      });
      return { receiving, looks };
    }

    const confirm = ({ tenant, clock }: Receiving) =>
      touchMirrored(
        database.sql,
        [{ tenant, resource: 'payout', id: 'a', observedAt: clock.now() }],
        clock.now(),
      );

    test('An event is checked with the service once, also when several events of one resource arrive together', async () => {
      const { receiving, looks } = await looking(confirm);
      await receiving.post(delivered(withdrawal('a', 'pending')));
      await receiving.post(delivered(withdrawal('a', 'completed')));
      expect(looks).toEqual([]);
      await receiving.pass(24 * HOUR);
      expect(looks).toEqual(['live payout a']);
      expect(receiving.faults).toEqual([]);
    });

    test('An event that names its payout alone is checked again under another id, and is not recorded again', async () => {
      const { receiving, looks } = await looking(() => undefined);
      const payload = { event: 'subaccount.payout', code: 'SUB-1' };
      for (const id of ['whd_1', 'whd_1', 'whd_2', 'whd_2', null]) {
        expect(await receiving.post(delivered(payload, id))).toEqual(TAKEN);
        await receiving.pass(HOUR);
      }
      // The third webhook and its repetition: an id that was not recorded is new.
      expect(looks).toEqual(Array.from({ length: 3 }, () => 'live subaccount_payout SUB-1'));
      expect(await receiving.count('received_webhook')).toBe(1);
      expect(receiving.faults).toEqual([]);
    });

    test('An event that can change nothing any more is not checked with the service', async () => {
      const { receiving, looks } = await looking(confirm);
      await receiving.post(delivered(withdrawal('a', 'completed')));
      await receiving.pass(HOUR);
      await receiving.post(delivered(withdrawal('a', 'pending')));
      await receiving.pass(HOUR);
      expect(looks).toHaveLength(1);
    });

    test('A check is postponed without a fault when the budget is spent or the service is down', async () => {
      const { receiving, looks } = await looking((instance, look) => {
        if (look <= 3) throw new RateLimitError('120 requests a minute', 20);
        if (look <= 8) throw new UpstreamFault('unreachable', 'no');
        return confirm(instance);
      });
      await receiving.post(delivered(withdrawal('a', 'completed')));
      await receiving.pass(24 * HOUR);
      expect(looks).toHaveLength(9);
      expect(receiving.faults).toEqual([]);
    });

    test('A check that the budget had no room for is made as soon as there is room again', async () => {
      const { receiving, looks } = await looking((instance, look) => {
        if (look <= 6) throw new RateLimitError('120 requests a minute', 20);
        return confirm(instance);
      });
      await receiving.post(delivered(withdrawal('a', 'completed')));
      // After 1 s, 1 s, 5 s and then each 20 s.
      await receiving.pass(90 * SECOND);
      expect(looks).toHaveLength(7);
    });

    test.each([
      ['cannot be read', new UpstreamFault('unreadable', 'maybe'), 5],
      ['is a refusal', new UpstreamError('UPSTREAM_REFUSED', 'the key was rotated'), 20],
    ])(
      'A check whose answer %s is repeated a few times, and then a fault is logged',
      async (_, fault, times) => {
        const { receiving, looks } = await looking((__, look) => {
          throw look <= 3 ? new UpstreamFault('timeout', 'maybe') : fault;
        });
        await receiving.post(delivered(withdrawal('a', 'completed')));
        await receiving.pass(24 * HOUR);
        expect(looks).toHaveLength(3 + times);
        expect(receiving.faults.map(String)).toEqual([
          `Error: A webhook of payout a could not be verified: ${fault.message}`,
        ]);
        expect(await receiving.count('task')).toBe(0);
      },
    );

    test.each([
      ['cannot be reached', new UpstreamFault('unreachable', 'no'), 12, []],
      ['fails', new UpstreamFault('server_error', 'maybe', '502'), 40, [' so far']],
      ['shows a page', new UpstreamFault('unreadable', 'maybe', 'not JSON'), 40, [' so far']],
      ['has no room', new RateLimitError('120 requests a minute', 20), 12, []],
    ])(
      'The lookups of an outage do not count: where the service %s, an event is checked as often after it',
      async (_, fault, times, logged) => {
        const { receiving, looks } = await looking((__, look) => {
          if (look <= times) throw fault;
        });
        await receiving.post(delivered(withdrawal('a', 'completed')));
        await receiving.pass(24 * HOUR);
        expect(looks).toHaveLength(times + 5);
        expect(receiving.faults.map(String)).toEqual([
          ...logged.map((so) => `Error: A webhook of payout a could not be verified${so}: ${fault.message}`),
          'Error: A webhook said of payout a that it is completed; the service does not',
        ]);
        expect(await receiving.count('task')).toBe(0);
      },
    );

    test('A check is not repeated where the service has no endpoint for it', async () => {
      const { receiving, looks } = await looking(() => {
        throw noEndpoint('looking a payout up');
      });
      await receiving.post(delivered(withdrawal('a', 'completed')));
      await receiving.pass(24 * HOUR);
      expect(looks).toHaveLength(1);
      expect(receiving.faults).toEqual([]);
    });

    test.each([
      ['says something older', () => undefined],
      [
        'knows of no such thing',
        () => {
          throw new NotFoundError('Payout not found');
        },
      ],
    ])(
      'An event is checked a few times where the service %s, and then a fault is logged',
      async (_, answer) => {
        const { receiving, looks } = await looking(answer);
        await receiving.post(delivered(withdrawal('a', 'completed')));
        await receiving.pass(24 * HOUR);
        expect(looks).toHaveLength(5);
        expect(receiving.faults.map(String)).toEqual([
          'Error: A webhook said of payout a that it is completed; the service does not',
        ]);
        expect(await receiving.count('task')).toBe(0);
      },
    );

    test('An event that was recorded before the clock was set back is checked, too', async () => {
      let isConfirming = false;
      const { receiving, looks } = await looking((instance) =>
        isConfirming ? confirm(instance) : undefined,
      );
      const setBack = async () => {
        const at = plusMs(receiving.clock.now(), HOUR);
        await receiving.post(delivered(withdrawal('a', 'pending')));
        await database.sql
          .updateTable('observed')
          .set({ observed_at: at })
          .where('account_id', '=', receiving.tenant.accountId)
          .execute();
      };
      await setBack();
      await receiving.pass(5 * 60 * SECOND);
      expect(looks).toHaveLength(5);
      expect(receiving.faults).toHaveLength(1);
      isConfirming = true;
      await receiving.post(delivered(withdrawal('a', 'completed')));
      await setBack();
      await receiving.pass(5 * 60 * SECOND);
      expect(looks).toHaveLength(6);
      expect(receiving.faults).toHaveLength(1);
    });

    test('An internal fault in a check is logged each time, and the check is repeated', async () => {
      const { receiving } = await looking((instance, look) => {
        if (look === 1) throw new TypeError('not a function');
        return confirm(instance);
      });
      await receiving.post(delivered(withdrawal('a', 'completed')));
      await receiving.pass(HOUR);
      expect(receiving.faults.map(String)).toEqual(['TypeError: not a function']);
    });
  });
});

describe('a status that the document forbids', () => {
  test('A status that the document forbids is never published', async () => {
    const database = await openFreshDatabase();
    const receiving = await startReceiving({ database });
    for (const payload of [
      withdrawal('a', 'denied'),
      withdrawal('a', 'completed'),
      withdrawal('a', 'pending'),
      cardPaid('PSC-1'),
      cardPaid('PSC-1', { status: 'pending' }),
      cardPaid('PSC-1', { status: 'failed' }),
      cardPaid('PSC-1', { status: 'nonsense' }),
    ])
      expect(await receiving.post(delivered(payload))).toEqual(TAKEN);
    expect(await receiving.published()).toEqual(['live payout.denied a', 'live card_payment.paid PSC-1']);
    await receiving.work.close();
    await database.sql.deleteFrom('task').execute();
  });
});

describe('in all orders, each once to seven times', () => {
  test('Events in any order and number lead to the same end, and published statuses only go forward', async () => {
    const database = await openFreshDatabase();
    const clock = createManualClock();
    const events = {
      requested: withdrawal('a', 'pending'),
      completed: withdrawal('a', 'completed'),
      otherRequested: withdrawal('b', 'pending'),
      otherDenied: withdrawal('b', 'denied'),
      paid: cardPaid('PSC-1'),
    };
    type Name = keyof typeof events;
    const orders = permutations(Object.keys(events) as Name[]);
    expect(orders).toHaveLength(120);
    const repeats = fc.sample(fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 5, maxLength: 5 }), {
      numRuns: orders.length,
      seed: 72,
    });
    const places = fc.sample(fc.infiniteStream(fc.nat(1_000_000)), { numRuns: orders.length, seed: 7 });
    for (const [index, order] of sampled([...orders.entries()], 6)) {
      const receiving = await startReceiving({ database, clock });
      // Repetitions come anywhere after the first webhook of their kind.
      const sequence: Name[] = [...order];
      for (const [at, name] of order.entries())
        for (let repeat = 0; repeat < repeats[index]![at]!; repeat += 1) {
          const behind = sequence.indexOf(name) + 1;
          const where = behind + (Number(places[index]!.next().value) % (sequence.length - behind + 1));
          sequence.splice(where, 0, name);
        }
      for (const name of sequence)
        expect(await receiving.post(delivered(events[name], `whd_${name}`))).toEqual(TAKEN);

      expect(await receiving.mirror()).toEqual({
        'payout a': 'completed',
        'payout b': 'denied',
        'card_payment PSC-1': 'paid',
      });
      const published = await receiving.published();
      const came = (earlier: Name, later: Name) => order.indexOf(earlier) < order.indexOf(later);
      const of = (id: string) => published.filter((each) => each.endsWith(` ${id}`));
      expect(of('a')).toEqual([
        ...(came('requested', 'completed') ? ['live payout.pending a'] : []),
        'live payout.completed a',
      ]);
      expect(of('b')).toEqual([
        ...(came('otherRequested', 'otherDenied') ? ['live payout.pending b'] : []),
        'live payout.denied b',
      ]);
      expect(of('PSC-1')).toEqual(['live card_payment.paid PSC-1']);
      expect(await receiving.count('received_webhook')).toBe(5);
    }
    await database.sql.deleteFrom('task').execute();
  }, 120_000);
});

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [first, ...rest]),
  );
}
