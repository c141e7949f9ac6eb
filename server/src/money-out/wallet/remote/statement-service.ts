import { sql as raw } from 'kysely';
import { withoutExtra } from '../../../kernel/list-range.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import {
  countSightings,
  readEnds,
  readSightings,
  type Sighting,
  type SightingsRequest,
} from '../../../state/events/sightings.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Wallet } from '../model.ts';
import {
  assertPeriod,
  bucketsOf,
  type Period,
  type StatementService,
  type WalletChanges,
  type WalletEntry,
  type WalletEntryFilter,
} from '../statement.ts';

// Another service shows no statement. Its wallet was seen, each time with other figures: a change between two sightings is an
// entry, whose reason nobody knows.

const RESOURCE = 'wallet';
const LAST_INSTANT = new Date(8.64e15);

/** The statement of what this server has seen of the service's wallet. */
export function createRemoteStatement({
  database: { sql },
}: Pick<UpstreamDependencies, 'database'>): StatementService {
  async function entriesOf(tenant: Tenant, request: SightingsRequest): Promise<WalletEntry[]> {
    const [sightings, ends] = await Promise.all([
      readSightings(sql, tenant, RESOURCE, request),
      readEnds(sql, tenant, RESOURCE, LAST_INSTANT),
    ]);
    return sightings.map((sighting) => toEntry(sighting, ends?.first as Wallet));
  }

  /** The wallet at an instant: the last sighting at it or before it. */
  async function seenAt(tenant: Tenant, instant: Date) {
    const ends = await readEnds(sql, tenant, RESOURCE, instant);
    if (!ends) return null;
    const [first, figures] = [ends.first as Wallet, ends.last as Wallet];
    return { figures, version: ends.version, unexplainedCents: unexplainedSince(first, figures) };
  }

  const justBefore = (instant: Date) => new Date(instant.getTime() - 1);
  const find = async (tenant: Tenant, version: number) => {
    const [entry] = await entriesOf(tenant, { where: [raw<boolean>`change.version = ${version}::bigint`] });
    return entry ?? null;
  };

  return {
    async list(tenant, { end, limit, after, before, ...filter }) {
      const where = conditionsOf(filter);
      if (!where) return { items: [], more: false };
      if (after !== undefined) where.push(raw`change.version < ${after}::bigint`);
      if (before !== undefined) where.push(raw`change.version > ${before}::bigint`);
      const direction = end === 'first' ? 'desc' : 'asc';
      const entries = await entriesOf(tenant, { where, direction, limit: limit + 1 });
      const items = entries.map((entry) => ({ position: entry.number, entry }));
      return withoutExtra(end === 'first' ? items : items.reverse(), { end, limit });
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const where = conditionsOf(filter);
      if (!where) return { items: [], total: 0 };
      const items = await entriesOf(tenant, { where, limit: limit + offset });
      return { items: items.slice(offset), total: await countSightings(sql, tenant, RESOURCE, where) };
    },
    async count(tenant, filter) {
      const where = conditionsOf(filter);
      return where ? countSightings(sql, tenant, RESOURCE, where) : 0;
    },
    find,
    async ofCommit(tenant, { version }) {
      const entry = await find(tenant, version);
      return entry ? [entry] : [];
    },
    async at(tenant, instant) {
      const seen = await seenAt(tenant, instant);
      if (!seen) return null;
      const { version, ...figures } = seen;
      return { instant, entry: await find(tenant, version), ...figures };
    },
    async history(tenant, request) {
      const ends = bucketsOf(request);
      const period = { startsAt: ends[0]!, endsAt: ends.at(-1)! };
      const entries = await entriesOf(tenant, { where: inside(period), direction: 'asc' });
      const opening = await seenAt(tenant, justBefore(period.startsAt));
      let closing = opening?.figures ?? NOTHING_SEEN;
      return ends.slice(0, -1).map((start, index) => {
        const end = ends[index + 1]!;
        const own = entries.filter(({ createdAt }) => createdAt >= start && createdAt < end);
        closing = own.at(-1)?.after ?? closing;
        const sumOf = (sign: 1 | -1) =>
          own.reduce((sum, { amountCents }) => sum + Math.max(0, sign * amountCents), 0);
        return { startsAt: start, endsAt: end, closing, inCents: sumOf(1), outCents: sumOf(-1) };
      });
    },
    async closing(tenant, { startsAt, endsAt }) {
      assertPeriod({ startsAt, endsAt });
      const [entries, opening, closing] = await Promise.all([
        entriesOf(tenant, { where: inside({ startsAt, endsAt }) }),
        seenAt(tenant, justBefore(startsAt)),
        seenAt(tenant, justBefore(endsAt)),
      ]);
      return {
        ...{ startsAt, endsAt, opening: opening?.figures ?? NOTHING_SEEN },
        closing: closing?.figures ?? NOTHING_SEEN,
        lines: entries.length === 0 ? [] : [{ kind: 'observed', count: entries.length, ...sumsOf(entries) }],
        unexplainedCents: closing?.unexplainedCents ?? 0,
      };
    },
  };
}

