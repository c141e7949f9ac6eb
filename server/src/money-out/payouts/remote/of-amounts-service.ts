import type { Cents } from '../../../kernel/money.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { selectPayoutsOfAmounts } from '../../../upstream/mirror-store.ts';
import { MOST_OF_AMOUNTS, type Payout, payoutIdOf } from '../model.ts';
import { REQUEST } from './commands.ts';
import { asPayout, payoutIn } from './mirror.ts';

/**
 * Lists the payouts of any of these amounts since an instant: those that the service has shown, and those of requests whose outcome
 * is not known, also while they are sent.
 */
export async function listOfAmounts(
  { database, intents }: Pick<UpstreamDependencies, 'database' | 'intents'>,
  tenant: Tenant,
  amounts: readonly Cents[],
  since: Date,
): Promise<Payout[]> {
  // First the requests: the commit that ends one shows its payout.
  const open = (await intents.open(tenant, REQUEST)).filter(({ createdAt }) => createdAt >= since);
  const rows = await selectPayoutsOfAmounts(database.sql, tenant, { amounts, since, limit: MOST_OF_AMOUNTS });
  const shown = rows
    .map((row) => ({ row, payout: payoutIn(row) }))
    // The record of a request whose payout was identified points to that of the payout.
    .filter(({ row, payout: { withdrawalId } }) => withdrawalId === null || withdrawalId === row.id)
    .map(({ payout }) => payout);
  const known = new Set(shown.map(payoutIdOf));
  const isAsked = new Set(amounts);
  const sent = open.map(asPayout).filter((payout) => isAsked.has(payout.amountCents));
  return [...sent.filter((payout) => !known.has(payoutIdOf(payout))), ...shown];
}
