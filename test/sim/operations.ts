import { plusMs } from '../../server/src/kernel/clock.ts';
import { PAYOUT_METHODS, type PayoutMethod } from '../../server/src/kernel/payout-methods/registry.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import type { StoredCardPayment } from '../../server/src/money-in/card-payments/model.ts';
import type { Random } from '../faults/random.ts';
import { DESTINATIONS } from '../support/payout-methods.ts';
import { createCatalogueOperations } from './catalogue-operations.ts';
import { createLtcOperations } from './ltc-operations.ts';
import { createPixOperations, type Tools } from './pix-operations.ts';
import { type BookedTransfer, CARDS } from './rails.ts';
import type { Made, Request, Requests } from './requests.ts';
import { createSubscriptionOperations } from './subscription-operations.ts';
import type { World } from './world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const PIX_KEYS = ['ana@padaria.example', 'bia@padaria.example', '+5511987654321'];
const destinationsOf = (method: PayoutMethod) =>
  DESTINATIONS[method] === DESTINATIONS.pix ? PIX_KEYS : [DESTINATIONS[method]];
/** The prefix of an attempt id, which makes it long enough for a checkout. */
const ATTEMPT = 'tentativa-000000000000';

/** The steps and their weights. A step begins work, and does not wait for its end. */
export interface Operations {
  begin(): Promise<void>;
  /** Begins the step of this name, in place of a drawn one. */
  step(name: string): Promise<void>;
  /** Sends each key once more, with its first input, and with all its later ones. */
  askAgain(): Promise<void>;
  /** Ends work that would go on forever. */
  end(): Promise<void>;
}

