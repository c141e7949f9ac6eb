import { hashSecret } from '../../server/src/kernel/ids.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import type { ChildServer } from './child.ts';
import type { RequestSequence } from './load.ts';

/** Returns a client of the API with this credential. */
export type As = (credential: string) => Pick<GraphQLClient, 'request'>;

interface Token {
  readonly token: string;
  /** Set once its revocation is requested. */
  revoking: boolean;
  revoked: boolean;
}

/** A product or a delivery, and whether its deletion was requested and answered. */
interface Offered {
  readonly id: string;
  deleting: boolean;
  deleted: boolean;
}

/**
 * Clients of tokens, of payments that tokens start, of products and their content, of a store, and of the sandbox's
 * money. They remember every answer; `complaints` lists the answers that contradict the tables.
 */
export function createShoppers({ live, sandbox }: { live: string; sandbox: string }) {
  const tokens: Token[] = [];
  const products: Offered[] = [];
  const contents: Offered[] = [];
  const started: { attemptId: string; method: 'card' | 'pix'; id: string }[] = [];
  /** Every import, in order; the last may be unanswered. */
  const stores: string[][] = [[]];
  let imported = 0;
  const paidInSandbox: string[] = [];
  let attempts = 0;
  let sandboxSales = 0;
  let fed = 0;

  /** The requests in their order, each repeated until it is answered. */
  function sequenceOf(
    ...steps: ((as: As, server: ChildServer) => Promise<void>)[]
  ): (as: As) => RequestSequence {
    let done = 0;
    return (as) => ({
      isOpen: () => done < steps.length,
      async step(server) {
        await steps[done]!(as, server);
        done += 1;
      },
    });
  }

  function newCheckout() {
    const attemptId = `attempt-${String(attempts++).padStart(20, '0')}`;
    let checkout: Token | undefined;
    const start = async (as: As) => {
      const { done } = await as(checkout!.token).request(START, { input: { attemptId } });
      if (!done.cardPayment) throw new Error(`refused: ${JSON.stringify(done)}`);
      keepStarted({ attemptId, method: 'card', id: done.cardPayment.orderCode });
    };
    return sequenceOf(
      async (as) => {
        const input = { amount: { fixedCents: 700_000 + attempts } };
        checkout = keep((await as(live).request(MINT_CHECKOUT, { input })).done.token);
      },
      start,
      start,
    );
  }

  /** One attempt by both methods: the payer gets a PIX code, opens a card payment, and pays the code. */
  function newPixCheckout() {
    const attemptId = `attempt-${String(attempts++).padStart(20, '0')}`;
    const endToEndId = `E00000000${'2027'.repeat(3)}${String(attempts).padStart(11, '0')}`;
    let checkout: Token | undefined;
    let paymentId: string;
    const startPix = async (as: As) => {
      const { done } = await as(checkout!.token).request(START_PIX, { input: { attemptId } });
      if (!done.payment) throw new Error(`refused: ${JSON.stringify(done)}`);
      paymentId = done.payment.paymentId;
      keepStarted({ attemptId, method: 'pix', id: paymentId });
    };
    return sequenceOf(
      async (as) => {
        const amount = { fixedCents: 300_000 + attempts };
        const input = { amount, methods: ['PIX', 'CARD'] };
        checkout = keep((await as(live).request(MINT_CHECKOUT, { input })).done.token);
      },
      startPix,
      startPix,
      async (as) => {
        const { done } = await as(checkout!.token).request(START, { input: { attemptId } });
        if (!done.cardPayment) throw new Error(`refused: ${JSON.stringify(done)}`);
        keepStarted({ attemptId, method: 'card', id: done.cardPayment.orderCode });
      },
      async (_, server) => {
        const { status } = await server.ask('payPix', { paymentId, endToEndId });
        if (status !== 'paid') throw new Error(`${paymentId} was paid and is ${status}`);
      },
    );
  }

  function keepStarted(payment: (typeof started)[number]) {
    const before = started.find(
      ({ attemptId, method }) => attemptId === payment.attemptId && method === payment.method,
    );
    if (before && before.id !== payment.id)
      throw new Error(`${before.attemptId} started ${before.id} and ${payment.id}`);
    if (!before) started.push(payment);
  }

  function newDashboard() {
    let dashboard: Token | undefined;
    return sequenceOf(
      async (as) => {
        const input = { scopes: ['WALLET'] };
        dashboard = keep((await as(live).request(MINT_DASHBOARD, { input })).done.token);
      },
      async (as) => {
        const { token, revoking } = dashboard!;
        dashboard!.revoking = true;
        const { done } = await as(live).request(REVOKE, { token });
        // The token may have been revoked before the answer was lost.
        if (done.revoked !== true && !(revoking && done.code === 'NOT_FOUND'))
          throw new Error(JSON.stringify(done));
        dashboard!.revoked = true;
      },
    );
  }

  function newProduct() {
    let product: Offered | undefined;
    return sequenceOf(
      async (as) => {
        const { done } = await as(live).request(OFFER, { input: { name: 'Café', priceCents: 1_500 } });
        product = { id: done.product.productId, deleting: false, deleted: false };
        products.push(product);
      },
      async (as) => {
        const { id: productId, deleting } = product!;
        product!.deleting = true;
        const { done } = await as(live).request(WITHDRAW, { productId });
        if (done.deleted !== true && !(deleting && done.code === 'NOT_FOUND'))
          throw new Error(JSON.stringify(done));
        product!.deleted = true;
      },
    );
  }

  function newContent() {
    let productId: string;
    let content: Offered | undefined;
    return sequenceOf(
      async (as) => {
        const { done } = await as(live).request(OFFER, { input: { name: 'Guia', priceCents: 1_600 } });
        productId = done.product.productId;
        products.push({ id: productId, deleting: false, deleted: false });
      },
      async (as) => {
        const input = { productId, content: { text: 'Bom proveito!' }, idempotencyKey: `guia:${productId}` };
        const { done } = await as(live).request(DELIVER, { input });
        content = { id: done.delivery.deliveryId, deleting: false, deleted: false };
        contents.push(content);
      },
      async (as) => {
        const { id: deliveryId, deleting } = content!;
        content!.deleting = true;
        const { done } = await as(live).request(WITHDRAW_CONTENT, { deliveryId });
        if (done.deleted !== true && !(deleting && done.code === 'NOT_FOUND'))
          throw new Error(JSON.stringify(done));
        content!.deleted = true;
      },
    );
  }

  function newStore() {
    const importOf = (productIds: string[]) => async (_: As, server: ChildServer) => {
      stores.push(productIds);
      await server.ask('importStore', { productIds });
      imported = stores.length - 1;
    };
    return sequenceOf(importOf(['7', '8', '9']), importOf(['9', '7']));
  }

  const newTestPayment = () =>
    sequenceOf(async (as) => {
      await as(sandbox).request(FEED, { input: { valueCents: 500 } });
      fed += 1;
    });

  /** A developer creates a payment in the sandbox, and acts as its payer. */
  function newSandboxSale() {
    const idempotencyKey = `sandbox:${sandboxSales++}`;
    let paymentId: string;
    return sequenceOf(
      async (as) => {
        const { done } = await as(sandbox).request(CREATE, { input: { valueCents: 900, idempotencyKey } });
        paymentId = done.payment.paymentId;
      },
      async (as) => {
        const { done } = await as(sandbox).request(PLAY, { input: { id: paymentId } });
        if (done.__typename !== 'SimulatePaymentSuccess') throw new Error(JSON.stringify(done));
        paidInSandbox.push(paymentId);
      },
    );
  }

  const newRedelivery = () =>
    sequenceOf(async (as) => {
      const { done } = await as(live).request(LATEST, {});
      const [latest] = done.nodes;
      if (latest) await as(live).request(REDELIVER, { id: latest.webhookId });
    });

  function keep(token: string): Token {
    const kept = { token, revoking: false, revoked: false };
    tokens.push(kept);
    return kept;
  }

  return {
    newCheckout,
    newPixCheckout,
    newDashboard,
    newProduct,
    newContent,
    newStore,
    newTestPayment,
    newSandboxSale,
    newRedelivery,

    async complaints(server: Pick<ChildServer, 'ask'>): Promise<string[]> {
      const [minted, offered, delivered, uses, store, paid, tests] = (await server.ask('query', [
        'select secret_hash, revoked_at from token',
        'select id from product',
        'select delivery_id as id from delivery where deleted_at is null',
        USES,
        'select store_product_id as id from store_product order by number',
        "select payment_id as id from payment where environment = 'sandbox' and paid_at is not null",
        'select count(*) as many from test_payment',
      ])) as [
        { secret_hash: string; revoked_at: string | null }[],
        { id: string }[],
        { id: string }[],
        { method: string; id: string; key: string }[],
        { id: string }[],
        { id: string }[],
        [{ many: number }],
      ];
      const found = new Map(minted.map(({ secret_hash, revoked_at }) => [secret_hash, revoked_at !== null]));
      return [
        ...tokens
          .filter(({ token, revoking, revoked }) => {
            const isRevoked = found.get(hashSecret(token));
            return isRevoked === undefined || (revoked && !isRevoked) || (!revoking && isRevoked);
          })
          .map(
            ({ token }) => `the token ${tokens.findIndex((each) => each.token === token)} is not as answered`,
          ),
        ...notAsAnswered(products, offered).map((id) => `the product ${id} is not as answered`),
        ...notAsAnswered(contents, delivered).map((id) => `the content ${id} is not as answered`),
        ...started
          .filter(({ attemptId, method, id }) => {
            const of = uses.filter((use) => use.key === attemptId && use.method === method);
            return of.length !== 1 || of[0]!.id !== id;
          })
          .map(({ attemptId, method }) => `${attemptId} has not started what was answered, by ${method}`),
        ...(stores.slice(imported).some((ids) => String(ids) === String(store.map(({ id }) => id)))
          ? []
          : [`the store has ${store.map(({ id }) => id)} after ${JSON.stringify(stores.slice(imported))}`]),
        ...paidInSandbox
          .filter((paymentId) => !paid.some(({ id }) => id === paymentId))
          .map((paymentId) => `${paymentId} was paid in the sandbox, and is not`),
        ...(tests[0].many >= fed ? [] : [`${tests[0].many} test payments of ${fed}`]),
      ];
    },
  };
}

