import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../../server/src/api/http/server.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { canFollow as canFollowOfCards } from '../../server/src/money-in/card-payments/model.ts';
import { createRemoteCardPayments } from '../../server/src/money-in/card-payments/remote/service.ts';
import { createRemoteCharges } from '../../server/src/money-in/charges/remote/service.ts';
import { createRemotePayments } from '../../server/src/money-in/payments/remote/service.ts';
import { canFollow as canFollowOfPix } from '../../server/src/money-in/pix/model.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import { createWorkQueue } from '../../server/src/state/work/queue.ts';
import { nextDue } from '../../server/src/state/work/store.ts';
import { createRedaction } from '../../server/src/upstream/secrets.ts';
import { createReceiver } from '../../server/src/webhooks/receive.ts';
import { openFreshDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { startFacade } from '../support/facade.ts';
import { generated } from '../support/scale.ts';
import { type ScriptedUpstream, scriptedUpstream } from '../support/scripted-upstream.ts';

// The service returns a wrong status, in an answer or a signed webhook, or the right one late. The status that it
// returns last is shown in the end, for each family in the same way.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SECRET = 'segredo';
const AMOUNT_CENTS = 4990;
/** A status that the document does not have. */
const ODD = 'em análise';

/** An event in the life of a payment. `says`: the reported status, if it is not the true one. */
type Step =
  | { does: 'become'; status: PaymentStatus }
  | { does: 'look up' | 'poll'; says: PaymentStatus | typeof ODD | null }
  /** The lookup starts now, and its answer comes later. */
  | { does: 'look up slowly' }
  | { does: 'answer' }
  | { does: 'webhook'; says: PaymentStatus | null; hasAmount: boolean }
  | { does: 'pass'; ms: number };

const status = fc.constantFrom(...PAYMENT_STATUSES);
const word = fc.option(fc.constantFrom(...PAYMENT_STATUSES, ODD), { freq: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('become' as const), status }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom('look up' as const, 'poll' as const), says: word }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ does: 'look up slowly' }, { does: 'answer' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('webhook' as const),
      says: fc.option(status, { freq: 2 }),
      hasAmount: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('pass' as const),
      ms: fc.constantFrom(0, 1, 2 * SECOND, 30 * SECOND, 3 * MINUTE),
    }),
  },
);
/** All steps, and the true status in the end. */
interface History {
  steps: Step[];
  end: PaymentStatus;
}
const histories: fc.Arbitrary<History> = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 12 }),
  end: status,
});

async function start() {
  const database = await openFreshDatabase();
  const upstream: ScriptedUpstream = scriptedUpstream();
  const facade = await startFacade({ database, upstream });
  const { tenant, clock } = facade;
  const receiving = { callbackUrl: null, findProduct: async () => null, privateAddresses: false };
  const slices = {
    card_payment: createRemoteCardPayments({ ...facade, ...receiving }),
    payment: createRemotePayments({ ...facade, ...receiving }),
    charge: createRemoteCharges(facade),
  };
  type Family = keyof typeof slices;
  const merchant = { priority: 'merchant', subject: null, onRead: () => undefined } as const;
  const services = {
    card_payment: slices.card_payment.serviceFor(merchant),
    payment: slices.payment.serviceFor(merchant),
    charge: slices.charge.serviceFor(merchant),
  };
  const receiver = createReceiver({
    ...{ database, clock, committer: facade.committer, redaction: createRedaction([]) },
    ...{ publicUrl: 'https://facade.example', secrets: { live: [SECRET], sandbox: [] } },
    tenantOf: () => tenant,
    claimReaders: Object.values(slices).map(({ readWebhook }) => readWebhook),
    refresh: (of, resource, reference) =>
      slices[resource as Family].refresh(of, [reference], { priority: 'lookup' }),
    pollNow: () => undefined,
    lookUpSoon: async () => undefined,
    onFault: () => undefined,
  });
  const work = createWorkQueue({
    ...{ database, clock, handlers: receiver.tasks },
    onError: facade.onFault,
  });
  const http = createHttpServer({ onFault: facade.onFault });
  const port = await http.listen(0, '127.0.0.1');
  http.serve(receiver.routes);
  onTestFinished(async () => {
    await work.close();
    await http.close();
  });

  return {
    ...{ facade, upstream, slices, services, tenant, clock },
    async post(payload: object): Promise<void> {
      const body = JSON.stringify(payload);
      const response = await fetch(`http://127.0.0.1:${port}/webhooks/psa`, {
        method: 'POST',
        body,
        headers: { 'x-webhook-signature': createHmac('sha256', SECRET).update(body).digest('hex') },
      });
      expect(response.status).toBe(200);
    },
    /** Advances the clock to each instant at which a webhook is verified. */
    async pass(ms: number): Promise<void> {
      const until = plusMs(clock.now(), ms);
      for (;;) {
        await work.settled();
        const due = await nextDue(database.sql, Object.keys(receiver.tasks), clock.now());
        if (!due || due > until) break;
        clock.moveTo(due);
      }
      clock.moveTo(until);
      await work.settled();
    },
    /** The published statuses of a resource, in order, with the version of each. */
    async published(id: string) {
      const rows = await facade.database.sql
        .selectFrom('event')
        .select(['snapshot', 'previous_status'])
        .where('resource_id', '=', id)
        .orderBy('version')
        .execute();
      return rows.map(({ snapshot, previous_status: from }) => ({
        ...(snapshot as { status: PaymentStatus | 'unknown'; version: number }),
        from,
      }));
    },
  };
}

