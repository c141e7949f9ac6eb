import type { Tenant } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import { eventAt, lastStatusOf, type Merged, type UpstreamSource } from '../kernel/upstream-source.ts';
import { type Collection, joined, type Reader, type State, type Writes } from '../state/commit/commit.ts';
import type { NewEvent } from '../state/events/event.ts';
import { orderOf, readOrder, showOrder } from './closed-orders.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import {
  type Correction,
  type Made,
  mirrored,
  type Observation,
  recordsOfMirrored,
  references,
} from './mirror.ts';
import { isNewer, knownSince, type MirroredRow, selectMirrored } from './mirror-store.ts';
import { mirroredIn } from './mirror-writer.ts';
import type { Decided, Observed } from './shown-batch.ts';

/**
 * The resources of one family in the mirror: their names and rules. `R`: a resource. `C`: the service's
 * description of one.
 */
export interface Family<R extends { version: number; status: string }, C extends { status: string | null }> {
  resource: MirroredResource;
  idOf(claim: C): string;
  /** Merges a claim of a source into the known state; null if nothing changes. */
  merge(known: R | null, claim: C, now: Date, source: UpstreamSource): Merged<R> | null;
  /**
   * Whether an answer that is older than the known state is merged too. By default it has nothing new, since
   * that state contains it.
   */
  mergesOlder?: true;
  /**
   * Whether a claim confirms a known state, whose status is `status`. By default one with the same status
   * does, and any with a status confirms an unknown one.
   */
  confirmsStatus?(claim: C, status: string, known: R): boolean;
  isFinal(status: R['status'], resource: R): boolean;
  /** Whether a known status is an end, which `to` cannot follow. By default it is one if it is final. */
  isEnd?(status: R['status'], to: R['status'], known: R): boolean;
  /** The claim that a resource is open, which an answer that there is no such resource contradicts. */
  openClaimOf?(id: string): C;
  /**
   * The instant for which the webhook of a resource that was not known before holds, by its own dates. Such a
   * webhook does not make a state newer. By default a webhook holds for the time of its arrival.
   */
  datedAt?(claim: C): Date | null;
  fromJson(snapshot: unknown): R;
  /** The members by which lists filter. */
  listedBy(resource: R): Pick<MirroredRow, 'parent' | 'createdAt'>;
  /** The names of a resource in the mirror, besides its id. By default it has none. */
  namesOf?(resource: R): readonly string[];
  /** The update of a resource under one of its ids. */
  eventOf(resource: R, from: R['status'] | null, id: string): NewEvent;
  /** The further ids of a resource, under which its updates are sent too. By default it has none. */
  otherIdsOf?(resource: R): readonly string[];
}

/** The mirror of one family. */
export interface FamilyMirror<C> {
  find(tenant: Tenant, id: string): Promise<MirroredRow | null>;
  /**
   * Records a claim of the service, and returns the state that is kept. Null if the resource is unknown and
   * the claim shows too little of it.
   */
  record(tenant: Tenant, known: MirroredRow | null, claim: C, at: Date): Promise<MirroredRow | null>;
  /**
   * Merges a claim for a query that decides nothing. It returns the merged state, which is written behind it:
   * see `MirrorWriter`. A claim that concerns more than its own resource is recorded first.
   */
  show(tenant: Tenant, known: MirroredRow | null, claim: C, at: Date): Promise<MirroredRow | null>;
  /**
   * Records the claims of a page of the service's list, in one transaction, or in none if nothing is new. New
   * resources are numbered in the order of the claims. Returns the known states by their ids. `isShown`: as
   * `show`.
   */
  recordPage(
    tenant: Tenant,
    claims: readonly C[],
    at: Date,
    options?: { isShown?: boolean },
  ): Promise<Map<string, MirroredRow>>;
}

export function createFamilyMirror<
  R extends { version: number; status: string },
  C extends { status: string | null },
