import { hashSecret } from '../../server/src/kernel/ids.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import type { ChildServer } from './child.ts';
import type { RequestSequence } from './load.ts';

/** A client of the API that speaks with this credential. */
export type As = (credential: string) => Pick<GraphQLClient, 'request'>;

interface Token {
  readonly token: string;
  /** Asked for, and perhaps not answered; then answered. */
  revoking: boolean;
  revoked: boolean;
}

interface Product {
  readonly productId: string;
  deleting: boolean;
  deleted: boolean;
}

/**
 * Clients of tokens, of what is started with them, of products, and of the sandbox's money. They
 * remember every answer; `complaints` says where the tables do not bear one out.
 */
export function createShoppers({ live, sandbox }: { live: string; sandbox: string }) {
  const tokens: Token[] = [];
  const products: Product[] = [];
  const started: { attemptId: string; orderCode: string }[] = [];
  let attempts = 0;
  let fed = 0;

  /** Done in this order, each until it is answered. */
  function sequenceOf(...steps: ((as: As) => Promise<void>)[]): (as: As) => RequestSequence {
    let done = 0;
    return (as) => ({
      isOpen: () => done < steps.length,
      async step() {
        await steps[done]!(as);
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
      const orderCode: string = done.cardPayment.orderCode;
      const before = started.find((each) => each.attemptId === attemptId);
      if (before && before.orderCode !== orderCode)
        throw new Error(`${attemptId} started ${before.orderCode} and ${orderCode}`);
      if (!before) started.push({ attemptId, orderCode });
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
        // It may have been revoked before the answer was lost.
        if (done.revoked !== true && !(revoking && done.code === 'NOT_FOUND'))
          throw new Error(JSON.stringify(done));
        dashboard!.revoked = true;
      },
    );
  }

  function newProduct() {
    let product: Product | undefined;
    return sequenceOf(
      async (as) => {
        const { done } = await as(live).request(OFFER, { input: { name: 'Café', priceCents: 1_500 } });
        product = { productId: done.product.productId, deleting: false, deleted: false };
        products.push(product);
      },
      async (as) => {
        const { productId, deleting } = product!;
        product!.deleting = true;
        const { done } = await as(live).request(WITHDRAW, { productId });
        if (done.deleted !== true && !(deleting && done.code === 'NOT_FOUND'))
          throw new Error(JSON.stringify(done));
        product!.deleted = true;
      },
    );
  }

  const newTestPayment = () =>
    sequenceOf(async (as) => {
      await as(sandbox).request(FEED, { input: { valueCents: 500 } });
      fed += 1;
    });

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
    newDashboard,
    newProduct,
    newTestPayment,
    newRedelivery,

    async complaints(server: Pick<ChildServer, 'ask'>): Promise<string[]> {
      const [minted, offered, uses, tests] = (await server.ask('query', [
        'select secret_hash, revoked_at from token',
        'select id from product',
        'select order_code, key from checkout_use join idempotency on resource_id = order_code',
        'select count(*) as many from test_payment',
      ])) as [
        { secret_hash: string; revoked_at: string | null }[],
        { id: string }[],
        { order_code: string; key: string }[],
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
        ...products
          .filter(({ productId, deleting, deleted }) => {
            const isThere = offered.some(({ id }) => id === productId);
            return (deleted && isThere) || (!deleting && !isThere);
          })
          .map(({ productId }) => `the product ${productId} is not as answered`),
        ...started
          .filter(({ attemptId, orderCode }) => {
            const of = uses.filter(({ key }) => key === attemptId);
            return of.length !== 1 || of[0]!.order_code !== orderCode;
          })
          .map(({ attemptId }) => `${attemptId} has not started what was answered`),
        ...(tests[0].many >= fed ? [] : [`${tests[0].many} test payments of ${fed}`]),
      ];
    },
  };
}

/** Under its own name in every request, and so in the name of its answer. */
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
  done: createCheckoutToken(input: $input) { ... on CheckoutTokenSuccess { token } ${REFUSED} }
}`;
const START = `mutation ($input: StartCheckoutInput!) {
  done: startCheckout(input: $input) { ... on StartCheckoutSuccess { cardPayment { orderCode } } ${REFUSED} }
}`;
const MINT_DASHBOARD = `mutation ($input: CreateDashboardTokenInput!) {
  done: createDashboardToken(input: $input) { ... on DashboardTokenSuccess { token } ${REFUSED} }
}`;
const REVOKE = `mutation ($token: String!) {
  done: revokeToken(token: $token) { ... on RevokeTokenSuccess { revoked } ${REFUSED} }
}`;
const OFFER = `mutation ($input: CreateProductInput!) {
  done: createProduct(input: $input) { ... on ProductSuccess { product { productId } } ${REFUSED} }
}`;
const WITHDRAW = `mutation ($productId: String!) {
  done: deleteProduct(productId: $productId) { ... on DeleteProductSuccess { deleted } ${REFUSED} }
}`;
const FEED = `mutation ($input: CreateTestPaymentInput!) {
  done: createTestPayment(input: $input) { ... on WalletSuccess { wallet { __typename } } ${REFUSED} }
}`;
const LATEST = '{ done: webhookDeliveries(first: 1) { nodes { webhookId } } }';
const REDELIVER = `mutation ($id: String!) {
  done: redeliverWebhook(webhookId: $id) { ... on WebhookDeliverySuccess { delivery { webhookId } } ${REFUSED} }
}`;
