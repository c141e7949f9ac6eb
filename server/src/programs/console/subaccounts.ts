import type { Route } from '../../api/http/routes.ts';
import type { SameOrigin } from '../../api/http/same-origin.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import {
  requestPayoutMembers,
  type SubaccountPayoutService,
  type SubaccountService,
  transferInput,
  withNormalKey,
} from '../../money-out/subaccounts/model.ts';
import { type Actions, confirmed } from './actions.ts';

/** The operations behind the page of subaccounts. */
export interface SubaccountOperations {
  subaccounts: Pick<SubaccountService, 'assertNames' | 'transfer'> &
    Pick<SubaccountPayoutService, 'requestPayout'>;
  /** Reads the parts of a payout that its receiver does not get; null in front of another service, which does not show them. */
  subaccountFees: ((tenant: Tenant) => Promise<{ markupCents: Cents; serviceFeeCents: Cents }>) | null;
}

/** A request whose answer was lost is repeated with its key, and made once. */
const keyed = { ...confirmed, idempotencyKey: idempotencyKeyText };
const consoleTransferInput = transferInput.extend(keyed);
const termsInput = requestPayoutMembers.transform(withNormalKey);
const consolePayoutInput = requestPayoutMembers.extend(keyed).transform(withNormalKey);

/** The routes of the page of subaccounts, which a restricted key may have, too, as over `/v1`. */
export function createSubaccountRoutes({
  operations,
  sameOrigin: { action },
  actions: { admit, admitWithKey, recorded },
}: {
  /** Creates the operations of one request. */
  operations: () => SubaccountOperations;
  sameOrigin: SameOrigin;
  actions: Actions;
}): Route[] {
  return [
    action(
      /^\/console\/subaccounts\/transfers$/,
      consoleTransferInput,
      async ({ key, ...input }, context) => {
        const actor = await admitWithKey(context, key, 'subaccounts.manage');
        const body = await recorded(actor, 'transfer to subaccount', input, async () => {
          const { subaccounts } = operations();
          subaccounts.assertNames({ subaccountId: input.subaccountId }, 'input.');
          const { entry, replayed } = await subaccounts.transfer(actor.tenant, input);
          return { refId: entry.refId, replayed };
        });
        return { status: 201, body };
      },
    ),
    // An action, so that no PIX key is part of an address.
    action(/^\/console\/subaccounts\/payout-terms$/, termsInput, async (input, context) => {
      const { tenant } = await admit(context, 'subaccount_payouts.request');
      // Before a key is asked for: the request itself would be refused, too.
      if (tenant.environment === 'sandbox')
        throw new PreconditionError('NOT_IN_SANDBOX', 'Subaccount payouts are not available in sandbox');
      const { subaccountFees } = operations();
      const fees = subaccountFees && (await subaccountFees(tenant));
      return { body: { fees, pixKey: input.pixKey } };
    }),
    action(/^\/console\/subaccounts\/payouts$/, consolePayoutInput, async ({ key, ...input }, context) => {
      const actor = await admitWithKey(context, key, 'subaccount_payouts.request');
      const { subaccountId, amountCents, idempotencyKey } = input;
      const details = { subaccountId, amountCents, idempotencyKey };
      const body = await recorded(actor, 'payout of subaccount', details, async () => {
        const { subaccounts } = operations();
        subaccounts.assertNames({ subaccountId }, 'input.');
        const { payout, replayed } = await subaccounts.requestPayout(actor.tenant, input);
        const { payoutId, status } = payout;
        return { payoutId, status, replayed };
      });
      return { status: 201, body };
    }),
  ];
}
