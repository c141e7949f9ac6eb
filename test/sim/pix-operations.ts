import { plusMs } from '../../server/src/kernel/clock.ts';
import { type PaymentError, UpstreamError } from '../../server/src/kernel/errors.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { StoredPayment } from '../../server/src/payments/model.ts';
import { txidOf } from '../../server/src/pix/model.ts';
import type { Random } from '../faults/random.ts';
import type { Made, Request, Requests } from './requests.ts';
import type { World } from './world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** The parts of the operations that those of PIX share with all others. */
export interface Tools {
  requests: Requests;
  random: Random;
  chance(oneIn: number): boolean;
  amount(from: number, to: number): number;
  key(): string | null;
  attemptId(): string;
  make(request: Request): Promise<string | null>;
  attempt(what: string, act: () => Promise<string>): Promise<void>;
  request(
    made: Made,
    tenant: Tenant,
    mark: number | string,
    given: string | null,
    ask: Request['ask'],
  ): Request;
}

/** A payment that a payer may pay. */
interface OpenPayment {
  tenant: Tenant;
  payment: Pick<StoredPayment, 'paymentId' | 'amountCents' | 'expiresAt'>;
}

/** Steps of merchants, payers and the bank with payments by PIX. */
export function createPixOperations(
  { slices, clock, rails, live, sandbox, tokens, notify }: World,
  { requests, random, chance, amount, key, attemptId, make, attempt, request }: Tools,
) {
  const opened: OpenPayment[] = [];
  const paid: string[] = [];

  function remember(tenant: Tenant, payment: OpenPayment['payment']): void {
    if (!opened.some((known) => known.payment.paymentId === payment.paymentId))
      opened.push({ tenant, payment });
  }

  /** The last few, and now and then any other: a payer can be late by days. */
  const draw = () => (opened.length === 0 ? null : random.pick(chance(6) ? opened : opened.slice(-5)));

  /** A creation whose code has not come names the payment, which is there. */
  async function created(
    tenant: Tenant,
    amountCents: number,
    asked: Promise<{ payment: StoredPayment; replayed: boolean }>,
  ): Promise<{ id: string; replayed: boolean }> {
    try {
      const { payment, replayed } = await asked;
      remember(tenant, payment);
      return { id: payment.paymentId, replayed };
    } catch (error) {
      const reference = error instanceof UpstreamError ? error.lookupReference : null;
      if (!reference) throw error as PaymentError;
      const expiresAt = plusMs(clock.now(), 30 * MINUTE);
      remember(tenant, { paymentId: reference, amountCents, expiresAt });
      return { id: reference, replayed: true };
    }
  }

  async function receive({ tenant, payment: { paymentId } }: OpenPayment): Promise<void> {
    await attempt('receive', async () => {
      const payment = await slices.payments.receive(tenant, paymentId);
      if (payment?.paidAt) {
        requests.expectStatus(paymentId, ['paid', 'refunded']);
        if (tenant === live && !paid.includes(paymentId)) paid.push(paymentId);
      }
      return payment?.status ?? 'unknown payment';
    });
  }

  return {
    /** The expiry of a payment, for a clock that moves to its edges. */
    edges: () => opened.slice(-6).map(({ payment }) => payment.expiresAt),
    /** A live payment to refund, in most cases one that was paid; null where there is none. */
    refundable() {
      const from = paid.length > 0 && !chance(6) ? paid : opened.map(({ payment }) => payment.paymentId);
      return from.length === 0 ? null : random.pick(from.slice(-8));
    },

    operations: {
      createPayment: {
        weight: 9,
        async act() {
          const tenant = chance(6) ? sandbox : live;
          const valueCents = amount(chance(6) ? 1 : 80, 30_000);
          const callbackUrl = chance(4) ? 'https://loja.example/psa' : null;
          const idempotencyKey = key();
          // The same orders as those of card payments.
          const externalId = valueCents % 3 === 0 ? `pedido-${valueCents % 4}` : null;
          const input = { valueCents, callbackUrl, externalId, customer: { name: 'Ana' }, idempotencyKey };
          await make(
            request('createPayment', tenant, valueCents, idempotencyKey, () =>
              created(tenant, valueCents, slices.payments.create(tenant, input)),
            ),
          );
        },
      },
      startPixCheckout: {
        weight: 6,
        async act() {
          const { id, reusable, maxCents } = random.pick(tokens);
          const valueCents = amount(100, 30_000);
          const attempt = attemptId();
          const grant = { amount: { kind: 'range' as const, minCents: 100, maxCents }, reusable };
          await make(
            request('startPixCheckout', live, valueCents, `${id} ${attempt}`, async () => {
              const input = { attemptId: attempt, valueCents };
              const payment = await slices.payments.startCheckout(live, { id, grant }, input);
              remember(live, payment);
              return { id: payment.paymentId };
            }),
          );
        },
      },
      /** A payer pays, in most cases once and the right amount. The notification may come late, and be repeated. */
      payPix: {
        weight: 14,
        async act() {
          const drawn = draw();
          if (!drawn || !rails.pix.isPayable(txidOf(drawn.payment.paymentId))) return;
          const txid = txidOf(drawn.payment.paymentId);
          const { amountCents } = drawn.payment;
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
      /** A notification once more, or one that somebody has invented. */
      receive: {
        weight: 3,
        async act() {
          const drawn = draw();
          if (drawn) await receive(drawn);
        },
      },
      openPix: {
        weight: 1,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          await attempt('openPix', async () => {
            const page = await slices.payments.open(drawn.payment.paymentId);
            return page?.payment.status ?? 'nothing';
          });
        },
      },
    },
  };
}
