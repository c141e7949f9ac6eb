import { plusMs } from '../../server/src/kernel/clock.ts';
import { UpstreamError } from '../../server/src/kernel/errors.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { INTERVALS } from '../../server/src/money-in/subscriptions/calendar.ts';
import type { Tools } from './pix-operations.ts';
import type { World } from './world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A subscription that a payer may authorise. */
interface Made {
  tenant: Tenant;
  subscriptionId: string;
  amountCents: number;
}

/** Steps of merchants, payers and the bank with recurring PIX. */
export function createSubscriptionOperations(
  { slices, clock, rails, live, sandbox, notify }: World,
  { random, chance, amount, key, make, attempt, request }: Tools,
) {
  const made: Made[] = [];
  const authorised: string[] = [];
  const { subscriptions } = slices;

  function remember(subscription: Made): { id: string; replayed: boolean } {
    const { subscriptionId } = subscription;
    const isKnown = made.some((known) => known.subscriptionId === subscriptionId);
    if (!isKnown) made.push(subscription);
    return { id: subscriptionId, replayed: isKnown };
  }

  const draw = () => (made.length === 0 ? null : random.pick(chance(4) ? made : made.slice(-3)));

  /** Notifies the service of the bank's state, now or late. */
  async function report({ tenant, subscriptionId }: Made, name: string): Promise<void> {
    const at = plusMs(clock.now(), random.pick([0, 0, 40 * MINUTE, 2 * DAY]));
    await notify(tenant, { txid: txidOf(subscriptionId), recurrence: name, at });
  }

  /** The attempts of a subscription that the payer's bank has not decided. */
  const openDebits = ({ subscriptionId }: Made) =>
    [...rails.pix.debits.values()].filter(
      ({ txid, report: decided, isRecalled }) => txid === txidOf(subscriptionId) && !decided && !isRecalled,
    );

  /** Pays the code as the payer: mostly in time, sometimes twice, or another amount. */
  async function authorise({ tenant, subscriptionId, amountCents }: Made): Promise<void> {
    if (!rails.pix.isPayable(txidOf(subscriptionId))) return;
    const credit = rails.pix.pay(txidOf(subscriptionId), amountCents + (chance(9) ? 1 : 0));
    await notify(tenant, { ...credit, at: clock.now() });
    await attempt('authorise', async () => {
      const subscription = await subscriptions.receive(tenant, subscriptionId);
      const status = subscription?.status ?? 'unknown subscription';
      if (status === 'active' && !authorised.includes(subscriptionId)) authorised.push(subscriptionId);
      return status;
    });
  }

  return {
    operations: {
      /** Most payers authorise at once. */
      createSubscription: {
        weight: 2,
        async act() {
          const authorisesNow = !chance(3);
          const tenant = chance(6) ? sandbox : live;
          const valueCents = amount(80, 30_000);
          const idempotencyKey = key();
          const interval = INTERVALS[valueCents % 3]!;
          const endsAfterCycles = valueCents % 4 === 0 ? 2 : null;
          const input = { valueCents, interval, endsAfterCycles, idempotencyKey };
          const id = await make(
            request('createSubscription', tenant, valueCents, idempotencyKey, async () => {
              try {
                const { subscription, replayed } = await subscriptions.create(tenant, input);
                const { subscriptionId, amountCents } = subscription;
                remember({ tenant, subscriptionId, amountCents });
                return { id: subscriptionId, replayed };
              } catch (error) {
                const reference = error instanceof UpstreamError ? error.lookupReference : null;
                if (!reference) throw error;
                remember({ tenant, subscriptionId: reference, amountCents: valueCents });
                return { id: reference, replayed: true };
              }
            }),
          );
          const subscription = made.find(({ subscriptionId }) => subscriptionId === id);
          if (subscription && authorisesNow) await authorise(subscription);
        },
      },
      authorise: {
        weight: 1,
        async act() {
          const drawn = draw();
          if (drawn) await authorise(drawn);
        },
      },
      /** The instruction of the next attempt is sent early, and the payer's bank decides it. */
      debit: {
        weight: 4,
        async act() {
          const active = made.filter(({ subscriptionId }) => authorised.includes(subscriptionId));
          const drawn = active.length > 0 && !chance(4) ? random.pick(active) : draw();
          if (!drawn) return;
          await attempt('debit', async () => {
            await subscriptions.instruct(drawn.tenant, drawn.subscriptionId);
            const [debit] = openDebits(drawn);
            if (!debit) return 'nothing';
            const outcome = chance(2) ? 'paid' : 'failed';
            rails.pix.decide(debit.id, outcome);
            await report(drawn, debit.id);
            return outcome;
          });
        },
      },
      cancelSubscription: {
        weight: 1,
        async act() {
          const drawn = draw();
          if (!drawn) return;
          if (chance(2)) {
            rails.pix.endByPayer(txidOf(drawn.subscriptionId));
            await report(drawn, 'end');
            return;
          }
          await attempt('cancelSubscription', async () => {
            const { subscription } = await subscriptions.cancel(drawn.tenant, drawn.subscriptionId);
            return subscription.status;
          });
        },
      },
    },

    /** The end: every subscription is canceled, and the banks decide the attempts that they can no longer recall. */
    async end(): Promise<void> {
      for (const each of made) {
        await subscriptions.cancel(each.tenant, each.subscriptionId);
        for (const { id } of openDebits(each)) rails.pix.decide(id, chance(2) ? 'paid' : 'failed');
      }
    },
  };
}
