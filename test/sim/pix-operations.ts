import { plusMs } from '../../server/src/kernel/clock.ts';
import { type PaymentError, UpstreamError } from '../../server/src/kernel/errors.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import type { StoredPayment } from '../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import type { Random } from '../faults/random.ts';
import type { Made, Request, Requests } from './requests.ts';
import type { World } from './world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** The tools that the steps of PIX share with all others. */
export interface Tools {
  requests: Requests;
  random: Random;
  chance(oneIn: number): boolean;
  amount(from: number, to: number): number;
  key(): string | null;
  attemptId(): string;
  make(request: Request): Promise<string | null>;
  /** The existing subaccounts of an environment. */
  subaccountsOf(environment: Environment): readonly string[];
  attempt(what: string, act: () => Promise<string>): Promise<void>;
  request(
    made: Made,
    tenant: Tenant,
    mark: number | string,
    given: string | null,
    ask: Request['ask'],
  ): Request;
}

/** A payment or a charge that a payer may pay. */
interface Open {
  tenant: Tenant;
  type: 'payment' | 'charge';
  id: string;
  amountCents: number;
  expiresAt: Date;
}

/** The status, with the reason for money after a cancellation. */
export const outcomeOf = ({ status, failureReason }: Pick<StoredPayment, 'status' | 'failureReason'>) =>
  failureReason === 'canceled' ? `${status}, canceled` : status;

