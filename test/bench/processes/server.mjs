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
  async start(environment) {
    app = await createApp({
      config: readConfig({ ...environment, PORT: '0' }),
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
