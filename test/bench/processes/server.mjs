// The built server, told by messages where main.js would read the environment and a payer would type a card.
import { answerParent } from './answer.mjs';

const built = (/** @type {string} */ file) =>
  import(new URL(`../../../server/dist/${file}`, import.meta.url).href);
const { createApp } = await built('app.js');
const { readConfig } = await built('config.js');
const { createSystemClock } = await built('kernel/clock.js');
const { createLog } = await built('ops/log.js');

const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2099,
  securityCode: '123',
};

/** @type {any} */
let app;

answerParent({
  /** `options` of the configuration that no variable sets, for a benchmark alone. */
  async start({ options: { upstream, ...options } = {}, ...environment }) {
    const config = readConfig({ ...environment, PORT: '0' });
    app = await createApp({
      config: {
        ...config,
        ...options,
        upstream: config.upstream && { ...config.upstream, ...upstream },
      },
      clock: createSystemClock(),
      log: createLog(),
      onFatal(/** @type {Error} */ error) {
        throw error;
      },
    });
    return { url: app.url };
  },
  /** Microseconds of all its threads since the start. */
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  async pay({ orderCode }) {
    const { kind } = await app.embedded.cardPayments.pay(orderCode, CARD);
    return { kind, paidAt: String(process.hrtime.bigint()) };
  },
  close: () => app.close(),
});
