import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stream } from '../support/graphql.ts';
import { scale } from '../support/scale.ts';
import {
  LIVE_KEY,
  type Memory,
  report,
  startLoad,
  startTargetServer,
  type TargetServer,
} from './target-server.ts';

// Subscriptions whose operations all differ, so that nothing is shared: of a merchant's key, of a dashboard, and
// of payers, whose tokens anybody gets with the public token of a shop's page. They come from many networks. The
// server has a heap of 256 MB, its memory must stop growing, and each refusal has its reason.

const COUNT = scale('OWN_OPERATIONS');
const MINUTES = scale('OWN_OPERATIONS_MINUTES');
const READS = scale('BESIDE');
const isFull = COUNT >= 3_000;
/** The payers behind one checkout token. */
const PAYERS = Math.ceil(COUNT / 6);
const LIMIT = /^RATE_LIMITED: Rate limit exceeded: n /;

interface Followed {
  paymentId: string;
  txid: string;
  key: string;
}

let target: TargetServer;
let load: ReturnType<typeof startLoad>;
let followed: Followed;
let payers: Followed[];
let checkoutToken: string;
let otherKey: string;
let bystander: Stream;
let quietMs: number;
/** The same beside the writes of the attack, while nobody subscribes. */
let besideWritesMs: number;
/** The last version that the bystander has received. */
let heard: number;

beforeAll(async () => {
  target = await startTargetServer({ environment: { PSA_TRUSTED_PROXIES: '127.0.0.1' } });
  const { createCheckoutToken } = await target.live.request(
    `mutation { createCheckoutToken(input: { amount: { fixedCents: 4990 }, reusable: true, methods: [PIX], expiresInSeconds: 86400 }) {
      ... on CreateCheckoutTokenSuccess { token } } }`,
  );
  checkoutToken = createCheckoutToken.token;
  payers = await Promise.all(Array.from({ length: PAYERS }, (_, index) => pay(index)));
  followed = payers[0]!;
  otherKey = await target.addAccount();
  // The first payments create what is created once.
  await target.miss(followed, 2);
  await waits();
  quietMs = await waits();
  besideWritesMs = await besideWrites(waits);
  bystander = target.live.sse(
    `subscription { paymentUpdates(paymentId: "${followed.paymentId}") { payment { version } } }`,
    {},
  );
  heard = (await bystander.data()).paymentUpdates.payment.version;
  load = startLoad();
}, 300_000);
afterAll(async () => {
  await load.stop();
  await bystander.close();
  expect(await target.faults()).toEqual([]);
  await target.stop();
});

/** The address of a network. */
const address = (index: number) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

async function pay(index: number): Promise<Followed> {
  const client = target.client(checkoutToken, { 'x-forwarded-for': address(index) });
  const { startPixCheckout } = await client.request(
    `mutation { startPixCheckout(input: { attemptId: "attempt-${index}-${'0'.repeat(20)}", customer: { name: "Ana", email: "ana${index}@example.com" } }) {
      ... on StartPixCheckoutSuccess { paymentToken payment { paymentId pix { txid } } } ... on UserError { message } } }`,
  );
  const { paymentToken: key, payment } = startPixCheckout;
  return { paymentId: payment.paymentId, txid: payment.pix.txid, key };
}

/** The milliseconds within which 99 of 100 reads of another account are answered. */
async function waits(): Promise<number> {
  const client = target.client(otherKey);
  const waited: number[] = [];
  for (let count = 0; count < READS; count += 1) {
    const before = performance.now();
    const { payments } = await client.request('{ payments(first: 20) { nodes { paymentId status } } }');
    waited.push(performance.now() - before);
    expect(payments.nodes).toEqual([]);
  }
  return waited.sort((left, right) => left - right)[Math.floor(waited.length * 0.99)]!;
}

/** Does the work while wrong amounts are sent for the followed code, each of them an update. */
async function besideWrites<Result>(work: () => Promise<Result>): Promise<Result> {
  let running = true;
  const writing = (async () => {
    while (running) await target.miss(followed, 1);
  })();
  try {
    return await work();
  } finally {
    running = false;
    await writing;
  }
}

/** Asserts that the bystander receives an update for each version, in order. */
async function hearsAll(): Promise<void> {
  const { payment } = await target.live.request(
    `{ payment(paymentId: "${followed.paymentId}") { version } }`,
  );
  while (heard < payment.version) {
    const { version } = (await bystander.data()).paymentUpdates.payment;
    expect(version - heard).toBeLessThanOrEqual(1);
    heard = version;
  }
}

