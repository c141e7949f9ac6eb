// The built server, controlled by messages in place of environment variables and of a payer who types a card.
import { setFlagsFromString } from 'node:v8';
import { modules } from '../../support/built.mjs';
import { answerParent, cpuMicroseconds, memoryMegabytes } from './answer.mjs';
import { watchCommits } from './commits.mjs';
import { PAYOUTS, WALLET } from './data.mjs';

const { createApp } = await modules.app();
const { readConfig } = await modules.config();
const { createSystemClock } = await modules['kernel/clock']();
const { createLog } = await modules['ops/log']();

const commits = watchCommits((await modules.pg()).default);

/** @type {any} */
let app;
/** @type {{ accountId: string, environment: 'live' }} */
let tenant;

answerParent({
  /**
   * `options` of the configuration that no variable sets, for a benchmark alone. With `memory`, only wallet and
   * payouts are read from memory. `restLimit`: requests a minute on `/v1`.
   */
  async start({ options: { upstream, ...options } = {}, memory = false, restLimit, ...environment }) {
    const config = readConfig({ ...environment, PORT: '0' });
    app = await createApp({
      config: {
        ...config,
        ...options,
        upstream: config.upstream && { ...config.upstream, ...upstream },
      },
      clock: createSystemClock(),
      testing: { ...(restLimit && { restLimit }) },
      log: createLog({ write: notable }),
      onFatal(/** @type {Error} */ error) {
        throw error;
      },
    });
    setFlagsFromString('--no-allocation-site-pretenuring');
    if (app.embedded) {
      const { id } = await app.database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
      tenant = { accountId: id, environment: 'live' };
    }
    if (memory) answerFromMemory();
    return { url: app.url };
  },
  cpu: cpuMicroseconds,
  memory: memoryMegabytes,
  /**
   * Makes one change in one transaction: it creates a card payment. `at` is the instant of the answer to its COMMIT,
   * because a subscriber may be notified before the caller is.
   */
  async tell() {
    commits.forget();
    await app.embedded.cardPayments.create(tenant, { valueCents: 4_990, description: 'Caneca' });
    const { sentAt, answeredAt } = commits.last();
    if (answeredAt === null) throw new Error('No COMMIT was seen');
    return { at: answeredAt, sentAt, answeredAt };
  },
  close: () => app.close(),
});

/**
 * Drops lines about slowness from a lack of processors, which would hide the figures.
 * @param {string} line of the log, as it is written
 */
function notable(line) {
  if (!line.includes('"level":"info"')) process.stderr.write(line);
}

/** Replaces the two measured ports by ones that answer from memory. */
function answerFromMemory() {
  const services = app.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
  const items = PAYOUTS.map((payout, index) => ({ position: 50 - index, payout }));
  services.wallet.read = async () => WALLET;
  services.payouts.list = async () => ({ items, more: true });
}
