// The built server in a process of its own, as in production, with a clock that can be advanced and figures of
// what an attack costs.
import { setTimeout } from 'node:timers/promises';
import { answerParent, cpuMicroseconds, memoryMegabytes } from '../bench/processes/answer.mjs';
import { modules } from '../support/built.mjs';

const { CompiledQuery } = await modules.kysely();
/** The function that creates an app. @type {(options: Parameters<typeof import('../../server/src/programs/app.ts').createApp>[0]) => Promise<any>} */
const createApp = (await modules.app()).createApp;
const { readConfig } = await modules.config();
const { openDatabase } = await modules['db/open']();
const { createShiftableClock, createSystemClock } = await modules['kernel/clock']();

const LOOK_MS = 250;
const DATABASE_WAIT_MS = 60_000;
/** The share of a processor below which the server counts as idle. */
const IDLE = 0.1;

const clock = createShiftableClock(createSystemClock());
/** Faults that it has logged. @type {string[]} */
const faults = [];
const fault = (/** @type {unknown} */ error) =>
  faults.push(error instanceof Error ? String(error.stack) : JSON.stringify(error));

/** @type {import('../../server/src/programs/app.ts').App & { embedded: import('../../server/src/programs/modes/runtime.ts').EmbeddedServices }} */
let app;
/** @type {import('../../server/src/kernel/tenant.ts').Tenant} */
let tenant;

answerParent({
  /**
   * `options` are those of the configuration that no variable sets, `testing` those that `createApp` takes for
   * tests.
   */
  async start({ environment, options = {}, testing = {} }) {
    app = await createApp({
      config: { ...readConfig({ PORT: '0', PSA_DEMO: 'off', ...environment }), ...options },
      testing: {
        // The attacks are not aimed at the database, which may be slow on a busy machine: it gets more time.
        open: (/** @type {import('../../server/src/state/db/open.ts').DatabaseOptions} */ given) =>
          openDatabase({ ...given, waitMs: DATABASE_WAIT_MS }),
        ...testing,
      },
      clock,
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (/** @type {{ err?: unknown }} */ { err }, /** @type {string} */ message) =>
          fault(err ?? message),
      },
      onFatal: fault,
    });
    const { id } = await app.database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
    tenant = { accountId: id, environment: 'live' };
    return { url: app.url, port: app.port };
  },
  cpu: cpuMicroseconds,
  /** Resolves when the server is idle, or nearly so. */
  async rest() {
    for (let before = cpuMicroseconds(); ; before = cpuMicroseconds()) {
      await setTimeout(LOOK_MS);
      if (cpuMicroseconds() - before < LOOK_MS * 1_000 * IDLE) return;
    }
  },
  /**
   * Measures memory after garbage collection: of the process, and of JavaScript with its buffers. The first
   * includes what V8 keeps for itself; the second is what an attacker can make grow without end.
   */
  async memory() {
    const { rssMb } = await memoryMegabytes();
    const { heapUsed, external } = process.memoryUsage();
    return { rssMb, heldMb: (heapUsed + external) / 1e6 };
  },
  faults: () => faults,
  pass: ({ ms }) => clock.shiftTo(clock.offsetMs() + ms),
  /** Creates a number of card payments. */
  async happen({ count, metadata }) {
    const { cardPayments } = app.embedded;
    await Promise.all(
      Array.from({ length: count }, () =>
        cardPayments.create(tenant, { valueCents: 4_990, ...(metadata && { metadata }) }),
      ),
    );
  },
  /**
   * Sends a wrong amount for the code of a payment, this number of times: each is returned, which makes one
   * update or two.
   */
  async miss({ paymentId, txid, times }) {
    const { payments, pix } = app.embedded;
    for (let time = 0; time < times; time++) {
      await pix.pay({ txid, amountCents: 1 });
      await payments.receive(tenant, paymentId);
    }
  },
  /** A number that grows with every change. */
  async changes() {
    const count = `select (select coalesce(sum(version), 0) from stream) + (select count(*) from token)
      + (select count(*) from webhook_endpoint) + (select count(*) from idempotency) as changes`;
    const { rows } = await app.database.sql.executeQuery(CompiledQuery.raw(count));
    return Number(/** @type {{ changes: unknown }} */ (rows[0]).changes);
  },
  close: () => app.close(),
});
