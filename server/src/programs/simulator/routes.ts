import { filesRoute } from '../../api/http/files.ts';
import { HttpError, type Route } from '../../api/http/routes.ts';
import { createSameOrigin, PAGE_CSP } from '../../api/http/same-origin.ts';
import { widgetPath } from '../../kernel/assets.ts';
import { plusMs } from '../../kernel/clock.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { WalletService } from '../../money-out/wallet/model.ts';
import type { SimulatedClock } from '../../rails/simulated/clock.ts';
import {
  type Controls,
  clockInput,
  closeDisputeInput,
  creditInput,
  delayInput,
  denyInput,
  ltcInput,
  openDisputeInput,
  payPixInput,
  pixReturnsInput,
  plainInput,
  type SimulatorControl,
  type SimulatorState,
  type SubscriptionStep,
  stateQuery,
  storeInput,
  type TenantSelector,
} from './model.ts';

/**
 * The simulator at `/simulator`: a page with JSON routes that change the world outside of the service, so
 * that a developer sees how the service reacts. It is for this server's own pages alone, and only beside the
 * demo.
 */
export function createSimulatorRoutes({
  publicUrl,
  controls,
  sliceControls,
  wallet,
  clock,
  nextDueAt,
  accounts,
}: {
  publicUrl: string;
  controls: Controls;
  sliceControls: readonly SimulatorControl[];
  wallet: WalletService;
  clock: SimulatedClock;
  /** Returns the instant at which the next task is due. */
  nextDueAt: () => Promise<Date | null>;
  /** Lists the accounts, oldest first; there is always one. */
  accounts: () => Promise<{ id: string; name: string }[]>;
}): Route[] {
  const { guard, action, read } = createSameOrigin(publicUrl);

  /** @throws NotFoundError */
  async function tenantOf({ account, environment }: TenantSelector): Promise<Tenant> {
    const known = await accounts();
    const found = account === undefined ? known[0] : known.find(({ id }) => id === account);
    if (!found) throw new NotFoundError('Account not found');
    return { accountId: found.id, environment };
  }

  async function stateOf(selector: TenantSelector): Promise<SimulatorState> {
    const tenant = await tenantOf(selector);
    const [
      known,
      nextDue,
      balances,
      transfers,
      returnableTransfers,
      cardPayments,
      disputes,
      testPayments,
      pixPayments,
      ltcPayments,
      storeProducts,
      recurring,
    ] = await Promise.all([
      accounts(),
      nextDueAt(),
      wallet.read(tenant),
      controls.transfers(tenant),
      controls.returnableTransfers(tenant),
      controls.refundable(tenant),
      controls.disputes(tenant),
      controls.testPayments(tenant),
      controls.pixPayments(tenant),
      controls.ltcPayments(tenant),
      controls.storeProducts(tenant),
      controls.subscriptions(tenant),
    ]);
    return {
      clock: { now: clock.now(), offsetMs: clock.offsetMs(), nextDueAt: nextDue },
      accounts: known,
      tenant,
      wallet: balances,
      transfers,
      returnableTransfers,
      cardPayments,
      disputes,
      testPayments,
      pixPayments,
      ltcPayments,
      storeProducts,
      subscriptions: recurring,
    };
  }

  /** Answers that a control was applied, or with a conflict if it found nothing to do. */
  async function doneOrConflict(change: Promise<boolean>, message: string) {
    if (!(await change)) throw new HttpError(409, message);
    return { body: { done: true } };
  }

  const page = filesRoute({
    prefix: '/simulator',
    folder: widgetPath('dist/demo/simulator/'),
    headers: () => ({
      'cache-control': 'no-cache',
      'content-security-policy': PAGE_CSP,
      'referrer-policy': 'same-origin',
    }),
  });

  return [
    read(/^\/simulator\/state$/, stateQuery, async (selector) => ({ body: await stateOf(selector) })),
    action(/^\/simulator\/transfers\/(?<id>[^/]+)\/settle$/, plainInput, async (selector, { params }) =>
      doneOrConflict(
        controls.settleTransfer(await tenantOf(selector), params.id!),
        'This transfer has ended already',
      ),
    ),
    action(/^\/simulator\/transfers\/(?<id>[^/]+)\/deny$/, denyInput, async (input, { params }) => {
      if (input.environment === 'sandbox') throw new HttpError(409, 'A sandbox payout is never denied');
      return doneOrConflict(
        controls.denyTransfer(await tenantOf(input), params.id!, input.reason),
        'This transfer has ended already',
      );
    }),
    action(/^\/simulator\/transfers\/(?<id>[^/]+)\/return$/, plainInput, async (selector, { params }) => {
      if (selector.environment === 'sandbox') throw new HttpError(409, 'A sandbox payout never comes back');
      return doneOrConflict(
        controls.returnTransfer(await tenantOf(selector), params.id!),
        'This transfer is no PIX, has not arrived, or is back already',
      );
    }),
    action(/^\/simulator\/transfers\/(?<id>[^/]+)\/delay$/, delayInput, async (input, { params }) =>
      doneOrConflict(
        controls.delayTransfer(await tenantOf(input), params.id!, plusMs(clock.now(), input.seconds * 1_000)),
        'This transfer has ended already, or ends at that time or later',
      ),
    ),
    ...sliceControls.map(({ path, apply, conflict }) =>
      action(
        new RegExp(`^/simulator/${path.replace('{id}', '(?<id>[^/]+)')}$`),
        plainInput,
        async (selector, { params }) => doneOrConflict(apply(await tenantOf(selector), params.id!), conflict),
      ),
    ),
    action(/^\/simulator\/disputes$/, openDisputeInput, async (input) => {
      const dispute = await controls.openDispute(await tenantOf(input), input);
      if (!dispute) throw new HttpError(409, 'Nothing of this payment can be claimed back');
      return dispute === 'waits' ? { status: 202, body: { waits: true } } : { status: 201, body: dispute };
    }),
    action(/^\/simulator\/disputes\/(?<id>[^/]+)\/close$/, closeDisputeInput, async (input, { params }) => ({
      body: await controls.closeDispute(await tenantOf(input), params.id!, input.outcome),
    })),
    action(/^\/simulator\/credit$/, creditInput, async (input) => {
      const tenant = await tenantOf(input);
      await controls.credit(tenant, input);
      return { body: await wallet.read(tenant) };
    }),
    action(/^\/simulator\/pix\/pay$/, payPixInput, async (input) => {
      const paid = await controls.payPix(await tenantOf(input), input);
      if (!paid) throw new HttpError(409, 'This payment has no code to pay: the bank has not given one');
      return { status: 201, body: paid };
    }),
    action(/^\/simulator\/pix\/returns$/, pixReturnsInput, async (input) =>
      doneOrConflict(
        controls.setPixReturns(await tenantOf(input), input.id, input.returns),
        'The bank does not know this payment yet',
      ),
    ),
    action(/^\/simulator\/ltc\/(?<address>[^/]+)$/, ltcInput, async (input, { params }) => {
      const seen = await controls.changeLtc(params.address!, input);
      if (!seen) throw new HttpError(409, 'The chain has no such output at this address');
      return { status: 201, body: seen };
    }),
    action(/^\/simulator\/store$/, storeInput, async (input) => {
      const tenant = await tenantOf(input);
      await controls.replaceStore(tenant, input.products);
      return { body: { storeProducts: await controls.storeProducts(tenant) } };
    }),
    action(
      /^\/simulator\/subscriptions\/(?<id>[^/]+)\/(?<step>authorise|reject|cancel|debit|fail)$/,
      plainInput,
      async (selector, { params }) =>
        doneOrConflict(
          controls.stepSubscription(await tenantOf(selector), params.id!, params.step as SubscriptionStep),
          'This subscription is past that step, or not there yet',
        ),
    ),
    action(/^\/simulator\/clock$/, clockInput, async ({ seconds, to }) => {
      const next = to === 'next' ? await nextDueAt() : null;
      if (to === 'next' && next === null) throw new HttpError(409, 'Nothing waits for an instant');
      if (next) await clock.advanceTo(next);
      else if (seconds !== undefined) await clock.advance(seconds * 1_000);
      return { body: { now: clock.now(), offsetMs: clock.offsetMs() } };
    }),
    guard(page),
  ];
}
