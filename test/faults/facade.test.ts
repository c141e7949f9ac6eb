import { createHmac } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { CHECKOUT_SESSION_MS } from '../../server/src/money-in/checkout/model.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { type Arrival, type Fault, PASS, type Plan, startFaultProxy } from '../support/fault-proxy.ts';
import { createClient } from '../support/graphql.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { runsAll, scale } from '../support/scale.ts';
import { spawnServer } from './child.ts';
import { type Expectation, type Kind, send } from './expectations.ts';
import {
  booksOfFacade,
  booksOfService,
  complaintsOfCallers,
  complaintsOfMirror,
  counted,
  endsOfUnknown,
  type FacadeBooks,
  inParallel,
  rowsOf,
  type ServiceBooks,
  stateOf,
  words,
} from './facade-audit.ts';
import { FAMILIES, prepareFamilies } from './facade-families.ts';
import { createFacade, type Facade } from './facades.ts';
import { chosenSeed, createRandom, type Random, shuffled } from './random.ts';

/** The number of requests of the facades that reach the service or are lost on their way. */
const CALLS = scale('FAULTY_CALLS');
const FORGED = CALLS;
const BUDGET = 120;
const WINDOW_MS = 1_000;
const CALLERS = 64;
const SUBACCOUNTS = 8;
const KEYS = { live: 'ps_live_faulty0123456789', sandbox: 'ps_test_faulty0123456789' };
/** The service lets out ten payouts an hour in either environment; the rest of these shows the refusals. */
const PAYOUTS = 14;
const DAYS_LATE_MS = 72 * 3_600_000;
const MINUTE_MS = 60_000;
/** The pause between two lookups of a request that will soon be given up. */
const STEP_MS = 6_000;

/**
 * Unknown outcomes are looked up after 20 ms at first. After eighteen seconds a request that the service does not
 * have is given up.
 */
const UPSTREAM_TUNING = { skewMs: 20, pace: 0.02 };
const TIMEOUTS = { readMs: 800, writeMs: 1_000 };

