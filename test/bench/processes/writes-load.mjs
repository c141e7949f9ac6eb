// Callers that write, each with its next command as soon as the last is done, and the receiver of the webhooks that end
// some of these commands.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { answerParent } from './answer.mjs';
import { openConnection } from './connection.mjs';
import { namesOf } from './tenants.mjs';

/** The time in which every webhook comes, also on a busy machine. */
const WITHIN_MS = 60_000;
const AMOUNT_CENTS = 1_000;
/** The commands of a tenant before a caller goes on to the next. */
const OF_EACH = 2;

/** @typedef {{ key: string, accountId: string, subaccountIds: string[] }} Tenant */
/** @typedef {{ path: string, key: string, body: object }} Request */
/** @typedef {{ url: string, bankUrl: string, speaks: 'both' | 'rest' | 'graphql' }} Party */

/**
 * The requests of each kind of command. `webhook`: the command ends with one. `pays`: a payer pays what was made.
 *
 * @type {Record<string, { prefers: 'rest' | 'graphql', rest: (one: One) => [string, object], graphql: (one: One) => [string, object], answers: RegExp, webhook?: boolean, pays?: boolean }>}
 * @typedef {{ subaccountId: string, idempotencyKey: string }} One
 */
const KINDS = {
  cardGraphQL: { prefers: 'graphql', ...card() },
  cardREST: { prefers: 'rest', ...card() },
  transfer: {
    prefers: 'rest',
    rest: ({ subaccountId, idempotencyKey }) => [
      `/v1/subaccounts/${subaccountId}/transfers`,
      { amountCents: AMOUNT_CENTS, idempotencyKey },
    ],
    graphql: (one) => [
      mutation(
        'transferToSubaccount',
        'TransferToSubaccountInput',
        'TransferToSubaccountSuccess',
        '{ entry { id amountCents } }',
      ),
      { amountCents: AMOUNT_CENTS, ...one },
    ],
    answers: /"amountCents"/,
  },
  payout: {
    prefers: 'rest',
    rest: ({ subaccountId, idempotencyKey }) => [
      `/v1/subaccounts/${subaccountId}/payout`,
      { amountCents: AMOUNT_CENTS, pixKey: 'ana@example.com', idempotencyKey },
    ],
    graphql: (one) => [
      mutation(
        'requestSubaccountPayout',
        'RequestSubaccountPayoutInput',
        'RequestSubaccountPayoutSuccess',
        '{ payout { payoutId status } }',
      ),
      { amountCents: AMOUNT_CENTS, pixKey: 'ana@example.com', ...one },
    ],
    answers: /"status":"(?:completed|COMPLETED)"/,
    webhook: true,
  },
  pix: {
    prefers: 'rest',
    rest: ({ idempotencyKey }) => ['/v1/payments', { valueCents: AMOUNT_CENTS, idempotencyKey }],
    graphql: ({ idempotencyKey }) => [
      mutation(
        'createPayment',
        'CreatePaymentInput',
        'CreatePaymentSuccess',
        '{ payment { paymentId status } }',
      ),
      { valueCents: AMOUNT_CENTS, idempotencyKey },
    ],
    answers: /"paymentId"/,
    webhook: true,
    pays: true,
  },
};

/** The commands whose last webhook has not come, by the id that it names. @type {Map<string, () => void>} */
const waiting = new Map();
let webhooks = 0;
let made = 0;
let nextTenant = 0;

