import type { Clock } from '../../kernel/clock.ts';
import { NotFoundError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { areDifferent } from '../../money-out/payouts/destinations.ts';
import {
  asPayout,
  findNamed,
  identifiedAs,
  neverMadeOf,
  payoutIn,
} from '../../money-out/payouts/remote/mirror.ts';
import { neverMadeOf as subaccountPayoutNeverMade } from '../../money-out/subaccounts/remote/mirror.ts';
import { asPayout as asSubaccountPayout } from '../../money-out/subaccounts/remote/payout-commands.ts';
import { madeOf } from '../../money-out/subaccounts/remote/transfer-commands.ts';
import type { Doubts, ListedDoubt, SettleDoubtInput } from '../../requests/model.ts';
import type { Committer } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { abandonment, completion } from '../../upstream/intents/commands.ts';
import { selectAllUnresolved, selectIntentById } from '../../upstream/intents/store.ts';
import type { Intent } from '../../upstream/intents/transitions.ts';
import type { Observation } from '../../upstream/mirror.ts';

/** Requests to the service behind a facade whose outcome is unknown, for the operator of the server. */
export function createDoubts({
  database,
  committer,
  clock,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
}): Doubts {
  /** Finds the payout or transfer that the request made, by the service's name for it. @throws ValidationError */
  async function findMade(
    tenant: Tenant,
    intent: Intent,
    name: string,
  ): Promise<{ found: Observation; claims: string }> {
    switch (intent.operation) {
      case 'requestPayout': {
        const record = (await findNamed(database.sql, tenant, [name])).get(name);
        const payout = record && payoutIn(record);
        if (!payout?.withdrawalId)
          throw invalid(
            'is no payout that this server has seen: list the payouts first, and give its SAQ- code',
          );
        const requested = asPayout(intent);
        // The hash of the whole destination distinguishes destinations with the same mask.
        const matches =
          (payout.inputHash === undefined || payout.inputHash === intent.inputHash) &&
          payout.amountCents === requested.amountCents &&
          (payout.method === requested.method || payout.method === 'unknown') &&
          !areDifferent(payout, requested);
        if (!matches) throw invalid('is of another amount, method or destination');
        return { found: identifiedAs(payout.withdrawalId, requested), claims: payout.withdrawalId };
      }
      case 'transferToSubaccount':
        if (!/^rep_\w{1,64}$/.test(name))
          throw invalid('must be the refId of its entry in the statement: rep_…');
        return { found: madeOf(name), claims: name };
      default:
        throw invalid(
          `is not for ${intent.operation}: the service is asked for it by its key, and it settles by itself`,
        );
    }
  }

  function neverMade(intent: Intent): Observation | undefined {
    if (intent.operation === 'requestPayout')
      return neverMadeOf(asPayout(intent), clock.now(), { ifShown: false });
    if (intent.operation === 'requestSubaccountPayout')
      return subaccountPayoutNeverMade(asSubaccountPayout(intent), clock.now(), { ifShown: false });
    return undefined;
  }

  return {
    async listDoubts() {
      const open = await selectAllUnresolved(database.sql, 1_000);
      return { doubts: open.map(({ tenant, intent }) => toUnresolved(tenant, intent)) };
    },

    async settleDoubt({ id, made }: SettleDoubtInput) {
      const found = await selectIntentById(database.sql, id);
      if (!found) throw new NotFoundError(`Request ${id} not found`);
      const { tenant, intent } = found;
      if (intent.state !== 'in_doubt' && intent.state !== 'sending')
        throw new NotFoundError(`Request ${id} is settled already`);
      if (made === null) {
        // The request may still arrive at the service. One whose sender has died is in doubt a minute later.
        if (intent.state === 'sending')
          throw new ValidationError([{ path: 'id', message: 'is being sent: try again in a minute' }]);
        const settled = await committer.change(abandonment(tenant, intent, neverMade(intent)));
        if (!settled) throw new NotFoundError(`Request ${id} is settled already`);
      } else {
        const settled = await committer.change(
          completion(tenant, intent, await findMade(tenant, intent, made)),
        );
        if (settled === null) throw invalid('was made by another request');
      }
      return { doubt: toUnresolved(tenant, intent), made };
    },
  };
}

function invalid(message: string): ValidationError {
  return new ValidationError([{ path: 'made', message }]);
}

function toUnresolved({ accountId, environment }: Tenant, intent: Intent): ListedDoubt {
  const { id, operation, key, summary, createdAt, lookups, finding } = intent;
  const { amountCents = null } = summary as { amountCents?: number };
  return {
    id,
    accountId,
    environment,
    operation,
    key,
    amountCents,
    requestedAt: createdAt,
    lookups,
    finding,
  };
}