>(
  {
    database: { sql },
    mirrorWriter,
    clock,
  }: Pick<UpstreamDependencies, 'database' | 'mirrorWriter' | 'clock'>,
  family: Family<R, C>,
  { read, decide }: Pick<Observations<C>, 'read' | 'decide'> = observationsOf(family),
): FamilyMirror<C> {
  const { resource, mergesOlder = false, confirmsStatus = isSameStatus, otherIdsOf = () => [] } = family;

  /** The news in a claim. An older claim confirms nothing, and one of the same instant nothing more. */
  function newsIn(known: MirroredRow | null, claim: C, at: Date): 'change' | 'confirmation' | 'none' {
    if (!known) return 'change';
    const now = clock.now();
    // A claim of the same millisecond may be newer: its content decides.
    const isOlder = isNewer(known, at, now);
    if (isOlder && !mergesOlder) return 'none';
    const state = family.fromJson(known.snapshot);
    if (family.merge(state, claim, at, sourceOf(known, at, now))) return 'change';
    const isLater = !isOlder && known.observedAt.getTime() !== at.getTime();
    return isLater && confirmsStatus(claim, known.status, state) ? 'confirmation' : 'none';
  }

  /** `ofNew`: the decision of a claim about a resource that was not known, which stands while it is not. */
  const observed = (claim: C, at: Date, ofNew: Decided | null = null): Observed => ({
    read: (reader) => read(reader, claim),
    decide(state) {
      if (ofNew && !state.get(mirrored[resource], family.idOf(claim))) return ofNew;
      const before = mergesOlder ? null : state.get(mirrored[resource], family.idOf(claim));
      // While the answer was on its way, a webhook or another request has shown a newer state.
      if (before && isNewer(before, at, state.now)) return { record: before, writes: {}, correction: null };
      return decide(state, claim, at);
    },
  });

  /**
   * Decides a claim against a known state alone; null if that does not suffice. `isNamed`: the state was found
   * by all names of the claim.
   */
  function decideAlone(
    known: MirroredRow | null,
    claim: C,
    { at, isNamed }: { at: Date; isNamed: boolean },
  ): Decided | null {
    const state: Pick<State, 'get' | 'now'> = {
      now: clock.now(),
      get<Row>(collection: Collection<Row>, key: string): Row | null {
        const read = collection as Collection<unknown>;
        const isOwn = key === (known?.id ?? family.idOf(claim));
        if (read === (mirrored[resource] as Collection<unknown>) && isOwn) return known as Row | null;
        if (read === (references[resource] as Collection<unknown>) && known && isNamed)
          return { resource, reference: key, id: known.id } as Row;
        throw new ConcernsMore();
      },
    };
    const need: State['need'] = (collection, key) => state.get(collection, key)!;
    try {
      return decide({ ...state, need } as State, claim, at);
    } catch (error) {
      if (error instanceof ConcernsMore) return null;
      throw error;
    }
  }

  /** Takes the time at which the service has shown a known state again. */
  function confirm(tenant: Tenant, known: MirroredRow, at: Date): MirroredRow {
    const row = { ...known, observedAt: at };
    const ids = [known.id, ...otherIdsOf(family.fromJson(known.snapshot))];
    mirrorWriter.confirm(tenant, row, ids);
    return row;
  }

  async function record(tenant: Tenant, known: MirroredRow | null, claim: C, at: Date) {
    const news = newsIn(known, claim, at);
    if (news === 'change') return (await mirrorWriter.keep(tenant, [observed(claim, at)]))[0]!;
    return news === 'none' ? known : confirm(tenant, known!, at);
  }

  async function show(tenant: Tenant, known: MirroredRow | null, claim: C, at: Date) {
    const id = known?.id ?? family.idOf(claim);
    const newest = mirrorWriter.newest(tenant, { resource, id }, known);
    const news = newsIn(newest, claim, at);
    if (news === 'none') return newest;
    if (news === 'confirmation') return confirm(tenant, newest!, at);
    const decided = decideAlone(newest, claim, { at, isNamed: known !== null });
    if (!decided) return record(tenant, known, claim, at);
    // A claim that shows too little of a new resource makes none.
    if (!decided.record) return null;
    return (
      mirrorWriter.show(tenant, observed(claim, at, newest ? null : decided), mirroredIn(decided.writes)) ??
      decided.record
    );
  }

  return {
    async find(tenant, id) {
      return (await selectMirrored(sql, tenant, resource, [id]))[0] ?? null;
    },

    record,

    show,

    async recordPage(tenant, claims, at, { isShown = false } = {}) {
      const ids = claims.map(family.idOf);
      const byId = (rows: readonly (MirroredRow | null)[]) =>
        new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : [])));
      if (isShown)
        return mirrorWriter.holding(tenant, { resource, ids }, async (rows) => {
          const known = byId(rows);
          const shown = claims.map((claim) => show(tenant, known.get(family.idOf(claim)) ?? null, claim, at));
          return byId([...rows, ...(await Promise.all(shown))]);
        });
      const rows = await selectMirrored(sql, tenant, resource, ids);
      const known = byId(rows);
      const news = claims.map((claim) => newsIn(known.get(family.idOf(claim)) ?? null, claim, at));
      const changing = claims.filter((_, index) => news[index] === 'change');
      const changed = await mirrorWriter.keep(
        tenant,
        changing.map((claim) => observed(claim, at)),
      );
      claims.forEach((claim, index) => {
        if (news[index] === 'confirmation') confirm(tenant, known.get(family.idOf(claim))!, at);
      });
      return byId([...rows, ...changed]);
    },
  };
}

/** Thrown by a decision that reads more than the resource of its claim. */
class ConcernsMore extends Error {}

/** Whether a resource that is known has the amount of a claim. */
function isSameAmount({ snapshot }: MirroredRow, claim: object): boolean {
  const [known, shown] = [snapshot, claim].map(
    (each) => (each as { amountCents?: number | null }).amountCents,
  );
  return known == null || shown == null || known === shown;
}

/**
 * The source of an answer of the service at `at`, with the time at which the service last confirmed the known
 * state.
 */
export function sourceOf(known: MirroredRow | null, at: Date, now: Date): UpstreamSource {
  return { by: 'service', at, knownAt: knownSince(known, now) };
}

