import { tokens } from '../../server/src/access/collections.ts';
import { DAY_MS } from '../../server/src/kernel/clock.ts';
import { createTokenPauses } from '../../server/src/money-in/card-payments/tokens/service.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { approved, card } from '../support/cards.ts';
import type { Core } from '../support/core.ts';
import { fund } from '../support/funds.ts';
import { openSubaccount } from '../support/subaccounts.ts';
import { HAPPENINGS, SALE } from './happenings.ts';

/** Causes every event, each in the forms that its body has. The core must have the rail `withRefusals`. */
export async function causeEveryEvent(core: Core): Promise<void> {
  for (const happen of Object.values(HAPPENINGS)) await happen(core);
  await refuseRefund(core);
  await payOut(core);
  await pauseToken(core);
  await subscribeInEveryWay(core);
  await sellSplit(core);
  await core.work.settled();
}

/** Makes the acquirer refuse a refund. */
async function refuseRefund(core: Core): Promise<void> {
  const { payment } = await core.cardPayments.create(core.tenant, SALE);
  await core.cardPayments.pay(payment.orderCode, card('4000000000005126'));
  await core.refunds.request(core.tenant, { type: 'card_payment', id: payment.orderCode }, {});
  await core.work.settled();
}

/** Makes the bank refuse a payout of the main account, and complete one of a subaccount. */
async function payOut(core: Core): Promise<void> {
  await fund(core, { cents: 10_000 });
  const input = {
    method: 'pix' as const,
    amountCents: 1_000,
    destination: 'negado@psa.example',
    externalId: 'P-1',
  };
  await core.payouts.request(core.tenant, input);
  const subaccountId = await openSubaccount(core, 5_000);
  await core.subaccounts.requestPayout(core.tenant, {
    subaccountId,
    amountCents: 1_000,
    pixKey: 'ana@example.com',
    externalId: 'S-1',
  });
  await core.pass(60_000);
}

async function pauseToken(core: Core): Promise<void> {
  const { token } = await core.checkoutTokens.create(core.tenant, null, {
    amount: { fixedCents: 500 },
    reusable: true,
  });
  const { tokenId } = await core.checkoutTokens.pause(core.tenant, token, 1);
  core.clock.advance(2_000);
  await createTokenPauses({ ...core, credentials: tokens }).pauseForDeclines(core.tenant, tokenId);
}

/** Creates a split charge and a canceled card payment, whose events have members that others lack. */
async function sellSplit(core: Core): Promise<void> {
  const splits = [{ subaccountId: await openSubaccount(core), amountCents: 9 }];
  const { charge } = await core.charges.create(core.tenant, { valueCents: 819, splits, externalId: 'C-1' });
  await core.pix.pay({ txid: txidOf(charge.chargeId) });
  await core.charges.receive(core.tenant, charge.chargeId);
  const { payment } = await core.cardPayments.create(core.tenant, SALE);
  await core.cardPayments.cancel(core.tenant, payment.orderCode);
  await core.cardPayments.pay(payment.orderCode, approved()).catch(() => undefined);
}

export async function subscribe(core: Core, email: string, more: object = {}): Promise<string> {
  const { subscription } = await core.subscriptions.create(core.tenant, {
    valueCents: 4990,
    interval: 'weekly',
    customer: { email },
    ...more,
  });
  return subscription.subscriptionId;
}

export async function authorise(core: Core, subscriptionId: string): Promise<void> {
  await core.pix.pay({ txid: txidOf(subscriptionId) });
  await core.subscriptions.receive(core.tenant, subscriptionId);
  await core.work.settled();
}

async function subscribeInEveryWay(core: Core): Promise<void> {
  await subscribe(core, 'esquece@psa.example');
  await authorise(core, await subscribe(core, 'uma@psa.example', { endsAfterCycles: 1 }));
  const canceled = await subscribe(core, 'desiste@psa.example');
  await authorise(core, canceled);
  await core.subscriptions.cancel(core.tenant, canceled);
  await authorise(core, await subscribe(core, 'nega@psa.example'));
  await core.pass(8 * DAY_MS);
}