/** All acts of callers, payers, rails and time on an account, as the seed draws them. */
export function createOperations(
  world: World,
  {
    requests,
    random,
    note,
    freshKeys = false,
  }: {
    requests: Requests;
    random: Random;
    note: (what: string, outcome: string) => void;
    /** Set if every caller uses a new key. */
    freshKeys?: boolean;
  },
): Operations {
  const { slices, clock, live, sandbox } = world;
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const orderCodes: string[] = [];
  const payments: StoredCardPayment[] = [];
  const payoutIds: { tenant: Tenant; id: string }[] = [];
  const subaccountPayoutIds: string[] = [];
  const subaccountIds: Record<Environment, string[]> = { live: [], sandbox: [] };
  const disputeIds: string[] = [];
  const testPaymentIds: string[] = [];
  const requested: Request[] = [];
  const usedAmounts = new Set<number>();
  let names = 0;

  /** A unique amount: the row with it is the effect of this request. */
  function amount(from: number, to: number): number {
    for (let cents = from + random.below(to - from); ; cents += 1) {
      if (usedAmounts.has(cents)) continue;
      usedAmounts.add(cents);
      return cents;
    }
  }

  const freshName = (kind: string) => {
    names += 1;
    return `${kind} ${names}`;
  };
  /** Half of all callers use keys, some of them a key that was used for something else. */
  const key = () => {
    if (freshKeys) return freshName('chave').replace(' ', '-');
    return chance(2) ? null : `chave-${random.below(chance(2) ? 8 : 1_000)}`;
  };

  async function make(request: Request): Promise<string | null> {
    if (request.key !== null) requested.push(request);
    const answer = await requests.make(request);
    const outcome =
      answer.kind === 'refused'
        ? `refused: ${answer.why}`
        : answer.kind === 'done' && answer.replayed
          ? 'reported again'
          : answer.kind;
    note(`${request.made}${request.environment === 'sandbox' ? ' (sandbox)' : ''}`, outcome);
    return answer.kind === 'done' ? answer.id : null;
  }

  /** Sends a request that creates nothing. Its outcome is done, refused or unknown. */
  async function attempt(what: string, act: () => Promise<string>): Promise<void> {
    await requests.attempt(what, act, (outcome) => note(what, outcome));
  }

  function push<T>(into: T[], made: T | null): void {
    if (made !== null && !into.includes(made)) into.push(made);
  }

  const any = (): Tenant => (chance(8) ? sandbox : live);
  const request = (
    made: Made,
    { environment }: Tenant,
    mark: number | string,
    given: string | null,
    ask: Request['ask'],
  ): Request => ({ made, environment, mark: String(mark), key: given, ask });

  /** There are few attempt ids, so that a payer pays one attempt by several payments. */
  const attemptId = () => `${ATTEMPT}-${random.below(3)}.${1 + random.below(9)}`;
  const tools: Tools = {
    requests,
    random,
    chance,
    amount,
    key,
    attemptId,
    make,
    attempt,
    request,
    subaccountsOf: (environment) => subaccountIds[environment],
  };
  const pix = createPixOperations(world, tools);
  const recurring = createSubscriptionOperations(world, tools);
  const catalogue = createCatalogueOperations(world, tools, {
    freshName,
    push,
    pix,
    onCardPayment(payment) {
      payments.push(payment);
      push(orderCodes, payment.orderCode);
    },
  });
  const ltc = createLtcOperations(world, tools, catalogue.sales);

  async function recheck({ tenant, id }: BookedTransfer): Promise<void> {
    if (id.startsWith('sqp_')) await slices.subaccounts.recheck(tenant, id);
    else await slices.payouts.recheck(tenant, id);
  }

  const operations: Record<string, { weight: number; act: () => Promise<unknown> }> = {
    ...pix.operations,
    ...recurring.operations,
    ...catalogue.operations,
    ...ltc.operations,
    createCardPayment: {
      weight: 12,
      async act() {
        const tenant = chance(30) ? sandbox : live;
        const valueCents = amount(80, 30_000);
        const callbackUrl = chance(4) ? 'https://loja.example/psa' : null;
        const idempotencyKey = key();
        // The amounts are drawn, so every third payment is of one of four orders.
        const externalId = valueCents % 3 === 0 ? `pedido-${valueCents % 4}` : null;
        const input = { valueCents, callbackUrl, externalId, customer: { name: 'Ana' }, idempotencyKey };
        push(
          orderCodes,
          await make(
            request('createCardPayment', tenant, valueCents, idempotencyKey, async () => {
              const { payment, replayed } = await slices.cardPayments.create(tenant, input);
              payments.push(payment);
              return { id: payment.orderCode, replayed };
            }),
          ),
        );
      },
    },
    startCheckout: {
      weight: 6,
      async act() {
        const { id, reusable, maxCents } = random.pick(world.tokens);
        const valueCents = amount(100, 30_000);
        const givenId = attemptId();
        const grant = { amount: { kind: 'range' as const, minCents: 100, maxCents }, reusable };
        push(
          orderCodes,
          await make(
            request('startCheckout', live, valueCents, `${id} ${givenId}`, async () => {
              const input = { attemptId: givenId, valueCents };
              const payment = (await slices.cardPayments.startCheckout(live, { id, grant }, input)).payment;
              payments.push(payment);
              return { id: payment.orderCode };
            }),
          ),
        );
      },
    },
    pay: {
      weight: 18,
      async act() {
        const open = payments.filter(({ expiresAt }) => expiresAt > clock.now() || chance(20)).slice(-4);
        if (open.length === 0) return;
        const { orderCode } = random.pick(open);
        const number = random.pick(Object.keys(CARDS));
        await attempt('pay', async () => {
          const card = { number, holder: 'ANA', expiryMonth: 12, expiryYear: 2030, securityCode: '123' };
          const { kind } = await slices.cardPayments.pay(orderCode, card);
          if (kind === 'paid') requests.expectStatus(orderCode, ['paid', 'refunded']);
          return kind;
        });
      },
    },
    refund: {
      weight: 8,
      async act() {
        const byPix = chance(2) ? pix.refundable() : null;
        if (byPix === null && orderCodes.length === 0) return;
        const resource = byPix
          ? { type: byPix.type, id: byPix.id }
          : ({ type: 'card_payment', id: random.pick(orderCodes) } as const);
        const amountCents = chance(2) ? null : amount(1, 10_000);
        const idempotencyKey = key();
        const reason = freshName('estorno');
        const id = await make(
          request('refund', live, reason, idempotencyKey, async () => {
            const input = { amountCents, reason, idempotencyKey };
            const { refund, replayed } = await slices.refunds.request(live, resource, input);
            return { id: refund.refundId, replayed };
          }),
        );
        const part = amountCents === null ? 'whole' : 'in part';
        if (id !== null && resource.id.startsWith('psplit_')) note('refund of a split charge', part);
        if (id !== null && catalogue.isSold(resource.id)) note('refund of a sale', part);
      },
    },
    cancelCardPayment: {
      weight: 2,
      async act() {
        const open = payments.slice(-4);
        if (open.length === 0) return;
        const { orderCode } = random.pick(open);
        await attempt('cancelCardPayment', async () => {
          await slices.cardPayments.cancel(live, orderCode);
          requests.expectStatus(orderCode, ['expired', 'failed']);
          return 'done';
        });
      },
    },
    refundByService: {
      weight: 2,
      async act() {
        if (orderCodes.length === 0) return;
        const orderCode = random.pick(orderCodes);
        await attempt('refund by the service', async () =>
          (await slices.cardPayments.refund(live, orderCode)) ? 'done' : 'not refundable',
        );
      },
    },
    credit: {
      weight: 5,
      async act() {
        const cents = amount(20_000, 90_000);
        const name = key() ?? undefined;
        await make(
          request('credit', live, cents, name ?? null, async () => ({
            id: await slices.controls.credit(live, cents, name === undefined ? {} : { name }),
          })),
        );
      },
    },
    creditLtc: {
      weight: 2,
      async act() {
        const litoshi = amount(1_000_000, 50_000_000);
        await make(
          request('creditLtc', live, litoshi, null, async () => ({
            id: await slices.controls.creditLtc(live, litoshi),
          })),
        );
      },
    },
    openDispute: {
      weight: 2,
      async act() {
        const amountCents = amount(100, 8_000);
        push(
          disputeIds,
          await make(
            request('openDispute', live, amountCents, null, async () => ({
              id: await slices.controls.openDispute(live, { amountCents }),
            })),
          ),
        );
      },
    },
    disputePayment: {
      weight: 3,
      async act() {
        const orderCode = random.pick([null, ...orderCodes.slice(-8)]);
        const ofCard = orderCode === null ? null : ({ type: 'card_payment', id: orderCode } as const);
        const resource = chance(2) ? pix.refundable() : ofCard;
        if (resource === null) return;
        const amountCents = chance(3) ? 40_000 : 1 + random.below(5_000);
        await attempt('disputePayment', async () => {
          const dispute = await slices.controls.disputePayment(live, resource, { amountCents });
          if (dispute) disputeIds.push(dispute.disputeId);
          return dispute ? 'done' : 'nothing left';
        });
      },
    },
    submitEvidence: {
      weight: 3,
      async act() {
        if (disputeIds.length === 0) return;
        const id = random.pick(disputeIds.slice(-4));
        await attempt('submitEvidence', async () => {
          await slices.disputes.submitEvidence(live, id, { text: 'Entregue' });
          return 'done';
        });
      },
    },
    closeDispute: {
      weight: 2,
      async act() {
        if (disputeIds.length === 0) return;
        const id = random.pick(disputeIds);
        const outcome = random.pick(['won', 'lost', 'forgiven'] as const);
        await attempt('closeDispute', async () => {
          await slices.controls.closeDispute(live, id, outcome);
          return 'done';
        });
      },
    },
    requestPayout: {
      weight: 14,
      async act() {
        const tenant = any();
        const method = random.pick(['pix' as const, ...PAYOUT_METHODS]);
        const amountCents = amount(chance(20) ? 1 : 501, chance(10) ? 200_000 : 9_000);
        const destination = random.pick(destinationsOf(method));
        const idempotencyKey = key();
        const id = await make(
          request('requestPayout', tenant, amountCents, idempotencyKey, async () => {
            const input = { method, amountCents, destination, idempotencyKey };
            const { payout, replayed } = await slices.payouts.request(tenant, input);
            return { id: payout.withdrawalId, replayed };
          }),
        );
        if (id) payoutIds.push({ tenant, id });
      },
    },
    recheckPayout: {
      weight: 2,
      async act() {
        if (payoutIds.length === 0) return;
        const { tenant, id } = random.pick(payoutIds);
        await attempt('recheckPayout', async () => String(await slices.payouts.recheck(tenant, id)));
      },
    },
    createSubaccount: {
      weight: 3,
      async act() {
        const tenant = any();
        const name = freshName('Bia');
        push(
          subaccountIds[tenant.environment],
          await make(
            request('createSubaccount', tenant, name, null, async () => {
              const { subaccount } = await slices.subaccounts.create(tenant, { name });
              return { id: subaccount.id };
            }),
          ),
        );
      },
    },
    transferToSubaccount: {
      weight: 9,
      async act() {
        const tenant = any();
        const ids = subaccountIds[tenant.environment];
        if (ids.length === 0) return;
        const subaccountId = chance(15) ? `sacc_${'0'.repeat(32)}` : random.pick(ids);
        const amountCents = amount(700, chance(10) ? 200_000 : 15_000);
        const idempotencyKey = key();
        await make(
          request('transferToSubaccount', tenant, amountCents, idempotencyKey, async () => {
            const input = { subaccountId, amountCents, idempotencyKey };
            const { entry, replayed } = await slices.subaccounts.transfer(tenant, input);
            return { id: entry.refId, replayed };
          }),
        );
      },
    },
    requestSubaccountPayout: {
      weight: 9,
      async act() {
        const tenant = chance(30) ? sandbox : live;
        if (subaccountIds.live.length === 0) return;
        const subaccountId = random.pick(subaccountIds.live);
        const amountCents = amount(chance(20) ? 1 : 200, 6_000);
        const pixKey = random.pick(PIX_KEYS);
        const idempotencyKey = key();
        push(
          subaccountPayoutIds,
          await make(
            request('requestSubaccountPayout', tenant, amountCents, idempotencyKey, async () => {
              const input = { subaccountId, amountCents, pixKey, idempotencyKey };
              const { payout, replayed } = await slices.subaccounts.requestPayout(tenant, input);
              return { id: payout.id, replayed };
            }),
          ),
        );
      },
    },
    recheckSubaccountPayout: {
      weight: 1,
      async act() {
        if (subaccountPayoutIds.length === 0) return;
        const id = random.pick(subaccountPayoutIds);
        await attempt('recheckSubaccountPayout', async () => {
          await slices.subaccounts.recheck(live, id);
          return 'done';
        });
      },
    },
    /** A completed transfer is returned, and the bank reports it. */
    returnTransfer: {
      weight: 2,
      async act() {
        const arrived = world.rails.returnable();
        if (arrived.length === 0) return;
        const transfer = random.pick(arrived);
        transfer.outcome = 'return';
        await attempt('returnTransfer', async () => {
          await recheck(transfer);
          return 'done';
        });
      },
    },
    createTestPayment: {
      weight: 3,
      async act() {
        const tenant = chance(15) ? live : sandbox;
        const valueCents = amount(500, 40_000);
        const pending = chance(2);
        push(
          testPaymentIds,
          await make(
            request('createTestPayment', tenant, valueCents, null, async () => {
              const { id } = await slices.sandbox.createTestPayment(tenant, { valueCents, pending });
              return { id };
            }),
          ),
        );
      },
    },
    settleTestPayment: {
      weight: 1,
      async act() {
        if (testPaymentIds.length === 0) return;
        const id = random.pick(testPaymentIds);
        await attempt('settleTestPayment', async () => {
          await slices.controls.settleTestPayment(sandbox, id);
          return 'done';
        });
      },
    },
    configureWebhook: {
      weight: 1,
      async act() {
        if (!world.isAnnounced) return;
        const url = `https://hooks.example.com/${random.below(3)}`;
        const rotateSecret = chance(2);
        await attempt('configureWebhook', async () => {
          await slices.webhooks.configure(live, { url, rotateSecret });
          return 'done';
        });
      },
    },
    redeliver: {
      weight: 1,
      async act() {
        const [webhookId] = [...world.rails.received.keys()].slice(-1 - random.below(5));
        if (!webhookId) return;
        await attempt('redeliver', async () => {
          await slices.webhooks.redeliver(live, webhookId);
          return 'done';
        });
      },
    },
    askAgain: {
      weight: 8,
      async act() {
        if (requested.length > 0) await make(random.pick(requested));
      },
    },
    /** Sends several requests of one key at once, with its own input and with another. */
    askAtOnce: {
      weight: 1,
      async act() {
        if (requested.length === 0) return;
        const again = requested.at(-1)!;
        await Promise.all(Array.from({ length: 2 + random.below(6) }, () => make(again)));
      },
    },
    work: { weight: 5, act: () => world.work() },
    time: { weight: 13, act: moveClock },
  };
  const drawn = Object.values(operations).flatMap(({ weight, act }) => Array<typeof act>(weight).fill(act));

  /** Moves the clock, mostly to the edges of due work: just before, at, and just after it. */
  async function moveClock(): Promise<void> {
    const now = clock.now();
    const edge = [-1, 0, 0, 1][random.below(4)]!;
    let to = plusMs(
      now,
      random.pick([1, SECOND, 3 * SECOND, 10 * SECOND, MINUTE, HOUR, chance(4) ? DAY : 1]),
    );
    if (!chance(3)) {
      const due = await world.dueNext();
      if (due.length > 0) to = plusMs(chance(4) ? random.pick(due) : due[0]!, edge);
    } else {
      const edges = [...payments.slice(-6).map(({ expiresAt }) => expiresAt), ...pix.edges(), ...ltc.edges()];
      if (chance(2) && edges.length > 0) to = plusMs(random.pick(edges), edge);
    }
    note('time', to > now ? 'moved' : 'stays');
    // The clock never moves back.
    clock.moveTo(to);
    if (!chance(5)) await world.work();
  }

  /** The account begins with some money and resources. */
  const opening = ['credit', 'credit', 'createSubaccount', 'createTestPayment', 'transferToSubaccount'];

  return {
    async begin() {
      const first = opening.shift();
      await (first ? operations[first]!.act : random.pick(drawn))();
    },
    async step(name) {
      await operations[name]!.act();
    },
    async end() {
      await recurring.end();
      await ltc.end();
      // The service has not been notified of some returned transfers.
      for (const transfer of world.rails.transfers.values())
        if (transfer.outcome === 'return') await recheck(transfer);
    },
    async askAgain() {
      await Promise.all(requests.keyed().map((each) => make(each)));
    },
  };
}