test(`In ${CALLS} requests of two facades over a failing network the budget holds, nothing is done twice, and every outcome becomes known`, {
  timeout: 900_000,
}, async () => {
  const seed = chosenSeed();
  const random = createRandom(seed);
  const say = (line: string) => process.stdout.write(`  ${line}\n`);
  const message = `PSA_FAULTS_SEED=${seed}`;
  say(message);

  // ── The service, and the two in front of it ──
  const service = spawnServer();
  onTestFinished(service.kill);
  const { url: serviceUrl } = await service.ask('start', {
    environment: {
      DATABASE_URL: await createPostgresDatabase(),
      PSA_BOOTSTRAP_LIVE_KEY: KEYS.live,
      PSA_BOOTSTRAP_TEST_KEY: KEYS.sandbox,
      PSA_GRAPHQL_LIMIT: '1000000',
    },
    restLimit: 1_000_000,
    databaseWaitMs: MINUTE_MS,
  });
  let aheadMs = 0;
  const passAtService = async (ms: number) => {
    aheadMs += ms;
    await service.ask('pass', { ms });
  };
  await service.ask('credit', { name: 'opening', cents: 10_000_000_000, litoshi: 100_000_000_000 });
  const post = startPost(random);
  const receiver = await startReceiver((response, received) => {
    response.end();
    post.take(received);
  });
  const secrets: string[] = [];
  for (const key of Object.values(KEYS)) {
    const merchant = createClient(`${serviceUrl}/graphql`, key);
    const { done } = await merchant.request(CONFIGURE, { input: { url: receiver.url } });
    secrets.push(done.secret);
  }
  await createClient(`${serviceUrl}/graphql`, KEYS.sandbox).request(TEST_PAYMENT);

  const proxy = await startFaultProxy({ target: serviceUrl });
  onTestFinished(() => proxy.close());
  const start = {
    windowMs: WINDOW_MS,
    databaseWaitMs: MINUTE_MS,
    environment: {
      DATABASE_URL: await createPostgresDatabase(),
      PSA_UPSTREAM_URL: proxy.url,
      PSA_UPSTREAM_LIVE_KEY: KEYS.live,
      PSA_UPSTREAM_TEST_KEY: KEYS.sandbox,
      PSA_UPSTREAM_WEBHOOK_SECRET: secrets.join(','),
      PSA_UPSTREAM_LIMIT: String(BUDGET),
      PSA_UPSTREAM_FAMILIES: FAMILIES,
      PSA_GRAPHQL_LIMIT: '1000000',
    },
  };
  const patient = { ...start, upstreamTuning: UPSTREAM_TUNING };
  const impatient = { ...start, upstreamTuning: { ...UPSTREAM_TUNING, timeouts: TIMEOUTS } };
  const facades = [
    createFacade('A', () => impatient, KEYS),
    // Until its first death this facade has the default timeouts, so that the hanging requests die with it.
    createFacade('B', (life) => (life === 0 ? patient : impatient), KEYS),
  ] as const;
  for (const facade of facades) onTestFinished(facade.end);
  const [steady, mortal] = facades;
  post.deliverTo(facades);

  const subaccounts: string[] = [];
  // Resources are prepared through the facade with long timeouts: a busy service may be slower than the others wait.
  const { live: prepared } = await mortal.now();
  for (let index = 0; index < SUBACCOUNTS; index++) {
    const { done } = await prepared.request(OPEN, { input: { name: `customer ${index}` } });
    subaccounts.push(done.subaccount.subaccountId);
    const { done: given } = await prepared.request(GIVE, {
      input: { subaccountId: subaccounts.at(-1), amountCents: 500_000_000, idempotencyKey: `first:${index}` },
    });
    expect(given.subaccount, JSON.stringify(given)).toBeDefined();
  }
  const families = await prepareFamilies({
    service,
    merchant: createClient(`${serviceUrl}/graphql`, KEYS.live),
    subaccountId: subaccounts[0]!,
    pass: passAtService,
  });
  const watchers = facades.flatMap((facade) => FOLLOWED.map((followed) => follow(facade, followed)));
  await Promise.all(watchers.map(({ ready }) => ready));

  // ── What callers do ──
  let calls = 0;
  const fails = failing(createRandom(seed + 1));
  proxy.plan = families.planOf((arrival) => {
    calls += 1;
    return fails(arrival);
  });
  const expectations: Expectation[] = [];
  const reads: string[] = [];
  const wanted: Record<Kind, number> = { payout: 0, subaccountPayout: 0, transfer: 0, cardPayment: 0 };
  let stopping = false;
  let killed: Promise<void> | null = null;

  function newExpectation(kind: Kind): Expectation {
    const number = wanted[kind]++;
    const environment = kind === 'payout' && number % 2 === 1 ? 'sandbox' : 'live';
    const expectation: Expectation = {
      kind,
      environment,
      amountCents: AMOUNTS[kind] + number,
      key: random.below(2) === 0 ? `${kind}:${number}` : null,
      subaccountId: random.pick(subaccounts),
      destination: random.pick(kind === 'payout' && environment === 'live' ? DESTINATIONS : PIX_KEYS),
      reported: [],
    };
    expectations.push(expectation);
    return expectation;
  }

  async function ask(expectation: Expectation, facade: Facade) {
    const life = await facade.now();
    return send(expectation, life[expectation.environment], life.isOver);
  }

  async function move(kind: Kind, facade: Facade, other: Facade): Promise<void> {
    const expectation = newExpectation(kind);
    // An impatient caller sends its key to both facades at once.
    const both = expectation.key !== null && random.below(3) === 0;
    const [reported] = await Promise.all([ask(expectation, facade), both && ask(expectation, other)]);
    // A request with a key may be repeated at either facade; one without a key never.
    if (reported.outcome !== 'done' && expectation.key !== null && random.below(2) === 0)
      await ask(expectation, other);
    if (kind !== 'cardPayment' || reported.outcome !== 'done' || random.below(3) === 0) return;
    await service.ask('pay', { orderCode: reported.id, cardNumber: '4242424242424242' });
  }

  async function read(facade: Facade): Promise<void> {
    const done = expectations.filter(({ reported }) => reported.some(({ outcome }) => outcome === 'done'));
    const expectation = done.length > 0 ? random.pick(done) : null;
    const id = expectation?.reported.find((reported) => reported.outcome === 'done')?.id;
    const life = await facade.now();
    const [query, variables] = random.pick([
      ['{ wallet { withdrawableCents } }', {}],
      ['{ payouts(first: 20) { nodes { withdrawalId status } } }', {}],
      ['{ subaccounts(first: 50) { nodes { subaccountId balanceCents } } }', {}],
      [
        'query ($id: String!) { subaccount(subaccountId: $id) { statement(first: 20) { nodes { refId } } } }',
        { id: random.pick(subaccounts) },
      ],
      ...(expectation?.kind === 'cardPayment' ? Array(8).fill([FIND_CARD_PAYMENT, { id }]) : []),
      ...(expectation?.kind === 'subaccountPayout'
        ? Array(8).fill([LOOK_UP, { subaccountId: expectation.subaccountId, reference: id }])
        : []),
    ] as [string, object][]);
    try {
      const { body } = await life[expectation?.environment ?? 'live'].send(
        query,
        variables as Record<string, unknown>,
      );
      if (!body.errors) reads.push('answered');
      else if (
        body.errors.every(({ extensions }: { extensions?: { code?: string } }) =>
          MAY_BE_READ_AS.has(extensions?.code ?? ''),
        )
      )
        reads.push(body.errors[0].extensions.code);
      else throw new Error(`${query}: ${JSON.stringify(body.errors)}`);
    } catch (error) {
      if (!(error instanceof TypeError && life.isOver())) throw error;
    }
  }

  async function caller(index: number): Promise<void> {
    const facade = facades[index % 2]!;
    const other = facades[(index + 1) % 2]!;
    while (!stopping) {
      const drawn = random.below(100);
      if (drawn < 2 && wanted.payout < PAYOUTS * 2) await move('payout', facade, other);
      else if (drawn < 30) await move('subaccountPayout', facade, other);
      else if (drawn < 36) await move('transfer', facade, other);
      else if (drawn < 40) await move('cardPayment', facade, other);
      else await read(facade);
      if (calls >= CALLS / 2 && runsAll()) killed ??= killedFirst.then(mortal.killAndStartAgain);
      if (calls >= CALLS) stopping = true;
    }
  }

  const began = performance.now();
  const killedFirst = families.killAndStartAgain(mortal, proxy.arrivals);
  const ended = (error: unknown) => {
    stopping = true;
    throw error;
  };
  const calling = Array.from({ length: CALLERS }, (_, index) => caller(index).catch(ended));
  await Promise.all([killedFirst.catch(ended), ...calling]).finally(() => Promise.allSettled(calling));
  await killed;
  const sinceThen = () => `${((performance.now() - began) / 1_000).toFixed(0)} s`;
  say(`${proxy.arrivals.length} arrivals in ${sinceThen()}`);

  // ── The network is well again, and all becomes known ──
  proxy.plan = () => PASS;
  post.deliverSkippedWithdrawals();
  const { server: books } = await steady.now();
  // The bank decides a minute later.
  await passAtService(MINUTE_MS);
  if (!runsAll()) await passAtFacades(facades, proxy.arrivals);
  await families.sendAgain(mortal);
  for (let steps = 0; steps < 6 && !runsAll(); steps += 1)
    if ((await rowsOf(books, OPEN_ENDS)).length > 0) await passAtFacades(facades, proxy.arrivals);
  const openEnds = () => rowsOf(books, OPEN_ENDS);
  const certain = async () => (await openEnds()).filter((row) => !isAmbiguous(row as Intent));
  await expect.poll(certain, { timeout: 120_000, interval: 250, message }).toEqual([]);
  if ((await openEnds()).length > 0)
    await Promise.all(
      facades.map(async (each) => (await each.now()).server.ask('pass', { ms: CHECKOUT_SESSION_MS })),
    );
  await expect.poll(openEnds, { timeout: 120_000, interval: 250, message }).toEqual([]);
  say(`after ${sinceThen()} all outcomes are known`);

  expect(await families.complaints(facades), message).toEqual([]);
  await expect.poll(post.undelivered, { timeout: 120_000, message }).toEqual([]);
  let atService = await booksOfService(service, aheadMs);
  let atFacade = await booksOfFacade(books);
  // Payouts that the bank has not decided change during the comparison; a failed one is returned seconds later.
  const compare = async () => {
    await refresh(steady, atFacade);
    atService = await booksOfService(service, aheadMs);
    atFacade = await booksOfFacade(books);
    const failed = atService.made.filter(
      ({ kind, status }) => kind === 'subaccountPayout' && status === 'failed',
    );
    // The mirror has the status of a webhook that the service has not confirmed: the facade asks it again.
    const claimed = atFacade.observed.filter(({ snapshot }) => 'claimedAt' in snapshot);
    return [...complaintsOfMirror(atService, atFacade), ...failed, ...claimed];
  };
  await expect.poll(compare, { interval: 1_000, message }).toEqual([]);
  const missed = () => watchers.flatMap((watcher) => missedBy(watcher, atFacade));
  await expect.poll(missed, { message }).toEqual([]);
  const complaints = [
    ...complaintsOfCallers(expectations, atService, atFacade),
    ...(await complaintsOfLookups(facades, expectations, atService)),
    ...facades.flatMap((facade) => facade.faults().filter((fault) => !IS_DELAY.test(fault))),
    ...service.faults,
  ];
  expect(complaints, message).toEqual([]);

  say(`after ${sinceThen()} all books agree`);

  // ── Days later every webhook comes again, in any order, and by others too ──
  // By the clocks of the facades, days lie between these requests and the later ones; by that of the proxy, less than a window.
  const before = proxy.arrivals.length;
  for (const facade of facades) await (await facade.now()).server.ask('pass', { ms: DAYS_LATE_MS });
  const late = shuffled(
    post.taken.flatMap((webhook) => Array<Received>(1 + random.below(7)).fill(webhook)),
    random,
  );
  const forged = Array.from({ length: FORGED }, () => forge(random.pick(post.taken), random));
  const statuses = new Map<string, number>();
  await inParallel(shuffled([...late, ...forged], random), 16, async (webhook) => {
    const { status } = await sendTo((await random.pick(facades).now()).url, webhook);
    const name = `${'forged' in webhook ? 'forged' : 'late'} ${status}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
  });
  expect(Object.fromEntries(statuses), message).toEqual({ 'late 200': late.length, 'forged 401': FORGED });
  await expect.poll(() => rowsOf(books, OPEN_ENDS), { timeout: 120_000, interval: 250, message }).toEqual([]);
  expect(stateOf(await booksOfFacade(books)), message).toEqual(stateOf(atFacade));
  expect(await booksOfService(service, aheadMs), message).toEqual(atService);
  const fullest = Math.max(
    ...[proxy.arrivals.slice(0, before), proxy.arrivals.slice(before)].map((some) =>
      proxy.maxInWindow(WINDOW_MS, some),
    ),
  );
  expect(fullest, message).toBeLessThanOrEqual(BUDGET);

  say(
    `${families.tally()} requests of other families; ${late.length} late webhooks of ${post.taken.length}, ${FORGED} forged; ${proxy.arrivals.length} arrivals in all, after ${sinceThen()}`,
  );
  say(`the fullest ${WINDOW_MS} ms: ${fullest} of ${BUDGET}`);
  say(`faults: ${counted(proxy.arrivals.map(({ fault }) => nameOf(fault)))}`);
  say(`reads: ${counted(reads)}`);
  say(
    `reported: ${counted(expectations.flatMap(({ kind, reported }) => reported.map((each) => `${kind} ${words(each)}`)))}`,
  );
  say(`unknown in the end: ${counted(endsOfUnknown(expectations, atService))}`);
  // Each facade logs that a caller does not know the secret, and nothing else.
  const logged = facades
    .flatMap((facade) => facade.faults())
    .filter((fault) => !IS_DELAY.test(fault))
    .map((fault) => fault.split('\n')[0]!);
  say(`logged by the facades: ${counted(logged)}`);
  const others = logged.filter((line) => !line.includes('none of the configured secrets'));
  expect([...others, ...service.faults], message).toEqual([]);
});

const AMOUNTS: Record<Kind, number> = {
  payout: 10_000_000,
  subaccountPayout: 1_000_000,
  transfer: 20_000_000,
  cardPayment: 30_000_000,
};
const PIX_KEYS = ['bia@cliente.example', 'bia@cliente.example', 'nega@psa.example', 'recusa@psa.example'];
const DESTINATIONS = [...PIX_KEYS, 'demora@psa.example', 'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3'];
const MAY_BE_READ_AS = new Set(['RATE_LIMITED', 'UPSTREAM_UNAVAILABLE']);

const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) {
  done: configureWebhook(input: $input) { ... on ConfigureWebhookSuccess { secret } ... on UserError { message } }
}`;
const TEST_PAYMENT = `mutation {
  createTestPayment(input: { valueCents: 999999999 }) { ... on UserError { message } }
}`;
const OPEN = `mutation ($input: CreateSubaccountInput!) {
  done: createSubaccount(input: $input) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } ... on UserError { message } }
}`;
const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { subaccountId } } ... on UserError { message } }
}`;
const LOOK_UP = `query ($subaccountId: String!, $reference: String!) {
  subaccountPayout(subaccountId: $subaccountId, reference: $reference) { payoutId status reversed amountCents version }
}`;
const FIND_PAYOUT = 'query ($id: String!) { payout(withdrawalId: $id) { status } }';
const FIND_CARD_PAYMENT = 'query ($id: String!) { cardPayment(orderCode: $id) { status } }';
/** The age of an unknown outcome, and a lookup that the own budget of a facade has put off often. */
const IS_DELAY =
  /^Error: (?:The outcome of \w+ int_\w+ has been unknown since|A webhook of .* could not be verified so far: Rate limit exceeded)/;
const OPEN_ENDS = `
  select operation, key, state, looks, summary, finding from upstream_intent where state in ('sending', 'in_doubt') limit 5`;

/**
 * Whether an open intent is a card payment that was sent twice and exists twice: no lookup can choose one, until
 * neither can be paid.
 */
function isAmbiguous({ operation, looks }: Intent): boolean {
  return operation.startsWith('createCardPayment') && looks >= 8;
}

type Intent = { operation: string; looks: number };

/**
 * Advances the facades' clocks past the eighteen seconds after which a request that the service never had is given
 * up. Late requests arrive before that. A larger run waits, because its budget is of real time.
 */
async function passAtFacades(facades: readonly Facade[], arrivals: readonly Arrival[]): Promise<void> {
  const late = () =>
    arrivals.filter(({ fault, upstreamStatus }) => fault?.kind === 'delay' && upstreamStatus === null);
  await expect.poll(late).toEqual([]);
  await Promise.all(facades.map(async (each) => (await each.now()).server.ask('pass', { ms: STEP_MS })));
}

/** Reads from the service everything that may have changed. */
async function refresh(facade: Facade, { observed }: FacadeBooks): Promise<void> {
  const open = observed.filter(({ final }) => !final);
  await inParallel(open, 8, async ({ resource, id, environment, parent }) => {
    const { [environment]: api } = await facade.now();
    const [query, variables] = {
      payout: [FIND_PAYOUT, { id }],
      card_payment: [FIND_CARD_PAYMENT, { id }],
      subaccount_payout: [LOOK_UP, { subaccountId: parent, reference: id }],
    }[resource] as [string, Record<string, unknown>];
    await api.request(query, variables);
  });
}

/** The lookups by reference, on any instance, that do not find the outcome. */
async function complaintsOfLookups(
  facades: readonly Facade[],
  expectations: readonly Expectation[],
  { made }: ServiceBooks,
): Promise<string[]> {
  const complaints: string[] = [];
  const there = new Map(made.map(({ kind, amountCents, status }) => [`${kind} ${amountCents}`, status]));
  const lookups = expectations.flatMap((expectation) =>
    expectation.reported.flatMap((reported) =>
      reported.outcome === 'unknown' && reported.lookupReference !== null
        ? facades.map((facade) => ({ expectation, reference: reported.lookupReference, facade }))
        : [],
    ),
  );
  await inParallel(lookups, 8, async ({ expectation, reference, facade }) => {
    const { subaccountId, amountCents, kind } = expectation;
    // A busy service is late often enough that a facade pauses its requests.
    const answers: ((Update & { amountCents: number }) | null)[] = [];
    const ask = async () => {
      const { live } = await facade.now();
      const { subaccountPayout } = await live.request(LOOK_UP, { subaccountId, reference });
      return answers.push(subaccountPayout);
    };
    await expect.poll(ask, { interval: 250 }).toBe(1);
    const it = answers[0];
    const status = it ? statusOf(it) : undefined;
    const expected = there.get(`${kind} ${amountCents}`);
    // A payout that the service does not have was reversed, or was never shown.
    const isNone = expected === undefined && (it === null || status === 'reversed');
    if ((status !== expected && !isNone) || (it && it.amountCents !== amountCents))
      complaints.push(`${reference} is found as ${JSON.stringify(it)}, and is ${expected}`);
  });
  return complaints;
}

/**
 * A plan with every kind of fault, for a thousand requests. Payouts of the main account fail more often, because
 * there are few.
 */
function failing(random: Random): Plan {
  const faults: [number, Fault][] = [
    [2, { kind: 'status', status: 429, when: 'before', retryAfterSeconds: 1 }],
    [2, { kind: 'status', status: 429, when: 'before' }],
    [8, { kind: 'status', status: 500, when: 'before' }],
    [10, { kind: 'status', status: 500, when: 'after' }],
    [8, { kind: 'status', status: 502, when: 'before' }],
    [10, { kind: 'status', status: 502, when: 'after' }],
    [4, { kind: 'status', status: 503, when: 'before' }],
    [12, { kind: 'reset', when: 'before' }],
    [15, { kind: 'reset', when: 'after' }],
    [5, { kind: 'hang', when: 'before' }],
    [10, { kind: 'hang', when: 'after' }],
    // The request arrives after its sender has given it up.
    [8, { kind: 'delay', when: 'before', ms: 1_500 }],
    [8, { kind: 'delay', when: 'after', ms: 1_500 }],
    [20, { kind: 'delay', when: 'after', ms: 100 }],
    [8, { kind: 'slow', bytesPerSecond: 1 }],
  ];
  return ({ method, path }: Arrival) => {
    let drawn = random.below(method === 'POST' && path === '/v1/payouts' ? 250 : 1_000);
    for (const [share, fault] of faults) {
      if (drawn < share) return fault;
      drawn -= share;
    }
    return PASS;
  };
}

// ── Webhooks ────────────────────────────────────────────────────────────────────────────────────

/** Accepts the service's webhooks, and delivers them in any order: most at once, some twice, some much later. */
function startPost(random: Random) {
  const taken: Received[] = [];
  const waiting: Received[] = [];
  const skipped: Received[] = [];
  /** The reason why the last webhook was refused. */
  let refused: unknown = null;
  let facades: readonly Facade[] = [];
  let under = 0;

  async function pump(): Promise<void> {
    while (waiting.length > 0 && facades.length > 0) {
      const [message] = waiting.splice(random.below(waiting.length), 1);
      await deliver(message!, random.pick(facades)).catch((error: unknown) => {
        refused = error;
        waiting.push(message!);
      });
    }
  }

  function begin(): void {
    if (under >= 4) return;
    under += 1;
    void pump().finally(() => {
      under -= 1;
    });
  }

  async function deliver(message: Received, facade: Facade): Promise<void> {
    const response = await sendTo((await facade.now()).url, message);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  }

  return {
    taken,
    take(message: Received) {
      taken.push(message);
      const times = random.pick([0, 1, 1, 1, 1, 1, 1, 2]);
      for (let time = 0; time < times; time++) waiting.push(message);
      if (times === 0) skipped.push(message);
      begin();
    },
    /**
     * No list names a payout whose answer was lost: only its webhook does, which the service repeats until it is
     * accepted.
     */
    deliverSkippedWithdrawals() {
      waiting.push(...skipped.splice(0).filter(({ body }) => body.includes('"withdrawal.')));
      begin();
    },
    deliverTo(given: readonly Facade[]) {
      facades = given;
    },
    /** The open task, and why its last delivery failed; empty once all is delivered. */
    undelivered: () =>
      under === 0 && waiting.length === 0
        ? []
        : [
            `${waiting.length} wait, ${under} under way; last refused: ${refused}`,
            ...waiting.slice(0, 3).map(({ body }) => body),
          ],
  };
}

function sendTo(url: string, { headers, body }: Pick<Received, 'headers' | 'body'>): Promise<Response> {
  const own = Object.entries(headers).filter(([name]) => /^(content-type|x-webhook-|webhook-)/.test(name));
  return fetch(`${url}/webhooks/psa`, {
    method: 'POST',
    headers: Object.fromEntries(own) as Record<string, string>,
    body,
  });
}

// ── Following ───────────────────────────────────────────────────────────────────────────────────

interface Followed {
  readonly resource: 'payout' | 'subaccount_payout' | 'card_payment';
  readonly environment: 'live' | 'sandbox';
  readonly subscription: string;
}

const FOLLOWED: readonly Followed[] = [
  {
    resource: 'subaccount_payout',
    environment: 'live',
    subscription: `subscription ($after: String) {
      update: allSubaccountPayoutUpdates(after: $after) { cursor it: subaccountPayout { id: payoutId status reversed version } }
    }`,
  },
  ...(['live', 'sandbox'] as const).map((environment) => ({
    resource: 'payout' as const,
    environment,
    subscription: `subscription ($after: String) {
      update: allPayoutUpdates(after: $after) { cursor it: payout { id: withdrawalId status version } }
    }`,
  })),
  {
    resource: 'card_payment',
    environment: 'live',
    subscription: `subscription ($after: String) {
      update: allCardPaymentUpdates(after: $after) { cursor it: cardPayment { id: orderCode status version } }
    }`,
  },
];

interface Update {
  id: string;
  status: string;
  reversed?: boolean;
  version: number;
}

type Watcher = ReturnType<typeof follow>;

/** Follows all resources of a kind at a facade, and reconnects with the last cursor after a kill. */
function follow(facade: Facade, { resource, environment, subscription }: Followed) {
  const seen: Update[] = [];
  let after: string | null = null;
  const ready = (async () => {
    const { [environment]: api } = await facade.now();
    after = (await api.request('{ updatesCursor }')).updatesCursor;
  })();
  const ended = ready.then(async () => {
    for (;;) {
      const { [environment]: api, isOver } = await facade.now();
      const stream = api.ws(subscription, { after });
      try {
        for (;;) {
          const { update } = await stream.data();
          after = update.cursor;
          seen.push(update.it);
        }
      } catch (error) {
        if (!isOver()) return error;
      }
    }
  });
  return { facade, resource, environment, seen, ready, ended };
}

/** Differences between the received updates and the log. */
function missedBy({ facade, resource, environment, seen }: Watcher, { events }: FacadeBooks): string[] {
  const logged = events.filter((event) => event.resource === resource && event.environment === environment);
  const all = logged.map(({ id, number, status }) => `${id} ${number} ${status}`);
  const reported = seen.map((update) => `${update.id} ${update.version} ${statusOf(update)}`);
  const first = all.findIndex((line, index) => line !== reported[index]);
  if (first < 0 && reported.length === all.length) return [];
  return [
    `${facade.name} ${environment} ${resource}: received ${reported.length} of ${all.length}; at ${first}: ${reported[first]}, not ${all[first]}`,
  ];
}

function statusOf({ status, reversed }: { status: string; reversed?: boolean }): string {
  return reversed ? 'reversed' : status.toLowerCase();
}

function nameOf(fault: Fault | null): string {
  if (!fault) return 'never whole';
  const {
    kind,
    when = '',
    status = '',
    ms = '',
  } = fault as { kind: string; when?: string; status?: number; ms?: number };
  return [kind, status, ms, when].filter((part) => part !== '').join(' ');
}

// ── Forgers ─────────────────────────────────────────────────────────────────────────────────────

/** Sends a forged webhook: like the service's, without its signature. */
function forge(
  { headers, body }: Received,
  random: Random,
): Pick<Received, 'headers' | 'body'> & { forged: true } {
  const { 'x-webhook-signature': signature = '', ...rest } = headers as Record<string, string>;
  const signedWith = (secret: string, text: string) =>
    createHmac('sha256', secret).update(text).digest('hex');
  const other = body
    .replaceAll(/"(processing|pendente|failed|negado)"/g, '"completed"')
    .replace(/"amount(Cents)?":\s*(\d+)/, '"amount$1":9$2')
    .replace(/\}$/, ',"forged":true}');
  const flipped = `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}`;
  const [text, signed] = random.pick<[string, string | null]>([
    [other, signature],
    [other, signedWith('', other)],
    [other, signedWith('whsec_guessed', other)],
    [other, null],
    [body, flipped],
    [body, signature.slice(0, -2)],
    [body, signedWith(KEYS.live, body)],
    [`${body} `, signature],
  ]);
  return {
    forged: true,
    body: text,
    headers: {
      ...rest,
      'x-webhook-id': random.below(2) === 0 ? `msg_forged${random.below(1_000_000)}` : rest['x-webhook-id'],
      ...(signed !== null && { 'x-webhook-signature': signed }),
    },
  };
}
