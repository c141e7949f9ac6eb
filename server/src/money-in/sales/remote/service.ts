import { askedOf } from '../../../kernel/list-filter.ts';
import { withoutExtra } from '../../../kernel/list-range.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { type Totals, type TotalsGroup, totalsOf } from '../../../kernel/totals.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { countMirroredRange, type RangeFilter, totalsOfMirrored } from '../../../upstream/mirror-lists.ts';
import { listMirroredTogether } from '../../../upstream/mirror-merged.ts';
import { cardPaymentConditions } from '../../card-payments/filter.ts';
import { cardPaymentFromJson } from '../../card-payments/model.ts';
import { type Charge, chargeConditions } from '../../charges/model.ts';
import { paymentConditions, paymentFromJson } from '../../payments/model.ts';
import { pixResourceFromJson } from '../../pix/model.ts';
import {
  filtersOf,
  type KindFilter,
  METHOD_OF,
  SALE_KINDS,
  type Sale,
  type SaleKind,
  type SaleService,
} from '../model.ts';

const FROM_JSON: Readonly<Record<SaleKind, (snapshot: unknown) => Sale>> = {
  card_payment: cardPaymentFromJson,
  charge: pixResourceFromJson<Charge>,
  payment: paymentFromJson,
};

/** The sales that another service has shown, read from the mirror without a request. */
export function createRemoteSales({
  database: { sql },
}: Pick<UpstreamDependencies, 'database'>): SaleService {
  async function read(
    tenant: Tenant,
    filters: readonly KindFilter[],
    range: Parameters<typeof listMirroredTogether>[4],
  ): Promise<{ position: number; sale: Sale }[]> {
    const rows = await listMirroredTogether(sql, tenant, SALE_KINDS, filters.map(partOf), range);
    return rows.map(({ position, observed: { resource, snapshot } }) => ({
      position,
      sale: FROM_JSON[resource as SaleKind](snapshot),
    }));
  }
  async function count(tenant: Tenant, filters: readonly KindFilter[]): Promise<number> {
    const counts = await Promise.all(
      filters.map(partOf).map(({ resource, range }) => countMirroredRange(sql, tenant, resource, range)),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  }
  return {
    async list(tenant, kinds, { end, limit, after, before, ...filter }) {
      const range = { end, after, before, limit: limit + 1 };
      return withoutExtra(await read(tenant, filtersOf(kinds, filter), range), { end, limit });
    },
    async listPage(tenant, kinds, { limit, offset, ...filter }) {
      const filters = filtersOf(kinds, filter);
      const [items, total] = await Promise.all([
        read(tenant, filters, { end: 'first', limit, offset }),
        count(tenant, filters),
      ]);
      return { items: items.map(({ sale }) => sale), total };
    },
    count: (tenant, kinds, filter) => count(tenant, filtersOf(kinds, filter)),
    async totals(tenant, kinds, filter, { groupBy, slots }) {
      const groupings = slots ? (['hour', ...groupBy] as const) : groupBy;
      const all = await Promise.all(
        filtersOf(kinds, filter).map(async (each) => {
          const { resource, range } = partOf(each);
          const totals = await totalsOfMirrored(sql, tenant, resource, range, groupings, slots);
          const method = groupBy.includes('method') ? METHOD_OF[each.kind] : null;
          const groups = totals.groups.map((group) => ({ ...group, method: method ?? group.method }));
          return { ...totals, groups };
        }),
      );
      return added(all, groupings.length > 0);
    },
  };
}

/** The conditions on the mirror, which has the creation of a card payment in its state alone. */
function partOf({ kind, filter }: KindFilter): { resource: SaleKind; range: RangeFilter } {
  if (kind === 'card_payment') {
    const { status, ...details } = filter;
    const asked = askedOf(cardPaymentConditions, details);
    return { resource: kind, range: { status, period: {}, details: { asked } } };
  }
  if (kind === 'charge') {
    const { kind: parent, status, createdAfter, createdBefore, ...details } = filter;
    const period = { from: createdAfter, before: createdBefore };
    const asked = askedOf(chargeConditions, details);
    return { resource: kind, range: { parent, status, period, details: { asked } } };
  }
  const { method: parent, status, createdAfter, createdBefore, ...details } = filter;
  const period = { from: createdAfter, before: createdBefore };
  const asked = askedOf(paymentConditions, details);
  return { resource: kind, range: { parent, status, period, details: { asked } } };
}

/** Adds up the totals of several resources. No total of a mirror is exact. */
function added(all: readonly Totals[], isGrouped: boolean): Totals {
  const groups = new Map<string, TotalsGroup>();
  for (const group of all.flatMap((totals) => [...totals.groups])) {
    const key = JSON.stringify([group.hour, group.status, group.method]);
    const before = groups.get(key) ?? { ...group, count: 0, amountCents: 0 };
    groups.set(key, {
      ...before,
      count: before.count + group.count,
      amountCents: before.amountCents + group.amountCents,
    });
  }
  const sorted = [...groups].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
  const seen = all.flatMap(({ asOf }) => (asOf ? [asOf.getTime()] : []));
  return {
    ...totalsOf(isGrouped ? sorted : all.map(wholeOf), false),
    asOf: seen.length === 0 ? null : new Date(Math.max(...seen)),
    groups: sorted,
  };
}

const wholeOf = ({ count, amountCents }: Totals): TotalsGroup => ({
  ...{ hour: null, method: null, status: null, count, amountCents },
});
