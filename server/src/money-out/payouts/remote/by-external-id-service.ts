import { type Clock, plusMs } from '../../../kernel/clock.ts';
import { askedOf } from '../../../kernel/list-filter.ts';
import { type ListedRange, type ListRange, withoutExtra } from '../../../kernel/list-range.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { countMirroredRange, listMirroredRange, type RangeFilter } from '../../../upstream/mirror-lists.ts';
import { isInconclusive, withUpstreamErrors } from '../../../upstream/responses.ts';
import { type Payout, type PayoutFilter, payoutConditions } from '../model.ts';
import { payoutIn } from './mirror.ts';
import { positionOfRow, rowOfPosition } from './positions.ts';

// Payouts by externalId, which the service does not know, but the mirror does for every payout that has one.
// A search of the service's list would read all its pages down to the payout.

/** The payouts with an externalId, as the mirror has them, without those in doubt. */
export interface PayoutsByExternalId {
  /**
   * Lists a range, newest first by when the payouts were first seen. If the service does not answer, or
   * refuses its list, nothing is thrown: the payouts are listed as last seen. @throws PaymentError
   */
  list(
    tenant: Tenant,
    range: ListRange,
    filter: PayoutFilter,
    requester: Requester,
  ): Promise<ListedRange<{ position: number; payout: Payout }>>;
  /** Counts the payouts of a filter. @throws as `list` */
  count(tenant: Tenant, filter: PayoutFilter, requester: Requester): Promise<number>;
}

export function createPayoutsByExternalId({
  database: { sql },
  clock,
  maxAgeMs,
  readNewest,
}: Pick<UpstreamDependencies, 'database'> & {
  clock: Clock;
  /** The age up to which an open payout counts as current. */
  maxAgeMs: number;
  /** Reads the newest page of the service's list, or takes it from the cache, and merges it. */
  readNewest: (tenant: Tenant, requester: Requester) => Promise<unknown>;
}): PayoutsByExternalId {
  /**
   * Reads the newest page if a payout with the externalId is not final: one request at most, however many are
   * listed.
   */
  async function refresh(tenant: Tenant, { externalId }: PayoutFilter, requester: Requester): Promise<void> {
    const open = await listMirroredRange(sql, tenant, 'payout', {
      ...{ end: 'first', limit: 1, allOf: null, period: {} },
      details: { asked: askedOf(payoutConditions, { externalId }), isNamed: true, isOpen: true },
    });
    if (open.length === 0) return;
    try {
      await withUpstreamErrors(readNewest(tenant, requester));
    } catch (error) {
      // The payouts are listed as last seen, with their age.
      if (!isInconclusive(error)) throw error;
    }
  }

  return {
    async list(tenant, { end, limit, after, before }, filter, requester) {
      await refresh(tenant, filter, requester);
      const rows = await listMirroredRange(sql, tenant, 'payout', {
        ...{ end, limit: limit + 1, allOf: null },
        after: after === undefined ? undefined : rowOfPosition(after),
        before: before === undefined ? undefined : rowOfPosition(before),
        ...mirrorFilter(filter),
      });
      const { items, more } = withoutExtra(rows, { end, limit });
      const oldBefore = plusMs(clock.now(), -maxAgeMs);
      for (const { observed } of items)
        if (!observed.final) requester.onRead(observed.observedAt, observed.observedAt < oldBefore);
      return {
        items: items.map(({ position, observed }) => ({
          position: positionOfRow(position),
          payout: payoutIn(observed),
        })),
        more,
      };
    },
    async count(tenant, filter, requester) {
      await refresh(tenant, filter, requester);
      return countMirroredRange(sql, tenant, 'payout', mirrorFilter(filter));
    },
  };
}

/** Whether a filter selects by externalId. */
export function hasExternalId({ externalId }: PayoutFilter): boolean {
  return externalId !== undefined;
}

/** The filter of the payouts that the service has named, as the mirror has it. */
export function mirrorFilter({ status, ...details }: PayoutFilter): RangeFilter {
  const asked = askedOf(payoutConditions, details);
  return { status, period: {}, details: { asked, referenceName: details.reference, isNamed: true } };
}