/** Steps of merchants, payers and the bank with payments and charges by PIX. */
export function createPixOperations(
  { slices, clock, rails, live, sandbox, tokens, notify }: World,
  { requests, random, chance, amount, key, attemptId, make, attempt, request, subaccountsOf }: Tools,
) {
  const opened: Open[] = [];
  const paid: Pick<Open, 'type' | 'id'>[] = [];

  function remember(open: Open): void {
    if (!opened.some(({ id }) => id === open.id)) opened.push(open);
  }

  const openPayment = (
    tenant: Tenant,
    { paymentId, amountCents, expiresAt }: Pick<StoredPayment, 'paymentId' | 'amountCents' | 'expiresAt'>,
  ): Open => ({ tenant, type: 'payment', id: paymentId, amountCents, expiresAt });

  /** Draws one of the last few, and sometimes any other: a payer can be late by days. */
  const draw = () => (opened.length === 0 ? null : random.pick(chance(6) ? opened : opened.slice(-5)));

  /** A creation without a code yet names the resource, which exists. */
  async function created(
    expected: Omit<Open, 'id' | 'expiresAt'>,
    asked: Promise<{ made: Pick<Open, 'id' | 'expiresAt'>; replayed: boolean }>,
  ): Promise<{ id: string; replayed: boolean }> {
    try {
      const { made, replayed } = await asked;
      remember({ ...expected, ...made });
      return { id: made.id, replayed };
    } catch (error) {
      const reference = error instanceof UpstreamError ? error.lookupReference : null;
      if (!reference) throw error as PaymentError;
      remember({ ...expected, id: reference, expiresAt: plusMs(clock.now(), 30 * MINUTE) });
      return { id: reference, replayed: true };
    }
  }

  async function receive({ tenant, type, id }: Open): Promise<void> {
    await attempt('receive', async () => {
      const received =
        type === 'charge'
          ? await slices.charges.receive(tenant, id)
          : await slices.payments.receive(tenant, id);
      if (received?.paidAt) {
        requests.expectStatus(id, ['paid', 'refunded']);
        if (tenant === live && !paid.some((known) => known.id === id)) paid.push({ type, id });
      }
      return received ? outcomeOf(received) : 'unknown payment';
    });
  }

  /** Draws the shares of up to two subaccounts. The second may not exist. */
  function sharesOf({ environment }: Tenant) {
    const ids = subaccountsOf(environment);
    if (ids.length === 0 || chance(4)) return null;
    const [first, second] = [random.pick(ids), chance(20) ? `sacc_${'0'.repeat(32)}` : random.pick(ids)];
    const shares = [{ subaccountId: first, percent: random.pick(['50', '33.33', '99.99']) }];
    return first === second || chance(2)
      ? shares
      : [...shares, { subaccountId: second, amountCents: amount(1, 30) }];
  }

  return {
    created,
    /** A payer pays as soon as the code is there. */
    async payNow(paymentId: string): Promise<void> {
      const drawn = opened.find(({ id }) => id === paymentId);
      const txid = txidOf(paymentId);
      if (!drawn || !rails.pix.isPayable(txid)) return;
      await notify(drawn.tenant, { ...rails.pix.pay(txid, drawn.amountCents), at: clock.now() });
      await receive(drawn);
    },
    /** The expiry of a payment, for a clock that moves to its edges. */
    edges: () => opened.slice(-6).map(({ expiresAt }) => expiresAt),
    /** Draws a live payment or charge to refund, in most cases a paid one; null if there is none. */
    refundable() {
      const from = paid.length > 0 && !chance(6) ? paid : opened;
      // Fewer charges than payments are paid.
      const charges = from.filter(({ type }) => type === 'charge');
      const drawn = charges.length > 0 && chance(2) ? charges : from;
      return drawn.length === 0 ? null : random.pick(drawn.slice(-8));
    },

    operations: {
      createPayment: {
        weight: 9,
        async act() {
          const tenant = chance(6) ? sandbox : live;
          const valueCents = amount(chance(6) ? 1 : 80, 30_000);
          const callbackUrl = chance(4) ? 'https://loja.example/psa' : null;
          const idempotencyKey = key();
          // The orders are the same as those of card payments.
          const externalId = valueCents % 3 === 0 ? `pedido-${valueCents % 4}` : null;
          const input = { valueCents, callbackUrl, externalId, customer: { name: 'Ana' }, idempotencyKey };
          await make(
            request('createPayment', tenant, valueCents, idempotencyKey, () =>
              created(
                { tenant, type: 'payment', amountCents: valueCents },
                slices.payments.create(tenant, input).then(({ payment, replayed }) => ({
                  made: { id: payment.paymentId, expiresAt: payment.expiresAt },
                  replayed,
                })),
              ),
            ),
          );
        },
      },
      /** Most charges are split. The amounts are small, so that a share can be less than a cent. */
      createCharge: {
        weight: 7,
        async act() {
          const tenant = chance(6) ? sandbox : live;
          const valueCents = amount(1, 3_000);
          const idempotencyKey = key();
          const splits = sharesOf(tenant);
          const expiresInSeconds = random.pick([null, 60, 3_600]);
          const input = { valueCents, splits, expiresInSeconds, idempotencyKey };
          await make(
            request('createCharge', tenant, valueCents, idempotencyKey, () =>
              created(
                { tenant, type: 'charge', amountCents: valueCents },
                slices.charges.create(tenant, input).then(({ charge, replayed }) => ({
                  made: { id: charge.chargeId, expiresAt: charge.expiresAt },
                  replayed,
                })),
              ),
            ),
          );
        },
      },
      startPixCheckout: {
        weight: 6,
        async act() {
          const { id, reusable, maxCents } = random.pick(tokens);
          const valueCents = amount(100, 30_000);
          const givenId = attemptId();
          const grant = { amount: { kind: 'range' as const, minCents: 100, maxCents }, reusable };
          await make(
            request('startPixCheckout', live, valueCents, `${id} ${givenId}`, async () => {
              const input = { attemptId: givenId, valueCents };
              const payment = (await slices.payments.startCheckout(live, { id, grant }, input)).payment;
              remember(openPayment(live, payment));
              return { id: payment.paymentId };
            }),
          );
        },
      },
      /** A payer pays, in most cases once and the right amount. The notification may be late, and repeated. */
      payPix: {
        weight: 14,
        async act() {
          const drawn = draw();
          if (!drawn || !rails.pix.isPayable(txidOf(drawn.id))) return;
          const txid = txidOf(drawn.id);
          const { amountCents } = drawn;
          const amounts = random.pick([
            [amountCents],
            [amountCents],
            [amountCents],
            [amountCents, amountCents],
            [amountCents + 1],
            [Math.ceil(amountCents / 2), amountCents],
          ]);
          for (const cents of amounts) {
            const credit = rails.pix.pay(txid, cents);
            const afterMs = random.pick([0, 0, 3 * SECOND, 40 * MINUTE, 2 * DAY]);
            await notify(drawn.tenant, { ...credit, at: plusMs(clock.now(), afterMs) });
          }
          await attempt('payPix', async () => (amounts.length > 1 ? 'twice' : 'once'));
          if (chance(2)) await receive(drawn);
        },
      },
      /** Sends a repeated notification, or an invented one. */
      receive: {
        weight: 3,
        async act() {
          const drawn = draw();
          if (drawn) await receive(drawn);
        },
      },
      /** A merchant cancels. Money that is recorded later is returned. */
      cancelPix: {
        weight: 2,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          const { tenant, type, id } = drawn;
          await attempt(`cancel ${type}`, async () => {
            const { status } =
              type === 'charge'
                ? (await slices.charges.cancel(tenant, id)).charge
                : (await slices.payments.cancel(tenant, id)).payment;
            requests.expectStatus(id, ['expired', 'failed']);
            return status;
          });
        },
      },
      openPix: {
        weight: 1,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          await attempt('openPix', async () => {
            const page = await slices.payments.open(drawn.id);
            return page?.payment.status ?? 'nothing';
          });
        },
      },
    },
  };
}
