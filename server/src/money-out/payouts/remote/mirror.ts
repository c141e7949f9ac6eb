import { isUnchanged } from '../../../kernel/objects.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { joined, type Writes } from '../../../state/commit/commit.ts';
import { conclusionsOf } from '../../../upstream/conclusions.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createFamilyMirror, type Family, observationsOf, rowsOf } from '../../../upstream/family-mirror.ts';
import type { Intent } from '../../../upstream/intents/transitions.ts';
import { mirrored, type Observation, writesOfMirrored } from '../../../upstream/mirror.ts';
import {
  type MirroredRow,
  selectInDoubt,
  selectMirrored,
  selectMirroredWithHead,
  selectReferences,
} from '../../../upstream/mirror-store.ts';
import { isFinal, isSettled, type Payout, payoutFromJson, variantOf } from '../model.ts';
import {
  identified,
  mergeUpstreamPayout,
  neverMade,
  payoutInDoubt,
  type UpstreamPayout,
} from '../upstream-payout.ts';

type Sql = UpstreamDependencies['database']['sql'];

/** The mirrored payouts of the main account. */
export interface MirroredPayouts {
  /**
   * Merges a page in one transaction, or in none if nothing is new. Returns the merged payouts. `isShown`: for
   * a query that decides nothing, which does not wait for the transaction.
   */
  merge(
    tenant: Tenant,
    page: readonly (UpstreamPayout | null)[],
    as: { at: Date; isShown: boolean },
  ): Promise<(Payout | null)[]>;
  /** Replaces each payout by its present state in the mirror, if it has one. */
  asKnown(tenant: Tenant, payouts: readonly (Payout | null)[]): Promise<(Payout | null)[]>;
  /** Finds payouts by names, as `findNamed` below. */
  findNamed(tenant: Tenant, names: readonly string[]): Promise<Map<string, MirroredRow>>;
  /** Finds a payout by its id or withdrawal id, with the version of the tenant's log that the state holds for. */
  findWithVersion(tenant: Tenant, id: string): Promise<{ version: number; payout: Payout } | null>;
  /** Lists the payouts that the service may not have made, with their rows of the mirror, newest first. */
  inDoubt(tenant: Tenant): Promise<{ row: number; payout: Payout }[]>;
  /**
   * Completes ids of payouts by the withdrawal ids of the requests among them whose payout has been
   * identified.
   */
  withdrawalsOf(tenant: Tenant, ids: readonly string[]): Promise<string[]>;
}

export function mirrorPayouts(
  dependencies: Pick<UpstreamDependencies, 'database' | 'mirrorWriter' | 'clock'>,
): MirroredPayouts {
  const { sql } = dependencies.database;
  const family = createFamilyMirror(dependencies, payoutFamily);

  return {
    async merge(tenant, page, { at, isShown }) {
      const claims = page.filter((upstream) => upstream !== null);
      const rows = await family.recordPage(tenant, claims, at, { isShown });
      return page.map((upstream) => {
        const row = upstream && rows.get(upstream.withdrawalId);
        return row ? payoutIn(row) : null;
      });
    },

    async asKnown(tenant, payouts) {
      const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
      return dependencies.mirrorWriter.holding(tenant, { resource: 'payout', ids }, async (rows) => {
        const known = new Map(rows.map((row) => [row.id, row]));
        return payouts.map((payout) => {
          const record = payout?.withdrawalId ? known.get(payout.withdrawalId) : undefined;
          return record ? payoutIn(record) : payout;
        });
      });
    },

    findNamed: (tenant, names) => findNamed(sql, tenant, names),

    async findWithVersion(tenant, id) {
      const known = await selectMirroredWithHead(sql, tenant, 'payout', id);
      const payout = known && payoutIn(known.observed);
      if (payout?.withdrawalId && payout.withdrawalId !== id)
        return this.findWithVersion(tenant, payout.withdrawalId);
      return known && payout && { version: known.head, payout };
    },

    async inDoubt(tenant) {
      const rows = await selectInDoubt(sql, tenant, 'payout');
      return rows.map(({ position, observed }) => ({ row: position, payout: payoutIn(observed) }));
    },

    async withdrawalsOf(tenant, ids) {
      const requests = await select(sql, tenant, ids.filter(isRequestId));
      return [...ids, ...[...requests.values()].flatMap((record) => payoutIn(record).withdrawalId ?? [])];
    },
  };
}