/** Finds resources that are missing without a deletion, and resources that remain after an answered one. */
function notAsAnswered(all: readonly Offered[], found: readonly { id: string }[]): string[] {
  const ids = new Set(found.map(({ id }) => id));
  return all
    .filter(({ id, deleting, deleted }) => (deleted && ids.has(id)) || (!deleting && !ids.has(id)))
    .map(({ id }) => id);
}

/** The payments that each attempt has started, by method. */
const USES = `
  select 'card' as method, order_code as id, key from checkout_use join idempotency on resource_id = order_code
  union all
  select 'pix', payment_id, key from pix_checkout_use join idempotency on resource_id = payment_id`;

/** A client whose requests carry their operation's name in a header, and so in the names of boundaries. */
export function clientOf(endpoint: string, header: string): As {
  return (credential) => ({
    request: (query, variables) =>
      createClient(endpoint, credential, { [header]: /\{\s*(?:\w+:\s*)?(\w+)/.exec(query)![1]! }).request(
        query,
        variables,
      ),
  });
}

const REFUSED = '... on UserError { code message }';
const MINT_CHECKOUT = `mutation ($input: CreateCheckoutTokenInput!) {
  done: createCheckoutToken(input: $input) { ... on CreateCheckoutTokenSuccess { token } ${REFUSED} }
}`;
const START = `mutation ($input: StartCheckoutInput!) {
  done: startCheckout(input: $input) { ... on StartCheckoutSuccess { cardPayment { orderCode } } ${REFUSED} }
}`;
const START_PIX = `mutation ($input: StartCheckoutInput!) {
  done: startPixCheckout(input: $input) { ... on StartPixCheckoutSuccess { payment { paymentId } } ${REFUSED} }
}`;
const MINT_DASHBOARD = `mutation ($input: CreateDashboardTokenInput!) {
  done: createDashboardToken(input: $input) { ... on CreateDashboardTokenSuccess { token } ${REFUSED} }
}`;
const REVOKE = `mutation ($token: String!) {
  done: revokeToken(token: $token) { ... on RevokeTokenSuccess { revoked } ${REFUSED} }
}`;
const OFFER = `mutation ($input: CreateProductInput!) {
  done: createProduct(input: $input) { ... on CreateProductSuccess { product { productId } } ${REFUSED} }
}`;
const WITHDRAW = `mutation ($productId: String!) {
  done: deleteProduct(productId: $productId) { ... on DeleteProductSuccess { deleted } ${REFUSED} }
}`;
const DELIVER = `mutation ($input: CreateDeliveryInput!) {
  done: createDelivery(input: $input) { ... on CreateDeliverySuccess { delivery { deliveryId } } ${REFUSED} }
}`;
const WITHDRAW_CONTENT = `mutation ($deliveryId: String!) {
  done: deleteDelivery(deliveryId: $deliveryId) { ... on DeleteDeliverySuccess { deleted } ${REFUSED} }
}`;
const FEED = `mutation ($input: CreateTestPaymentInput!) {
  done: createTestPayment(input: $input) { ... on CreateTestPaymentSuccess { wallet { __typename } } ${REFUSED} }
}`;
const CREATE = `mutation ($input: CreatePaymentInput!) {
  done: createPayment(input: $input) { ... on CreatePaymentSuccess { payment { paymentId } } ${REFUSED} }
}`;
const PLAY = `mutation ($input: SimulatePaymentInput!) {
  done: simulatePayment(input: $input) { __typename ${REFUSED} }
}`;
const LATEST = '{ done: webhookDeliveries(first: 1) { nodes { webhookId } } }';
const REDELIVER = `mutation ($id: String!) {
  done: redeliverWebhook(webhookId: $id) { ... on RedeliverWebhookSuccess { delivery { webhookId } } ${REFUSED} }
}`;
