import { createHash } from 'node:crypto';
import { isObjectId } from '../../../kernel/lenient-json.ts';
import { askedOf } from '../../../kernel/list-filter.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamSource } from '../../../kernel/upstream-source.ts';
import type { State, Writes } from '../../../state/commit/commit.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import {
  type Correction,
  knownByReferences,
  mirrored,
  type Observation,
  readByReferences,
  writesOfMirrored,
} from '../../../upstream/mirror.ts';
import type { RangeFilter } from '../../../upstream/mirror-lists.ts';
import {
  knownSince,
  type MirroredRow,
  selectMirrored,
  selectReferences,
  touchMirrored,
} from '../../../upstream/mirror-store.ts';
import {
  isFinal,
  isSettled,
  type SubaccountPayout,
  type SubaccountPayoutFilter,
  subaccountPayoutConditions,
  subaccountPayoutFromJson,
} from '../model.ts';
import { anyPayoutReference, anySubaccountId, newPayoutKey, normalizeReference } from '../names.ts';
import { eventOf, mergeUpstreamPayout, type UpstreamPayout } from '../upstream-payout.ts';

/** The mirrored payouts of subaccounts, by every name that the service has for them. */
export interface MirroredPayouts {
  /** Finds a payout by our own id, or by a name that is unique without its subaccount. */
  find(tenant: Tenant, reference: string): Promise<MirroredRow | null>;
  /** Finds the payout of this subaccount with this reference. */
  findOf(tenant: Tenant, subaccountId: string, reference: string): Promise<MirroredRow | null>;
  /** Reads a payout by our own id. @throws Error if it is missing */
  get(tenant: Tenant, id: string): Promise<SubaccountPayout>;
  /** Records a payout as the service showed it, and returns it merged; without the lock if nothing is new. */
  record(
    tenant: Tenant,
    upstream: UpstreamPayout,
    as: { reference: string; at: Date },
  ): Promise<SubaccountPayout>;
}

export const RESOURCE = 'subaccount_payout';