async function select(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<Map<string, MirroredRow>> {
  const known = await selectMirrored(sql, tenant, 'payout', ids);
  return new Map(known.map((each) => [each.id, each]));
}

/**
 * Finds payouts by withdrawal id, code, or the id of the request that has made them or may have. The result
 * is keyed by that name.
 */
export async function findNamed(
  sql: Sql,
  tenant: Tenant,
  names: readonly string[],
): Promise<Map<string, MirroredRow>> {
  const byName = await selectReferences(sql, tenant, 'payout', names);
  const requests = await select(sql, tenant, names.filter(isRequestId));
  const idOf = new Map(byName.map(({ reference, id }) => [reference, id]));
  for (const { id, snapshot } of requests.values()) idOf.set(id, payoutFromJson(snapshot).withdrawalId ?? id);
  const known = await select(sql, tenant, [...new Set(idOf.values())]);
  return new Map(
    [...idOf].flatMap(([name, id]) => {
      const found = known.get(id);
      return found ? [[name, found] as const] : [];
    }),
  );
}

/** Whether an id is that of a request. The payout that the request has made keeps it. */
function isRequestId(id: string): boolean {
  return id.startsWith('int_');
}

// ── Observations ────────────────────────────────────────────────────────────────────────────────

const payoutFamily: Family<Payout, UpstreamPayout> = {
  resource: 'payout',
  idOf: ({ withdrawalId }) => withdrawalId,
  merge(known, upstream, _, source) {
    const payout = mergeUpstreamPayout(known, upstream, source);
    const isNew = known?.version !== payout?.version;
    return payout && { resource: payout, changed: isNew ? { from: known?.status ?? null } : null };
  },
  mergesOlder: true,
  isFinal: (_, payout) => isSettled(payout),
  isEnd: isFinal,
  datedAt: ({ processedAt, requestedAt }) => processedAt ?? requestedAt,
  fromJson: payoutFromJson,
  listedBy: () => ({ parent: null }),
  namesOf: ({ withdrawalId, code }) => [withdrawalId, code].filter((name) => name !== null),
  eventOf: (payout, from, resourceId) => ({
    kind: `payout.${payout.status}`,
    resource: 'payout',
    resourceId,
    previousStatus: from,
    snapshot: payout,
  }),
  // The record of a request in doubt has the request's id alone.
  otherIdsOf: ({ withdrawalId, requestId }) =>
    withdrawalId === null || requestId === undefined ? [] : [requestId],
};

const { decide, observationOf: observationOfAnswer } = observationsOf(payoutFamily);
const { rowOf, writesOf } = rowsOf(payoutFamily);

/**
 * The observation of a payout. `at`: the instant of the service's answer; null for a webhook, which may be
 * late. `madeBy`: the request whose answer this is.
 */
export function observationOf(
  upstream: UpstreamPayout,
  at: Date | null,
  { madeBy = null }: { madeBy?: string | null } = {},
): Observation {
  const observation = observationOfAnswer(upstream, at);
  if (madeBy === null) return observation;
  return {
    ...observation,
    read: (reader) => Promise.all([observation.read(reader), reader.load(mirrored.payout, madeBy)]),
    decide(state) {
      const doubted = state.get(mirrored.payout, madeBy);
      const { record } = decide(state, upstream, at);
      const payout = record && payoutIn(record);
      // The request was shown in doubt, and its payout becomes known only now.
      return doubted && payout && payout.requestId === undefined
        ? { resourceId: record.id, writes: writesOfIdentified(record, payout, doubted) }
        : observation.decide(state);
    },
  };
}

/** The observation that a known payout is the one that a request has made. */
export function identifiedAs(
  withdrawalId: string,
  {
    requestId,
    externalId,
    destinationKind,
  }: { requestId: string } & Pick<Payout, 'externalId' | 'destinationKind'>,
): Observation {
  return {
    resourceId: withdrawalId,
    read: (reader) =>
      Promise.all([reader.load(mirrored.payout, withdrawalId), reader.load(mirrored.payout, requestId)]),
    decide(state) {
      const known = state.need(mirrored.payout, withdrawalId);
      const doubted = state.get(mirrored.payout, requestId);
      const payout = payoutIn(known);
      if (doubted) return { resourceId: withdrawalId, writes: writesOfIdentified(known, payout, doubted) };
      // The members of a request that was never shown in doubt.
      const snapshot = {
        ...payout,
        externalId: payout.externalId ?? externalId,
        destinationKind: payout.destinationKind ?? destinationKind,
      };
      const isKnown = isUnchanged(payout, snapshot);
      return {
        resourceId: withdrawalId,
        writes: isKnown ? {} : writesOf({ ...known, snapshot }, snapshot, null),
      };
    },
  };
}

export const { inDoubtOf, neverMadeOf } = conclusionsOf<Payout>(payoutFamily, {
  namedBy: ({ requestId }) => ({ id: requestId!, names: [] }),
  neverMade,
  writesOf: (payout, before, at) =>
    writesOf(rowOf(payout.requestId!, payout, at), payout, { from: before?.status ?? null }),
});

/**
 * The payout of an intent whose outcome is unknown, from the intent's `summary`, in which a PIX key is
 * masked.
 */
export function asPayout({ id, summary, createdAt }: Intent): Payout & { requestId: string } {
  const {
    method,
    amountCents,
    destination,
    externalId = null,
    destinationKind = variantOf(method, destination),
  } = summary as Pick<Payout, 'method' | 'amountCents' | 'destination'> &
    Partial<Pick<Payout, 'externalId' | 'destinationKind'>>;
  const shown = { method, amountCents, destination, externalId, destinationKind };
  return { ...payoutInDoubt({ ...shown, requestId: id, requestedAt: createdAt }), requestId: id };
}

/** Merges the records of a payout and its request: a subscription to either id continues. */
function writesOfIdentified(known: MirroredRow, payout: Payout, doubted: MirroredRow): Writes {
  const before = payoutIn(doubted);
  const made = identified(payout, before);
  const { version, status } = made;
  const pointer = { ...doubted, version, status, final: true, snapshot: made, event: null };
  return joined(
    writesOf({ ...known, version, snapshot: made }, made, { from: before.status }),
    writesOfMirrored(pointer),
  );
}

export function payoutIn({ snapshot }: MirroredRow): Payout {
  return payoutFromJson(snapshot);
}