/** The observations of a family. `at` is the time of an answer of the service; null for a webhook. */
export interface Observations<C> {
  read(reader: Reader, claim: C): Promise<unknown>;
  decide(state: State, claim: C, at: Date | null): Decided;
  /** `made`: the claim is the answer to a creation. */
  observationOf(claim: C, at: Date | null, made?: Made): Observation;
}

export function observationsOf<
  R extends { version: number; status: string },
  C extends { status: string | null },
>(family: Family<R, C>): Observations<C> {
  const { resource, idOf, merge, fromJson, datedAt } = family;
  const { rowOf, observedAfter, correctionOf, contradicts, writesOf } = rowsOf(family);

  async function read(reader: Reader, claim: C): Promise<void> {
    const row = await reader.load(mirrored[resource], idOf(claim));
    const order = orderOf(row) ?? orderOf({ resource, snapshot: claim });
    if (order !== null) await readOrder(reader, order);
  }

  /** The instant for which a webhook holds. */
  function heldAt(before: MirroredRow | null, claim: C, now: Date): Date {
    if (!datedAt) return now;
    const at = before?.observedAt ?? datedAt(claim) ?? now;
    return at < now ? at : now;
  }

  function decide(state: State, claim: C, answeredAt: Date | null): Decided {
    const id = idOf(claim);
    const before = state.get(mirrored[resource], id);
    const known = before && fromJson(before.snapshot);
    const at = answeredAt ?? heldAt(before, claim, state.now);
    const source = answeredAt ? sourceOf(before, answeredAt, state.now) : eventAt(state.now);
    const merged = merge(known, claim, state.now, source);
    if (!merged) return { record: before, writes: {}, correction: null };
    const { shown, isMarked, writes } = showOrder(state, merged.resource, { resource, id });
    // Each change that subscribers get has a version of its own.
    const isBehind = isMarked && before?.version === shown.version;
    const now = isBehind ? { ...shown, version: shown.version + 1 } : shown;
    const record = rowOf(id, now, observedAfter(before, claim, now, { at, now: state.now }));
    const changed = merged.changed ?? (isMarked ? { from: known?.status ?? null } : null);
    const own = writesOf(record, now, changed);
    return {
      record,
      writes: writes === null ? own : joined(own, writes),
      correction: correctionOf(known, now, id),
    };
  }

  return {
    read,
    decide,
    observationOf: (claim, at, made) => ({
      resourceId: idOf(claim),
      read: (reader) => read(reader, claim),
      decide(state) {
        const before = state.get(mirrored[resource], idOf(claim));
        const isOthers =
          before !== null && (made === 'now' || (made === 'once' && !isSameAmount(before, claim)));
        if (isOthers) return { resourceId: idOf(claim), writes: {}, isOthers };
        const { record, writes, correction } = decide(state, claim, at);
        return {
          resourceId: idOf(claim),
          writes,
          contradicts: contradicts(claim, record),
          ...(correction && { correction }),
        };
      },
    }),
  };
}

/** The rows of a family in the mirror, and what is written with them. */
export function rowsOf<R extends { version: number; status: string }, C extends { status: string | null }>({
  resource: kind,
  confirmsStatus = isSameStatus,
  isFinal,
  isEnd = (status, _, known) => isFinal(status, known),
  fromJson,
  listedBy,
  namesOf = () => [],
  eventOf,
  otherIdsOf = () => [],
}: Family<R, C>) {
  return {
    rowOf: (id: string, resource: R, observedAt: Date): MirroredRow => ({
      resource: kind,
      id,
      version: resource.version,
      status: resource.status,
      final: isFinal(resource.status, resource),
      snapshot: resource,
      observedAt,
      ...listedBy(resource),
    }),

    /** The time at which the service last showed a state, after a claim that holds for `at`. */
    observedAfter: (
      before: MirroredRow | null,
      claim: C,
      resource: R,
      { at, now }: { at: Date; now: Date },
    ) =>
      before && (isNewer(before, at, now) || !confirmsStatus(claim, resource.status, resource))
        ? before.observedAt
        : at,

    /** The correction of a known end; null if there is none. */
    correctionOf(known: R | null, { status: to }: R, id: string): Correction | null {
      const from = known && lastStatusOf<R['status']>(known);
      const isCorrection = known !== null && from !== null && from !== to && isEnd(from, to, known);
      return isCorrection ? { resource: kind, id, from, to } : null;
    },

    /** Whether a claim has another state than the known one. */
    contradicts: (claim: C, row: MirroredRow | null) =>
      claim.status !== null && row !== null && !confirmsStatus(claim, row.status, fromJson(row.snapshot)),

    /** The writes of a row and its names. `changed` is null if subscribers get no update. */
    writesOf(row: MirroredRow, resource: R, changed: Merged<R>['changed']): Writes {
      return {
        records: recordsOfMirrored(row, namesOf(resource)),
        events: changed
          ? [row.id, ...otherIdsOf(resource)].map((id) => eventOf(resource, changed.from, id))
          : [],
      };
    },
  };
}

function isSameStatus({ status: claimed }: { status: string | null }, status: string): boolean {
  return claimed !== null && (claimed === status || status === 'unknown');
}