type World = Awaited<ReturnType<typeof start>>;

/** The families, with the service's names and forms. */
const FAMILIES = {
  card_payment: {
    idOf: (n: number) => `PEDIDO${n}`,
    path: '/v1/card-payments/',
    idName: 'orderCode',
    canFollow: canFollowOfCards,
  },
  payment: {
    idOf: (n: number) => `psa_${String(n).padStart(32, '0')}`,
    path: '/v1/payments/',
    idName: 'paymentId',
    canFollow: canFollowOfPix,
  },
  charge: {
    idOf: (n: number) => `psc_${String(n).padStart(32, '0')}`,
    path: '/v1/charges/',
    idName: 'chargeId',
    canFollow: canFollowOfPix,
  },
} as const;
type Family = keyof typeof FAMILIES;

/** A correction after an unknown status. */
const CORRECTED_BEHIND_ODD: History = {
  steps: [
    { does: 'become', status: 'paid' },
    { does: 'pass', ms: 3 * MINUTE },
    { does: 'look up', says: null },
    { does: 'pass', ms: 3 * MINUTE },
    { does: 'look up', says: ODD },
  ],
  end: 'failed',
};

const RUNS = generated(300);

let made = 0;

/** Plays a history of one resource, and compares its final status with the service's. */
async function play(world: World, family: Family, { steps, end }: History) {
  const { upstream, services, slices, tenant, clock, pass } = world;
  const { idOf, path, idName, canFollow } = FAMILIES[family];
  made += 1;
  const id = idOf(made);
  let truth: PaymentStatus = 'pending';
  let wrong: string | null = null;
  let isSlow = false;
  let arrived = deferred();
  const held: (() => void)[] = [];
  const looking: Promise<unknown>[] = [];
  upstream.script = async (request) => {
    if (!request.path.startsWith(path + id)) return undefined;
    const body = { [idName]: id, status: wrong ?? truth, amountCents: AMOUNT_CENTS };
    wrong = null;
    // The lookup that verifies a webhook is a request of its own.
    if (isSlow && request.requestOptions.priority === 'query') {
      const { promise, resolve } = deferred<void>();
      held.push(resolve);
      arrived.resolve();
      await promise;
    }
    return { body };
  };
  const find = () => services[family].find(tenant, id);
  const answer = async () => {
    for (const release of held.splice(0)) release();
    await Promise.all(looking.splice(0));
  };

  await find();
  for (const each of steps) {
    switch (each.does) {
      case 'become':
        truth = each.status;
        break;
      case 'look up':
      case 'poll':
        wrong = each.says;
        // A poll would wait for the shared lookup.
        await answer();
        if (each.does === 'look up') await find();
        else await slices[family].poll(tenant, { all: false, ids: [id] });
        wrong = null;
        break;
      case 'look up slowly':
        await answer();
        isSlow = true;
        arrived = deferred();
        looking.push(find());
        // A cached payment is not requested.
        await Promise.race([arrived.promise, looking[0]]);
        isSlow = false;
        break;
      case 'answer':
        await answer();
        break;
      case 'webhook': {
        const says = each.says ?? truth;
        const amount = each.hasAmount ? { amountCents: AMOUNT_CENTS } : {};
        await world.post({
          event: `${family}.${says}`,
          [idName]: id,
          status: says,
          ...amount,
          // Each webhook reports another instant.
          occurredAt: clock.now().toISOString(),
        });
        break;
      }
      case 'pass':
        await pass(each.ms);
    }
  }
  await answer();
  truth = end;
  // By then a status that only a webhook has reported is compared with the service's.
  await pass(4 * MINUTE);

  const known = await find();
  expect(known?.status).toBe(end);
  if (end === 'paid' || end === 'refunded') expect(known).not.toHaveProperty('unresolved');
  expect(known).not.toHaveProperty('claimedAt');

  const published = await world.published(id);
  let before: (typeof published)[number] | null = null;
  let last: PaymentStatus | null = null;
  const corrections: object[] = [];
  for (const now of published) {
    expect(now.from).toBe(before?.status ?? null);
    if (before) expect(now.version).toBeGreaterThan(before.version);
    if (now.status !== 'unknown') {
      const isCorrected =
        last !== null && last !== 'pending' && last !== now.status && !canFollow(last, now.status);
      if (isCorrected) corrections.push({ resource: family, id, from: last, to: now.status });
      last = now.status;
    }
    before = now;
  }
  expect(before?.status).toBe(end);
  const counted = world.facade.corrections.filter((correction) => correction.id === id);
  expect(counted).toEqual(corrections);
}

test(
  'What the service says last is shown in the end, whatever was said before, and each correction is published and counted once',
  async () => {
    const world = await start();
    const families = Object.keys(FAMILIES) as Family[];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...families), histories, (family, history) =>
        play(world, family, history),
      ),
      {
        numRuns: RUNS,
        examples: families.map((family): [Family, History] => [family, CORRECTED_BEHIND_ODD]),
      },
    );
    expect(world.facade.faults).toEqual([]);
  },
  30_000 + RUNS * 1_000,
);
