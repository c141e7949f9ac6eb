import { isUnchanged } from '../../../kernel/objects.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamSource } from '../../../kernel/upstream-source.ts';
import type { State, Writes } from '../../../state/commit/commit.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Intent } from '../../../upstream/intents/transitions.ts';
import { type Correction, mirrored, type Observation, writesOfMirrored } from '../../../upstream/mirror.ts';
import {
  knownSince,
  type MirroredRow,
  selectInDoubt,
  selectMirrored,
  selectMirroredWithHead,
  selectReferences,
  touchMirrored,
} from '../../../upstream/mirror-store.ts';
import { isFinal, isSettled, type Payout, payoutFromJson, variantOf } from '../model.ts';
import {
  identified,
  mergeUpstreamPayout,
  neverMade,
  payoutInDoubt,
  type UpstreamPayout,
} from '../upstream-payout.ts';

/** The mirrored payouts of the main account. */
export interface MirroredPayouts {
  /** Merges a page in one transaction, or in none if nothing is new. Returns the merged payouts. */
  merge(tenant: Tenant, page: readonly (UpstreamPayout | null)[], at: Date): Promise<(Payout | null)[]>;
  /** Replaces each payout by its present state in the mirror, if it has one. */
  asKnown(tenant: Tenant, payouts: readonly (Payout | null)[]): Promise<(Payout | null)[]>;
  /**
   * Finds payouts by withdrawal id, code, or the id of the request that has or may have made them. The result
   * is keyed by that name.
   */
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

export function mirrorPayouts({
  database,
  committer,
  clock,
  onCorrection,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'clock' | 'onCorrection'>): MirroredPayouts {
  async function select(tenant: Tenant, ids: readonly string[]): Promise<Map<string, MirroredRow>> {
    const known = await selectMirrored(database.sql, tenant, 'payout', ids);
    return new Map(known.map((each) => [each.id, each]));
  }

  return {
    async merge(tenant, page, at) {
      const ids = [...new Set(page.flatMap((upstream) => upstream?.withdrawalId ?? []))];
      const known = await select(tenant, ids);
      const now = clock.now();
      let merged = mergeAll(page, (id) => known.get(id) ?? null, { at, now });
      if (merged.writes.length > 0)
        merged = await committer.change({
          tenant,
          read: (reader) => Promise.all(ids.map((id) => reader.load(mirrored.payout, id))),
          decide(state) {
            const outcome = mergeAll(page, (id) => state.get(mirrored.payout, id), { at, now });
            return {
              outcome,
              writes: {
                records: outcome.writes.flatMap(({ records = [] }) => records),
                events: outcome.writes.flatMap(({ events = [] }) => events),
              },
            };
          },
        });
      const confirmed = page.flatMap((upstream, index) => {
        const payout = merged.payouts[index];
        return upstream && payout && isConfirmation(upstream, payout) ? [upstream.withdrawalId] : [];
      });
      await touchMirrored(database.sql, tenant, 'payout', { ids: confirmed, at, now });
      for (const correction of merged.corrections) onCorrection(correction);
      return merged.payouts;
    },

    async asKnown(tenant, payouts) {
      const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
      const known = await select(tenant, ids);
      return payouts.map((payout) => {
        const record = payout?.withdrawalId ? known.get(payout.withdrawalId) : undefined;
        return record ? payoutIn(record) : payout;
      });
    },

    async findNamed(tenant, names) {
      const byName = await selectReferences(database.sql, tenant, 'payout', names);
      const requests = await select(tenant, names.filter(isRequestId));
      const idOf = new Map(byName.map(({ reference, id }) => [reference, id]));
      for (const { id, snapshot } of requests.values())
        idOf.set(id, payoutFromJson(snapshot).withdrawalId ?? id);
      const known = await select(tenant, [...new Set(idOf.values())]);
      return new Map(
        [...idOf].flatMap(([name, id]) => {
          const found = known.get(id);
          return found ? [[name, found] as const] : [];
        }),
      );
    },

    async findWithVersion(tenant, id) {
      const known = await selectMirroredWithHead(database.sql, tenant, 'payout', id);
      const payout = known && payoutIn(known.observed);
      if (payout?.withdrawalId && payout.withdrawalId !== id)
        return this.findWithVersion(tenant, payout.withdrawalId);
      return known && payout && { version: known.head, payout };
    },

    async inDoubt(tenant) {
      const rows = await selectInDoubt(database.sql, tenant, 'payout');
      return rows.map(({ place, observed }) => ({ row: place, payout: payoutIn(observed) }));
    },

    async withdrawalsOf(tenant, ids) {
      const requests = await select(tenant, ids.filter(isRequestId));
      return [...ids, ...[...requests.values()].flatMap((record) => payoutIn(record).withdrawalId ?? [])];
    },
  };
}

/** Whether an id is that of a request. The payout that the request has made keeps it. */
function isRequestId(id: string): boolean {
  return id.startsWith('int_');
}

// ── Observations ────────────────────────────────────────────────────────────────────────────────

/**
 * The observation of a payout. `at`: the instant of the service's answer; null for a webhook, which may be
 * late.
 */
export function observationOf(
  upstream: UpstreamPayout,
  at: Date | null,
  { madeBy = null }: { madeBy?: string | null } = {},
): Observation {
  const { withdrawalId } = upstream;
  return {
    resourceId: withdrawalId,
    read: (reader) =>
      Promise.all([
        reader.load(mirrored.payout, withdrawalId),
        madeBy === null ? null : reader.load(mirrored.payout, madeBy),
      ]),
    decide(state: State) {
      const known = state.get(mirrored.payout, withdrawalId);
      const datedAt = known?.observedAt ?? upstream.processedAt ?? upstream.requestedAt ?? state.now;
      const doubted = madeBy === null ? null : state.get(mirrored.payout, madeBy);
      const merged = merge(known, upstream, {
        by: at ? 'service' : 'event',
        at: at ?? state.now,
        now: state.now,
        holdsAt: at ?? new Date(Math.min(datedAt.getTime(), state.now.getTime())),
        doubted,
      });
      const isConfirmed = known !== null && isConfirmation(upstream, payoutIn(known));
      return {
        resourceId: withdrawalId,
        writes: merged?.writes ?? {},
        contradicts: known !== null && upstream.status !== null && !merged && !isConfirmed,
      };
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
    decide(state: State) {
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
        writes: isKnown ? {} : writesOf({ ...known, snapshot }, snapshot, []),
      };
    },
  };
}

/** The observation that the outcome of a request is unknown: its payout is shown in doubt. */
export function inDoubtOf(request: Payout & { requestId: string }, at: Date, again: boolean): Observation {
  return conclusion(request, at, (known) =>
    // A payout that was identified, or never made, stays so.
    known && (!known.inDoubt || !again) ? null : { ...request, version: (known?.version ?? 0) + 1 },
  );
}

/**
 * The observation that the service never made a payout. `ifShown`: it is recorded only if the payout was
 * shown in doubt.
 */
export function neverMadeOf(
  request: Payout & { requestId: string },
  at: Date,
  { ifShown }: { ifShown: boolean },
): Observation {
  return conclusion(request, at, (known) => {
    const isRecorded = known ? known.inDoubt : !ifShown;
    return isRecorded ? neverMade(known ?? request, at) : null;
  });
}

/** The observation of a state that this server concludes itself; `decide` returns null if nothing is new. */
function conclusion(
  { requestId }: { requestId: string },
  at: Date,
  decide: (known: Payout | null) => Payout | null,
): Observation {
  return {
    read: (reader) => reader.load(mirrored.payout, requestId),
    decide(state: State) {
      const before = state.get(mirrored.payout, requestId);
      const known = before && payoutIn(before);
      const payout = decide(known);
      if (!payout) return { resourceId: requestId, writes: {} };
      const writes = writesOfMirrored({
        resource: 'payout',
        id: requestId,
        version: payout.version,
        status: payout.status,
        final: isSettled(payout),
        parent: null,
        snapshot: payout,
        observedAt: at,
        event: eventOf(requestId, payout, known),
      });
      return { resourceId: requestId, writes };
    },
  };
}

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

/**
 * Whether a description confirms the known status. An older description does not, nor one without a status.
 */
function isConfirmation({ status: upstreamStatus }: UpstreamPayout, { status }: Payout): boolean {
  return upstreamStatus !== null && (upstreamStatus === status || status === 'unknown');
}

type Events = NonNullable<Writes['events']>;

interface MergeSource extends UpstreamSource {
  /** The instant for which the description holds. For a webhook it is not later than its own dates. */
  holdsAt: Date;
  now: Date;
  /** The record of the request in doubt that has made the payout, if that becomes known only now. */
  doubted?: MirroredRow | null;
}

interface Merged {
  record: MirroredRow;
  writes: Writes;
  correction: { id: string; from: string; to: string } | null;
}

/** Merges another description of a payout into its record; null if nothing is new. */
function merge(
  known: MirroredRow | null,
  upstream: UpstreamPayout,
  { holdsAt, now, doubted = null, ...source }: MergeSource,
): Merged | null {
  const before = known && payoutIn(known);
  const knownAt = knownSince(known, now);
  const merged = mergeUpstreamPayout(before, upstream, { ...source, knownAt });
  const isIdentified = doubted !== null && before?.requestId === undefined;
  const payout = merged ?? (isIdentified ? before : null);
  if (!payout) return null;
  const { withdrawalId } = upstream;
  const isNewer = !known || (!(knownAt && knownAt > holdsAt) && isConfirmation(upstream, payout));
  const record: MirroredRow = {
    resource: 'payout',
    id: withdrawalId,
    version: payout.version,
    status: payout.status,
    final: isSettled(payout),
    parent: null,
    snapshot: payout,
    observedAt: isNewer ? holdsAt : known.observedAt,
  };
  if (isIdentified) return { record, writes: writesOfIdentified(record, payout, doubted), correction: null };
  const isNew = before?.version !== payout.version;
  const isCorrection = before !== null && isFinal(before.status) && before.status !== payout.status;
  return {
    record,
    writes: writesOf(record, payout, isNew ? eventsOf(payout, before) : []),
    correction: isCorrection ? { id: withdrawalId, from: before.status, to: payout.status } : null,
  };
}

/** Merges the records of a payout and its request: a subscription to either id continues. */
function writesOfIdentified(known: MirroredRow, payout: Payout, doubted: MirroredRow): Writes {
  const before = payoutIn(doubted);
  const made = identified(payout, before);
  const { records = [], events = [] } = writesOf({ ...known, version: made.version, snapshot: made }, made, [
    ...eventsOf(made, before),
  ]);
  const pointer: MirroredRow = {
    ...doubted,
    version: made.version,
    status: made.status,
    final: true,
    snapshot: made,
  };
  return { records: [...records, ...(writesOfMirrored({ ...pointer, event: null }).records ?? [])], events };
}

function writesOf(record: MirroredRow, payout: Payout, events: Events): Writes {
  const names = [record.id, ...(payout.code === null ? [] : [payout.code])];
  return { ...writesOfMirrored({ ...record, names, event: null }), events };
}

/** The event of a payout, and a second one under the id of the request that has made it. */
function eventsOf(payout: Payout, before: Payout | null): Events {
  const { withdrawalId, requestId } = payout;
  const ids = [withdrawalId!, ...(requestId === undefined ? [] : [requestId])];
  return ids.map((id) => eventOf(id, payout, before));
}

function eventOf(resourceId: string, payout: Payout, before: Payout | null): Events[number] {
  return {
    kind: `payout.${payout.status}`,
    resource: 'payout',
    resourceId,
    previousStatus: before?.status ?? null,
    snapshot: payout,
  };
}

/** Merges a page item by item, because it may contain a payout twice. */
function mergeAll(
  page: readonly (UpstreamPayout | null)[],
  findKnown: (id: string) => MirroredRow | null,
  { at, now }: { at: Date; now: Date },
): { payouts: (Payout | null)[]; writes: Writes[]; corrections: Correction[] } {
  const current = new Map<string, MirroredRow>();
  const writes: Writes[] = [];
  const corrections: Correction[] = [];
  for (const upstream of page) {
    if (!upstream) continue;
    const known = current.get(upstream.withdrawalId) ?? findKnown(upstream.withdrawalId);
    const merged = merge(known, upstream, { by: 'service', at, holdsAt: at, now });
    if (merged) writes.push(merged.writes);
    if (merged?.correction) corrections.push({ resource: 'payout', ...merged.correction });
    const record = merged?.record ?? known;
    if (record) current.set(upstream.withdrawalId, record);
  }
  const payouts = page.map((upstream) => {
    const record = upstream && current.get(upstream.withdrawalId);
    return record ? payoutIn(record) : null;
  });
  return { payouts, writes, corrections };
}

export function payoutIn({ snapshot }: MirroredRow): Payout {
  return payoutFromJson(snapshot);
}
