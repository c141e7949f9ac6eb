import { plusMs } from '../../server/src/kernel/clock.ts';
import { UpstreamError } from '../../server/src/kernel/errors.ts';
import { PRICE, type Sales } from './catalogue-operations.ts';
import { outcomeOf, type Tools } from './pix-operations.ts';
import { LITOSHI_PER_CENT } from './rails.ts';
import type { World } from './world.ts';

const MINUTE = 60_000;

/** A payment that a payer may pay. */
interface Open {
  id: string;
  expiresAt: Date;
  litoshi: number;
}

/** Steps of merchants, payers and miners with payments by LTC. */
export function createLtcOperations(
  { slices, clock, rails, live, notifyOfLtc }: World,
  { requests, random, chance, amount, key, make, attempt, request }: Tools,
  sales: Sales,
) {
  const opened: Open[] = [];

  function remember(open: Open): void {
    if (!opened.some(({ id }) => id === open.id)) opened.push(open);
  }

  /** Notifies the service of a change, now or late. */
  async function notify(id: string, revision: number | null): Promise<void> {
    if (revision === null) return;
    const afterMs = random.pick([0, 0, 3_000, 40 * MINUTE]);
    await notifyOfLtc(live, { id, revision, at: plusMs(clock.now(), afterMs) });
  }

  async function mine({ id }: Open, blocks: number): Promise<void> {
    await notify(id, rails.litecoin.mine(id, blocks));
  }

  async function receive({ id }: Open): Promise<void> {
    await attempt('receiveLtc', async () => {
      const received = await slices.ltc.receive(live, id);
      if (received?.paidAt) requests.expectStatus(id, ['paid']);
      return received ? outcomeOf(received) : 'unknown payment';
    });
  }

  async function credit({ id }: Open): Promise<void> {
    await attempt('creditUnmatched', async () =>
      (await slices.ltc.creditUnmatched(live, id)) > 0 ? 'done' : 'nothing',
    );
  }

  /** The payments with at least one output. */
  const sentFor = () => opened.filter(({ id }) => rails.litecoin.reports.has(id));

  const draw = () => (opened.length === 0 ? null : random.pick(chance(6) ? opened : opened.slice(-4)));

  return {
    /** The expiry of a payment, for a clock that moves to its edges. */
    edges: () => opened.slice(-3).map(({ expiresAt }) => expiresAt),

    operations: {
      /** Some payments are of a product with content; some are large, and need more confirmations. */
      createLtcPayment: {
        weight: 3,
        async act() {
          const productId = chance(3) ? sales.product() : null;
          const valueCents = productId ? PRICE : chance(5) ? amount(100_000, 200_000) : amount(80, 30_000);
          const metadata = productId ? sales.metadata() : null;
          const externalId = valueCents % 3 === 0 ? `pedido-${valueCents % 4}` : null;
          const idempotencyKey = productId ? null : key();
          const sold = productId ? { productId, metadata } : { valueCents };
          const input = { ...sold, method: 'ltc' as const, externalId, idempotencyKey };
          const litoshi = valueCents * LITOSHI_PER_CENT;
          await make(
            request(
              'createPayment',
              live,
              productId ? productId + metadata : valueCents,
              idempotencyKey,
              async () => {
                try {
                  const { payment, replayed } = await slices.payments.create(live, input);
                  remember({ id: payment.paymentId, expiresAt: payment.expiresAt, litoshi });
                  return { id: payment.paymentId, replayed };
                } catch (error) {
                  const reference = error instanceof UpstreamError ? error.lookupReference : null;
                  if (!reference) throw error;
                  remember({ id: reference, expiresAt: plusMs(clock.now(), 30 * MINUTE), litoshi });
                  return { id: reference, replayed: true };
                }
              },
            ),
          );
        },
      },
      /** A payer sends the amount, a part of it, or more, in one output or two, to the shown address. */
      sendLtc: {
        weight: 5,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          const half = Math.ceil(drawn.litoshi / 2);
          const parts = random.pick([
            [drawn.litoshi],
            [drawn.litoshi],
            [half, drawn.litoshi - half + 1],
            [half],
            [drawn.litoshi + 5],
          ]);
          // Some payers return after the network has confirmed their output.
          const blocks = random.pick([0, 0, 1, 2, 6]);
          await attempt('sendLtc', async () => {
            const shown = await slices.payments.find(live, drawn.id);
            if (!shown?.ltc?.address) return 'no address';
            for (const litoshi of parts) await notify(drawn.id, rails.litecoin.send(drawn.id, litoshi));
            if (blocks > 0) await mine(drawn, blocks);
            return parts.length > 1 ? 'in parts' : 'at once';
          });
          if (blocks > 0) await receive(drawn);
        },
      },
      /** A merchant cancels. LTC that is confirmed later waits for the operator. */
      cancelLtcPayment: {
        weight: 1,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          await attempt('cancelLtcPayment', async () => {
            const { status } = (await slices.payments.cancel(live, drawn.id)).payment;
            requests.expectStatus(drawn.id, ['expired', 'failed']);
            return status;
          });
        },
      },
      mineLtc: {
        weight: 5,
        async act() {
          const sent = sentFor().slice(-4);
          if (sent.length > 0) await mine(random.pick(sent), random.pick([1, 1, 2, 6]));
        },
      },
      reorganiseLtc: {
        weight: 1,
        async act() {
          const drawn = draw();
          if (drawn) await notify(drawn.id, rails.litecoin.reorganise(drawn.id));
        },
      },
      /** Sends a repeated notification, or an invented one. */
      receiveLtc: {
        weight: 2,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          await receive(drawn);
        },
      },
      creditUnmatched: {
        weight: 1,
        async act() {
          const sent = sentFor();
          if (sent.length > 0) await credit(random.pick(sent));
        },
      },
    },

    /** The end: the operator credits all unmatched LTC. */
    async end(): Promise<void> {
      for (const each of sentFor()) await credit(each);
    },
  };
}