const inside = ({ startsAt, endsAt }: Period) => [
  raw<boolean>`change.occurred_at >= ${startsAt}`,
  raw<boolean>`change.occurred_at < ${endsAt}`,
];

/** The conditions of a filter; null if no entry fulfills them, since none names anything. */
function conditionsOf({
  kind,
  createdAfter,
  createdBefore,
  reference,
  subaccountId,
  amountCents,
  minAmountCents,
  maxAmountCents,
}: WalletEntryFilter) {
  if (reference !== undefined || subaccountId !== undefined || (kind && !kind.includes('observed')))
    return null;
  const size = raw`abs((change.snapshot ->> 'balanceCents')::bigint - (previous.snapshot ->> 'balanceCents')::bigint)`;
  const where = [raw<boolean>`true`];
  if (createdAfter) where.push(raw`change.occurred_at >= ${createdAfter}`);
  if (createdBefore) where.push(raw`change.occurred_at < ${createdBefore}`);
  if (amountCents !== undefined) where.push(raw`${size} = ${amountCents}`);
  if (minAmountCents !== undefined) where.push(raw`${size} >= ${minAmountCents}`);
  if (maxAmountCents !== undefined) where.push(raw`${size} <= ${maxAmountCents}`);
  return where;
}

function toEntry(
  { version, occurred_at: createdAt, snapshot, before }: Sighting,
  first: Wallet,
): WalletEntry {
  const [left, right] = [before as Wallet, snapshot as Wallet];
  // A figure that one of the two sightings does not show has not moved as far as anybody knows.
  const moved = (name: Exclude<keyof Wallet, 'environment'>) =>
    left[name] === null || right[name] === null ? 0 : right[name] - left[name];
  return {
    number: version,
    kind: 'observed',
    reference: null,
    resource: null,
    subaccountId: null,
    createdAt,
    amountCents: moved('balanceCents'),
    subaccountsDeltaCents: moved('subaccountsBalanceCents'),
    pendingReleaseDeltaCents: moved('pendingReleaseCents'),
    disputeBlockedDeltaCents: moved('disputeBlockedCents'),
    receivableDeltaCents: moved('receivableCents'),
    litoshiDelta: moved('cryptoBalanceLitoshi'),
    feeCents: 0,
    after: right,
    unexplainedCents: unexplainedSince(first, right),
  };
}

/** The change of the balance since the first sighting: all of it is unexplained. */
function unexplainedSince(first: Wallet, { balanceCents }: Wallet): Cents {
  return first.balanceCents === null || balanceCents === null ? 0 : balanceCents - first.balanceCents;
}

function sumsOf(entries: readonly WalletEntry[]): WalletChanges {
  const sumOf = (name: keyof WalletChanges) => entries.reduce((sum, entry) => sum + entry[name], 0);
  return {
    amountCents: sumOf('amountCents'),
    subaccountsDeltaCents: sumOf('subaccountsDeltaCents'),
    pendingReleaseDeltaCents: sumOf('pendingReleaseDeltaCents'),
    disputeBlockedDeltaCents: sumOf('disputeBlockedDeltaCents'),
    receivableDeltaCents: sumOf('receivableDeltaCents'),
    litoshiDelta: sumOf('litoshiDelta'),
    feeCents: 0,
  };
}

/** The wallet before its first sighting: nothing of it is known. */
const NOTHING_SEEN = {
  balanceCents: null,
  disputeBlockedCents: null,
  withdrawableCents: null,
  pendingReleaseCents: null,
  receivableCents: null,
  subaccountsBalanceCents: null,
  assignableCents: null,
  cryptoBalanceLitoshi: null,
} as unknown as Wallet;