export function mirrorPayouts({
  database: { sql },
  committer,
  clock,
  onCorrection,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'clock' | 'onCorrection'>): MirroredPayouts {
  async function selectNamed(tenant: Tenant, name: string): Promise<MirroredRow | null> {
    const [reference] = await selectReferences(sql, tenant, RESOURCE, [name]);
    if (!reference) return null;
    return (await selectMirrored(sql, tenant, RESOURCE, [reference.id]))[0] ?? null;
  }

  async function get(tenant: Tenant, id: string): Promise<SubaccountPayout> {
    const [found] = await selectMirrored(sql, tenant, RESOURCE, [id]);
    if (!found) throw new Error(`subaccount payout ${id} is not in the mirror`);
    return payoutIn(found);
  }

  return {
    async find(tenant, reference) {
      const [own] = await selectMirrored(sql, tenant, RESOURCE, [reference]);
      return own ?? selectNamed(tenant, normalizeReference(reference));
    },
    async findOf(tenant, subaccountId, reference) {
      const found = await selectNamed(tenant, nameOf(subaccountId, reference));
      return found && isSameId(payoutIn(found).subaccountId, subaccountId) ? found : null;
    },
    get,
    async record(tenant, upstream, { reference, at }) {
      const names = namesOf(upstream, reference);
      const found = await selectReferences(sql, tenant, RESOURCE, names);
      const ids = [...new Set(found.map(({ id }) => id))];
      const isWhole = found.length === names.length && ids.length === 1;
      const [known] = isWhole ? await selectMirrored(sql, tenant, RESOURCE, ids) : [];
      if (known) {
        const payout = payoutIn(known);
        const now = clock.now();
        const source: UpstreamSource = { by: 'service', at, knownAt: knownSince(known, now) };
        if (mergeUpstreamPayout(payout, upstream, payout.id, source) === null) {
          if (isConfirmation(upstream, payout))
            await touchMirrored(sql, tenant, RESOURCE, { ids: idsOf(payout), at, now });
          return payout;
        }
      }
      const observation = observationOf(upstream, { reference, at });
      const { id, correction } = await committer.change<{ id: string; correction: Correction | null }>({
        tenant,
        read: observation.read,
        decide(state) {
          const { resourceId, writes, correction = null } = observation.decide(state);
          return { outcome: { id: resourceId, correction }, writes };
        },
      });
      if (correction) onCorrection(correction);
      return get(tenant, id);
    },
  };
}

export function payoutIn({ snapshot }: MirroredRow): SubaccountPayout {
  return subaccountPayoutFromJson(snapshot);
}

export const IDEM = 'saq_idem_';

export function isSubaccountId(id: string): boolean {
  return anySubaccountId.safeParse(id).success;
}

/** Whether a text can be a reference at all; the service is not asked for any other. */
export function canBeReference(text: string): boolean {
  return anyPayoutReference.safeParse(text).success;
}

/** Whether two ids are the same but for the case of their letters. */
export function isSameId(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

/**
 * The id of a payout with an idempotency key. It is derived from the key, so it is known before the payout
 * is, and the same on every instance, whichever name is seen first. Null for a payout without a key.
 */
export function reservedId(subaccountId: string, payoutId: string | null): string | null {
  if (!payoutId?.startsWith(IDEM)) return null;
  const digest = createHash('sha256').update(nameOf(subaccountId, payoutId)).digest('hex');
  return `sqp_${digest.slice(0, 32)}`;
}

function namesOf(upstream: UpstreamPayout, reference: string | null): string[] {
  const all = [
    upstream.withdrawalId,
    upstream.code,
    upstream.formerCode ?? null,
    upstream.payoutId,
    reference,
  ];
  return [...new Set(all.flatMap((name) => (name === null ? [] : [nameOf(upstream.subaccountId, name)])))];
}

/**
 * The name of a payout in the mirror. A name that contains a key is prefixed with its subaccount's id,
 * because the document does not say that a key is used for one subaccount only.
 */
function nameOf(subaccountId: string, reference: string): string {
  return isUnique(reference) ? normalizeReference(reference) : `${subaccountId.toLowerCase()}/${reference}`;
}

/** Whether a name is unique without its subaccount. */
function isUnique(reference: string): boolean {
  return isObjectId(reference) || /^(?:TURBO|SUB)-/.test(reference);
}

/** The filter of one subaccount's payouts. */
export function filterOf(subaccountId: string, status?: readonly string[]) {
  return { parent: subaccountId.toLowerCase(), status };
}

/** The filter of one subaccount's payouts by more than their status. */
export function rangeFilterOf(subaccountId: string, filter: SubaccountPayoutFilter): RangeFilter {
  const { reference } = filter;
  const referenceName = reference === undefined ? undefined : nameOf(subaccountId, reference);
  const { details, ...range } = rangeFilterOfAll(filter);
  return { ...range, parent: [subaccountId.toLowerCase()], details: { ...details, referenceName } };
}

/** The filter of the payouts of all subaccounts. */
export function rangeFilterOfAll({ status, ...details }: SubaccountPayoutFilter): RangeFilter {
  return { status, period: {}, details: { asked: askedOf(subaccountPayoutConditions, details) } };
}

/**
 * The observation of a payout that the service showed at `at`, in an answer or an event. `reference`: the
 * name of its lookup.
 */
export function observationOf(
  shown: UpstreamPayout,
  {
    reference,
    at,
    by = 'service',
    madeBy,
  }: {
    reference: string | null;
    at: Date;
    by?: UpstreamSource['by'];
    /** The reference of the request that has made the payout, if this is the answer to it. */
    madeBy?: string;
  },
): Observation {
  // A reference in the form of a refId finds only the payout with this refId.
  const upstream =
    shown.payoutId === null && reference !== null && reference.startsWith('saq_')
      ? { ...shown, payoutId: reference }
      : shown;
  const names = namesOf(upstream, reference);
  const id = reservedId(upstream.subaccountId, upstream.payoutId) ?? newPayoutKey();
  return {
    read: (reader) =>
      Promise.all([readByReferences(reader, RESOURCE, names), reader.load(mirrored[RESOURCE], id)]),
    decide(state) {
      const before = knownByReferences(state, RESOURCE, names) ?? state.get(mirrored[RESOURCE], id);
      const knownAt = knownSince(before, state.now);
      const named = before && payoutIn(before);
      const isOthers = madeBy !== undefined && [upstream, named].some((each) => isMadeByOther(each, madeBy));
      if (isOthers) return { resourceId: id, writes: {}, isOthers };
      const request = named && requestBeside(state, names, named);
      const known = request ? identified(named, payoutIn(request)) : named;
      const merged = mergeUpstreamPayout(known, upstream, id, { by, at, knownAt });
      const payout = merged ?? known!;
      const isNew = known === null || request !== null || payout.version > known.version;
      const isCorrection =
        known !== null && isFinal(known) && !known.neverMade && known.status !== payout.status;
      const isOlder = before !== null && ((knownAt && knownAt > at) || !isConfirmation(upstream, payout));
      const observedAt = isOlder ? before.observedAt : at;
      const event = isNew ? { before: request ? payoutIn(request) : known } : null;
      // Names from an earlier webhook, which this answer lacks, find the payout too.
      const allNames = request ? [...new Set([...namesOf(named!, null), ...names])] : names;
      return {
        resourceId: payout.id,
        writes: writesOf(payout, { names: allNames, observedAt, event }),
        contradicts: known !== null && merged === null && !isConfirmation(upstream, known),
        ...(isCorrection && {
          correction: { resource: RESOURCE, id: payout.id, from: known.status, to: payout.status },
        }),
      };
    },
  };
}

/** Whether a payout has the reference of another request. */
function isMadeByOther(payout: Pick<UpstreamPayout, 'payoutId'> | null, reference: string): boolean {
  const payoutId = payout?.payoutId ?? null;
  return payoutId !== reference && (payoutId?.startsWith(IDEM) ?? false);
}

/**
 * The record of the request that has made a payout, if an event has shown the payout before the request was
 * looked up: then both have a record. Null if there is none.
 */
function requestBeside(state: State, names: readonly string[], named: SubaccountPayout): MirroredRow | null {
  if (hasReservedId(named)) return null;
  const rows = names.flatMap((name) => knownByReferences(state, RESOURCE, [name]) ?? []);
  return rows.find((row) => isOfRequestAlone(payoutIn(row))) ?? null;
}

/** Whether a record belongs to a request only, because the service has not named the payout yet. */
function isOfRequestAlone(payout: SubaccountPayout): boolean {
  const { inDoubt, neverMade, status, withdrawalId, code } = payout;
  const isUnnamed = status === 'processing' && withdrawalId === null && code === null;
  return hasReservedId(payout) && (inDoubt === true || neverMade === true || isUnnamed);
}

function hasReservedId({ id, subaccountId, payoutId }: SubaccountPayout): boolean {
  return id === reservedId(subaccountId, payoutId);
}

/** The payout that a request has made, under the request's id. */
function identified(payout: SubaccountPayout, request: SubaccountPayout): SubaccountPayout {
  // If another system has used the request's key, the payout is not the requested one.
  const isRequested = payout.amountCents === request.amountCents;
  return {
    ...payout,
    id: request.id,
    formerId: payout.id,
    version: Math.max(payout.version, request.version) + 1,
    payoutId: request.payoutId,
    pixKey: payout.pixKey ?? request.pixKey,
    destinationKind: payout.destinationKind ?? (isRequested ? request.destinationKind : null),
    externalId: payout.externalId ?? (isRequested ? request.externalId : null),
  };
}

/** The ids under which a payout is recorded. */
function idsOf({ id, formerId }: SubaccountPayout): string[] {
  return formerId === undefined ? [id] : [id, formerId];
}

/** The observation that the outcome of a payout's request is unknown. `again`: subscribers are notified once more. */
export function inDoubtOf(request: SubaccountPayout, at: Date, again: boolean): Observation {
  return conclusion(request, at, (known) => {
    // A payout that the service has shown, or that was never made, stays so.
    if (known && (!known.inDoubt || !again)) return null;
    return { ...request, version: (known?.version ?? 0) + 1 };
  });
}

/** The observation that the service never made a payout. `ifShown`: only where the payout was shown in doubt. */
export function neverMadeOf(
  request: SubaccountPayout,
  at: Date,
  { ifShown }: { ifShown: boolean },
): Observation {
  return conclusion(request, at, (known) => {
    if (known ? !known.inDoubt : ifShown) return null;
    const { inDoubt: _, ...rest } = known ?? request;
    return {
      ...rest,
      neverMade: true,
      version: rest.version + 1,
      status: 'failed',
      reversed: true,
      reversedAt: at,
      failureReason: 'O pedido de saque não chegou ao serviço de pagamentos',
    };
  });
}

/** The observation of a state that this server concludes itself; `decide` returns null if nothing is new. */
function conclusion(
  { id, subaccountId, payoutId }: SubaccountPayout,
  at: Date,
  decide: (known: SubaccountPayout | null) => SubaccountPayout | null,
): Observation {
  const names = [nameOf(subaccountId, payoutId!)];
  return {
    read: (reader) =>
      Promise.all([readByReferences(reader, RESOURCE, names), reader.load(mirrored[RESOURCE], id)]),
    decide(state) {
      const before = knownByReferences(state, RESOURCE, names) ?? state.get(mirrored[RESOURCE], id);
      const known = before && payoutIn(before);
      const payout = decide(known);
      if (!payout) return { resourceId: known?.id ?? id, writes: {} };
      const writes = writesOf(payout, { names, observedAt: at, event: { before: known } });
      return { resourceId: payout.id, writes };
    },
  };
}

/** The writes of a payout under each of its ids. Lists and names refer to the first id alone. */
function writesOf(
  payout: SubaccountPayout,
  {
    names,
    observedAt,
    event,
  }: { names: readonly string[]; observedAt: Date; event: { before: SubaccountPayout | null } | null },
): Writes {
  const each = idsOf(payout).map((resourceId, index) =>
    writesOfMirrored({
      resource: RESOURCE,
      id: resourceId,
      version: payout.version,
      status: payout.status,
      final: isSettled(payout),
      parent: index === 0 ? payout.subaccountId.toLowerCase() : null,
      snapshot: payout,
      observedAt,
      names: index === 0 ? names : [],
      formerId: payout.formerId,
      event: event && {
        kind: `subaccount_payout.${eventOf(payout)}`,
        resource: RESOURCE,
        resourceId,
        previousStatus: event.before?.status ?? null,
        snapshot: payout,
      },
    }),
  );
  return {
    records: each.flatMap(({ records = [] }) => records),
    events: each.flatMap(({ events = [] }) => events),
  };
}

/** Whether a description confirms the known state; an older one does not. */
function isConfirmation(upstream: UpstreamPayout, known: UpstreamPayout): boolean {
  const reversed = upstream.status === 'failed' && upstream.reversed;
  return known.status === 'unknown' || (upstream.status === known.status && reversed === known.reversed);
}

/** The observation of an event that gives nothing of a payout but its code: it writes nothing. */
export function codeOnly(code: string): Observation {
  const names = [normalizeReference(code)];
  return {
    read: (reader) => readByReferences(reader, RESOURCE, names),
    decide: (state) => ({ resourceId: knownByReferences(state, RESOURCE, names)?.id ?? code, writes: {} }),
  };
}
