import { expect, test } from 'vitest';
import { chosenSeed, createRandom } from '../faults/random.ts';
import { approved } from '../support/cards.ts';
import { startCore } from '../support/core.ts';
import { openFreshDatabase } from '../support/database.ts';
import { scale } from '../support/scale.ts';

const HISTORIES = scale('ENDPOINT_HISTORIES');
const STEPS = 30;
const PAID = 'card_payment.paid';
const EXPIRED = 'card_payment.expired';
const CHOICES = [['*'], [PAID], [EXPIRED], [PAID, EXPIRED], ['refund.completed']] as const;

interface Expected {
  endpointId: string;
  enabled: boolean;
  events: readonly string[];
}

test('Each event has exactly one delivery for each endpoint that selected it at that moment', {
  timeout: 600_000,
}, async () => {
  const seed = chosenSeed();
  const random = createRandom(seed);
  const database = await openFreshDatabase();
  let urls = 0;
  const freshUrl = () => {
    urls += 1;
    return `https://loja.example/${urls}`;
  };
  for (let history = 0; history < HISTORIES; history += 1) {
    const core = await startCore({ database, follows: false });
    const { tenant, webhooks, webhookEndpoints } = core;
    const further: Expected[] = [];
    const account = { url: null as string | null, enabled: true, optionalEvents: [] as string[] };
    let seen = 0;

    const happen = async (event: typeof PAID | typeof EXPIRED) => {
      const callbackUrl = random.below(4) === 0 ? freshUrl() : undefined;
      const { payment } = await core.cardPayments.create(tenant, { valueCents: 4_990, callbackUrl });
      if (event === PAID) await core.cardPayments.pay(payment.orderCode, approved());
      else await core.cardPayments.cancel(tenant, payment.orderCode);
      const wanted = further.filter(
        ({ enabled, events }) => enabled && (events.includes('*') || events.includes(event)),
      );
      const hasUrl = callbackUrl !== undefined || (account.enabled && account.url !== null);
      const isSent = event === PAID || account.optionalEvents.includes(event);
      const first = hasUrl && isSent ? [callbackUrl ?? account.url] : [];
      const { items } = await webhooks.list(tenant, { end: 'first', limit: 20 });
      const made = items.filter(({ position }) => position > seen).map(({ delivery }) => delivery);
      seen = items[0]?.position ?? seen;
      const ids = new Set(wanted.map(({ endpointId }) => endpointId));
      const toFurther = made.filter(({ endpointId }) => endpointId !== null && ids.has(endpointId));
      expect(
        toFurther.map(({ endpointId, event: name }) => `${endpointId} ${name}`).sort(),
        `PSA_FAULTS_SEED=${seed}`,
      ).toEqual([...ids].map((endpointId) => `${endpointId} ${event}`).sort());
      expect(made.filter((each) => !toFurther.includes(each)).map(({ url }) => url)).toEqual(first);
    };
    const changeOne = async (change: (one: Expected) => Promise<unknown>) => {
      if (further.length > 0) await change(random.pick(further));
    };
    const steps = [
      () => happen(PAID),
      () => happen(PAID),
      () => happen(EXPIRED),
      async () => {
        if (further.length >= 9) return;
        const events = random.pick(CHOICES);
        const { endpointId } = await webhookEndpoints.create(tenant, { url: freshUrl(), events });
        further.push({ endpointId, enabled: true, events });
      },
      () =>
        changeOne(async (one) => {
          one.enabled = random.below(2) === 0;
          await webhookEndpoints.update(tenant, { endpointId: one.endpointId, enabled: one.enabled });
        }),
      () =>
        changeOne(async (one) => {
          one.events = random.pick(CHOICES);
          const input = { endpointId: one.endpointId, events: one.events, url: freshUrl() };
          await webhookEndpoints.update(tenant, { ...input, rotateSecret: random.below(2) === 0 });
        }),
      () =>
        changeOne(async (one) => {
          further.splice(further.indexOf(one), 1);
          await webhookEndpoints.delete(tenant, one.endpointId);
        }),
      async () => {
        account.url = freshUrl();
        account.enabled = random.below(3) > 0;
        account.optionalEvents = random.below(2) === 0 ? [EXPIRED] : [];
        await webhooks.configure(tenant, account);
      },
    ];
    for (let step = 0; step < STEPS; step += 1) await random.pick(steps)();
  }
});