/** An operation that differs from all others, with the most aliases of the most expensive field. */
function operation(paymentId: string, name: string): string {
  const codes = Array.from({ length: 8 }, (_, at) => `${name}_${at}: pix { qr { path size } }`);
  return `subscription { paymentUpdates(paymentId: "${paymentId}") { cursor payment { version ${codes.join(' ')} } } }`;
}

let operations = 0;
const entries = (count: number, of: (index: number) => Followed) =>
  Array.from({ length: count }, (_, index) => {
    const { paymentId, key } = of(index);
    operations += 1;
    // A token has 120 root fields a minute in each network, and all payers of a network share a limit.
    const network = 1_000 * payers.findIndex((payer) => payer.key === key) + Math.floor(index / 100);
    return { key, query: operation(paymentId, `o${operations}`), address: address(network) };
  });

/** Opens this number of subscriptions of a credential over both transports. Returns how many are open. */
async function openAll(of: (index: number) => Followed): Promise<number> {
  let open = 0;
  for (const transport of ['sse', 'ws']) {
    const outcomes: Record<string, number> = await load.ask('subscribe', {
      url: target.url,
      transport,
      entries: entries(COUNT, of),
    });
    for (const [outcome, count] of Object.entries(outcomes)) {
      if (outcome === 'open') open += count;
      else expect(outcome).toMatch(LIMIT);
    }
  }
  return open;
}

test(`${COUNT} streams and ${COUNT} operations over WebSockets of each credential, with an operation of its own each, leave the server alive`, async () => {
  const { createDashboardToken } = await target.live.request(
    'mutation { createDashboardToken(input: { scopes: [PAYMENTS], expiresInSeconds: 86400 }) { ... on CreateDashboardTokenSuccess { token } } }',
  );
  const refused: Record<string, number> = await load.ask('subscribe', {
    url: target.url,
    transport: 'sse',
    entries: entries(COUNT, () => ({ ...followed, key: checkoutToken })),
  });
  expect(Object.keys(refused)).not.toContain('open');

  const credentials: Record<string, (index: number) => Followed> = {
    'a payer’s token': () => followed,
    'tokens of many payers': (index) => payers[1 + (Math.floor(index / 6) % (PAYERS - 1))]!,
    'a dashboard token': () => ({ ...followed, key: createDashboardToken.token }),
    'an API key': () => ({ ...followed, key: LIVE_KEY }),
  };
  const open: Record<string, number> = {};
  const memory: Memory[] = [];
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    for (const [name, of] of Object.entries(credentials))
      open[name] = (open[name] ?? 0) + (await openAll(of));
    await target.miss(followed, 3);
    await target.rest();
    memory.push(await target.memory());
    await target.pass(60_000);
  }
  report(`${COUNT} operations of their own by each transport and credential`, {
    ...open,
    'MB after a minute': memory[0]!.rssMb,
    'MB at the end': memory.at(-1)!.rssMb,
  });
  expect(open['a payer’s token']).toBe(5);
  expect(open['a dashboard token']).toBeGreaterThan(5);
  expect(open['an API key']).toBeGreaterThan(5);
  expect(open['tokens of many payers']).toBeGreaterThan(5);
  // V8's own memory grows for a while: a small size compares only the held memory.
  const member = isFull ? 'rssMb' : 'heldMb';
  expect(memory.at(-1)![member]).toBeLessThan(1.1 * memory[0]![member]);
  await hearsAll();
}, 3_600_000);

test('Under their updates the reads of another account wait hardly longer, and its followers miss nothing', async () => {
  const client = target.client(otherKey);
  const { updatesCursor: after } = await client.request('{ updatesCursor }');
  const own = client.ws(
    'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { orderCode } } }',
    { after },
  );
  const codes: string[] = [];
  const amongMs = await besideWrites(async () => {
    const ms = await waits();
    for (let count = 0; count < 5; count += 1) {
      const { createCardPayment } = await client.request(
        'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
      );
      codes.push(createCardPayment.cardPayment.orderCode);
    }
    return ms;
  });
  for (const code of codes) expect((await own.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(code);
  await own.close();
  await hearsAll();
  report('A read beside them', {
    'p99 in ms': amongMs,
    'beside the same writes alone': besideWritesMs,
    'without both': quietMs,
  });
  if (isFull) expect(amongMs).toBeLessThan(5 * quietMs);
}, 600_000);
