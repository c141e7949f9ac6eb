// Mercurius with its JIT and `pg`, as its documentation and that of `pg` set them up: a mutation writes its rows in
// transactions of its own, over as many connections as our pool has.
import { createRequire } from 'node:module';
import pg from 'pg';
import { answerParent, cpuMicroseconds } from './answer.mjs';
import { postgresCpuMicroseconds, readTotals, watchStatements } from './figures.mjs';
import { accountOf, createCommands, inOwnTransactions, SCHEMA } from './writes-rows.mjs';

/** The peer's own folder of packages, which is installed when it is needed. */
const installed = createRequire(new URL('../peers/mercurius/', import.meta.url));

/** The connections of our pool on PostgreSQL (db/postgres.ts). */
const CONNECTIONS = 10;
const sent = watchStatements(pg);
/** @type {pg.Pool} */
let pool;
/** @type {pg.Client} */
let watcher;
const watch = async (/** @type {string} */ text) => (await watcher.query(text)).rows;

/** The measured mutations, in the words of our schema. */
const SCHEMA_OF_MUTATIONS = `
  scalar DateTime
  type UserError { code: String! message: String! }
  type CardPayment { orderCode: String! status: String! amountCents: Int! currency: String! checkoutUrl: String! expiresAt: String! }
  type Entry { id: ID! amountCents: Int! }
  type Payout { payoutId: ID! status: String! }
  type Payment { paymentId: ID! status: String! }
  input CreateCardPaymentInput { valueCents: Int! description: String idempotencyKey: String }
  input TransferToSubaccountInput { subaccountId: ID! amountCents: Int! idempotencyKey: String }
  input RequestSubaccountPayoutInput { subaccountId: ID! amountCents: Int! pixKey: String! idempotencyKey: String }
  input CreatePaymentInput { valueCents: Int! idempotencyKey: String }
  type CardPaymentSuccess { cardPayment: CardPayment! }
  type TransferToSubaccountSuccess { entry: Entry! }
  type RequestSubaccountPayoutSuccess { payout: Payout! }
  type CreatePaymentSuccess { payment: Payment! }
  union CreateCardPaymentResult = CardPaymentSuccess | UserError
  union TransferToSubaccountResult = TransferToSubaccountSuccess | UserError
  union RequestSubaccountPayoutResult = RequestSubaccountPayoutSuccess | UserError
  union CreatePaymentResult = CreatePaymentSuccess | UserError
  type Query { ready: Boolean! }
  type Mutation {
    createCardPayment(input: CreateCardPaymentInput!): CreateCardPaymentResult!
    transferToSubaccount(input: TransferToSubaccountInput!): TransferToSubaccountResult!
    requestSubaccountPayout(input: RequestSubaccountPayoutInput!): RequestSubaccountPayoutResult!
    createPayment(input: CreatePaymentInput!): CreatePaymentResult!
  }`;

answerParent({
  async start({ environment, receiver }) {
    const { default: fastify } = installed('fastify');
    const { default: mercurius } = installed('mercurius');
    pool = new pg.Pool({ connectionString: environment.DATABASE_URL, max: CONNECTIONS });
    watcher = new pg.Client(environment.DATABASE_URL);
    await watcher.connect();
    await pool.query(SCHEMA);

    const commands = createCommands(inOwnTransactions(pool), receiver);
    const app = fastify();
    app.register(mercurius, {
      schema: SCHEMA_OF_MUTATIONS,
      resolvers: resolversOf(commands),
      context: (/** @type {any} */ request) => ({ accountId: accountOf(request.headers.authorization) }),
      jit: 1,
    });
    app.post('/paid', (/** @type {any} */ request) =>
      commands.paid(request.body.accountId, request.body.paymentId),
    );
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url, bankUrl: url };
  },
  async totals() {
    const cpuUs = cpuMicroseconds();
    const counted = { ...sent };
    const databaseCpuUs = await postgresCpuMicroseconds(watch);
    return { cpuUs, databaseCpuUs, ...counted, ...(await readTotals(watch)) };
  },
});

/** @param {ReturnType<typeof createCommands>} commands */
function resolversOf(commands) {
  /** @typedef {{ input: { subaccountId: string, idempotencyKey: string } }} Given */
  /** @typedef {{ accountId: string }} Context */
  return {
    Mutation: {
      async createCardPayment(
        /** @type {unknown} */ _,
        /** @type {Given} */ { input },
        /** @type {Context} */ { accountId },
      ) {
        const made = await commands.card(accountId, input.idempotencyKey);
        const checkoutUrl = `https://pay.example/checkout/${made.orderCode}`;
        const cardPayment = { ...made, checkoutUrl, expiresAt: new Date().toISOString() };
        return { __typename: 'CardPaymentSuccess', cardPayment };
      },
      async transferToSubaccount(
        /** @type {unknown} */ _,
        /** @type {Given} */ { input },
        /** @type {Context} */ { accountId },
      ) {
        const entry = await commands.transfer(accountId, input.idempotencyKey, input.subaccountId);
        return { __typename: 'TransferToSubaccountSuccess', entry };
      },
      async requestSubaccountPayout(
        /** @type {unknown} */ _,
        /** @type {Given} */ { input },
        /** @type {Context} */ { accountId },
      ) {
        const payout = await commands.payout(accountId, input.idempotencyKey, input.subaccountId);
        return { __typename: 'RequestSubaccountPayoutSuccess', payout };
      },
      async createPayment(
        /** @type {unknown} */ _,
        /** @type {Given} */ { input },
        /** @type {Context} */ { accountId },
      ) {
        const payment = await commands.pix(accountId, input.idempotencyKey);
        return { __typename: 'CreatePaymentSuccess', payment };
      },
    },
  };
}