answerParent({
  async receive() {
    const server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      response.writeHead(200, { 'content-length': 0 }).end();
      webhooks += 1;
      const { payoutId, paymentId, status } = JSON.parse(text);
      if (status === 'completed' || status === 'paid') waiting.get(payoutId ?? paymentId)?.();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${address.port}/webhooks` };
  },

  /**
   * Runs callers for `ms`. `hot`: the tenant of all of them. Otherwise each caller has a tenant of its own, or, with `many`, the next one after two
   * commands. `pauseMs`: the time that a caller waits between two commands.
   */
  async run({ party, kind, callers, hot, many, pauseMs = 0, ms }) {
    const before = webhooks;
    const lines = await Promise.all(Array.from({ length: callers }, () => openLine(party)));
    const started = performance.now();
    const endsAt = started + ms;
    const counts = await Promise.all(
      lines.map(async (line, caller) => {
        let count = 0;
        let tenant = hot ?? namesOf(caller);
        for (; count === 0 || performance.now() < endsAt; count++) {
          if (many && count % OF_EACH === 0) tenant = namesOf(callers + (nextTenant++ % (many - callers)));
          await command(line, party, kind, tenant, caller);
          if (pauseMs > 0) await wait(pauseMs);
        }
        return count;
      }),
    );
    const seconds = (performance.now() - started) / 1_000;
    for (const line of lines) line.close();
    const commands = counts.reduce((sum, count) => sum + count, 0);
    return { commands, perSecond: commands / seconds, webhooks: (webhooks - before) / commands };
  },
});

/** @param {Party} party */
async function openLine({ url, bankUrl }) {
  const server = await openConnection(url);
  const bank = bankUrl === url ? server : await openConnection(bankUrl);
  return {
    ...{ server, bank },
    close() {
      server.close();
      bank.close();
    },
  };
}

/** @param {Awaited<ReturnType<typeof openLine>>} line @param {Party} party @param {string} kind @param {Tenant} tenant @param {number} caller */
async function command({ server, bank }, { speaks }, kind, { key, accountId, subaccountIds }, caller) {
  const { prefers, rest, graphql, answers, webhook, pays } = /** @type {(typeof KINDS)[string]} */ (
    KINDS[kind]
  );
  const idempotencyKey = `k${process.pid}-${++made}`;
  const subaccountId = /** @type {string} */ (subaccountIds[caller % subaccountIds.length]);
  const one = { subaccountId, idempotencyKey };
  const language = speaks === 'both' ? prefers : speaks;
  const [first, input] = (language === 'rest' ? rest : graphql)(one);
  const request =
    language === 'rest'
      ? { path: first, body: input }
      : { path: '/graphql', body: { query: first, variables: { input } } };

  const done = webhook && !pays ? arrival(`saq_idem_${idempotencyKey}`) : null;
  const body = await server.send({ ...request, key });
  if (!answers.test(body) || body.includes('"errors"')) throw new Error(body.slice(0, 500));
  if (!pays) return done;
  const paymentId = /"paymentId":"([^"]+)"/.exec(body)?.[1] ?? '';
  const received = arrival(paymentId);
  await bank.send({ path: '/paid', key, body: { accountId, paymentId } });
  return received;
}

/** Resolves when the last webhook of a resource has come. @param {string} id @returns {Promise<void>} */
function arrival(id) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      waiting.delete(id);
      reject(new Error(`no webhook for ${id}`));
    }, WITHIN_MS);
    waiting.set(id, () => {
      clearTimeout(late);
      waiting.delete(id);
      resolve();
    });
  });
}

function card() {
  const input = (/** @type {string} */ idempotencyKey) => ({
    ...{ valueCents: AMOUNT_CENTS, description: 'Caneca', idempotencyKey },
  });
  return {
    rest: (/** @type {One} */ one) =>
      /** @type {[string, object]} */ (['/v1/card-payments', input(one.idempotencyKey)]),
    graphql: (/** @type {One} */ one) =>
      /** @type {[string, object]} */ ([
        mutation(
          'createCardPayment',
          'CreateCardPaymentInput',
          'CardPaymentSuccess',
          '{ cardPayment { orderCode status amountCents currency checkoutUrl expiresAt } }',
        ),
        input(one.idempotencyKey),
      ]),
    answers: /"orderCode"/,
  };
}

/** @param {string} field @param {string} type @param {string} success @param {string} selection */
function mutation(field, type, success, selection) {
  return `mutation ($input: ${type}!) { ${field}(input: $input) { ... on ${success} ${selection} ... on UserError { code message } } }`;
}
