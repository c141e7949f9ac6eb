import { createHash } from 'node:crypto';
import { isObjectId } from '../../../kernel/lenient-json.ts';
import { askedOf } from '../../../kernel/list-filter.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { eventAt } from '../../../kernel/upstream-source.ts';
import { joined, type Reader, type State, type Writes } from '../../../state/commit/commit.ts';
import { conclusionsOf } from '../../../upstream/conclusions.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createFamilyMirror, type Family, rowsOf, sourceOf } from '../../../upstream/family-mirror.ts';
import {
  knownAs,
  knownByReferences,
  type Observation,
  readByReferences,
  readNamed,
  writesOfMirrored,
} from '../../../upstream/mirror.ts';
import type { RangeFilter } from '../../../upstream/mirror-lists.ts';
import { type MirroredRow, selectMirrored, selectReferences } from '../../../upstream/mirror-store.ts';
import type { Decided } from '../../../upstream/shown-batch.ts';
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
  /**
   * Records a payout as the service showed it, and returns it merged; without the lock if nothing is new.
   * `isShown`: a query shows it and decides nothing, so it may be written later.
   */
  record(
    tenant: Tenant,
    upstream: UpstreamPayout,
    as: { reference: string; at: Date; isShown: boolean },
  ): Promise<SubaccountPayout>;
}

export const RESOURCE = 'subaccount_payout';

export function mirrorPayouts(
  dependencies: Pick<UpstreamDependencies, 'database' | 'mirrorWriter' | 'clock'>,
): MirroredPayouts {
  const { sql } = dependencies.database;
  const family = createFamilyMirror(dependencies, payoutFamily, { read, decide });

  /** Finds the payout that has all of these names; null if one of them is not known, or is another's. */
  async function selectNamed(tenant: Tenant, names: readonly string[]): Promise<MirroredRow | null> {
    const found = await selectReferences(sql, tenant, RESOURCE, names);
    const [id, ...others] = new Set(found.map((reference) => reference.id));
    if (id === undefined || others.length > 0 || found.length < names.length) return null;
    return (await selectMirrored(sql, tenant, RESOURCE, [id]))[0] ?? null;
  }

  return {
    async find(tenant, reference) {
      const [own] = await selectMirrored(sql, tenant, RESOURCE, [reference]);
      return own ?? selectNamed(tenant, [normalizeReference(reference)]);
    },
    async findOf(tenant, subaccountId, reference) {
      const found = await selectNamed(tenant, [nameOf(subaccountId, reference)]);
      return found && isSameId(payoutIn(found).subaccountId, subaccountId) ? found : null;
    },
    async get(tenant, id) {
      const [found] = await selectMirrored(sql, tenant, RESOURCE, [id]);
      if (!found) throw new Error(`subaccount payout ${id} is not in the mirror`);
      return payoutIn(found);
    },
    async record(tenant, upstream, { reference, at, isShown }) {
      const claim = claimOf(upstream, { reference });
      const known = await selectNamed(tenant, claim.names);
      const merge = isShown ? family.show : family.record;
      return payoutIn((await merge(tenant, known, claim, at))!);
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

/** A filter of the mirrored payouts, of one subaccount or of all. */
export type ListedPayouts = SubaccountPayoutFilter & { subaccountId?: string };

export function rangeOf({ subaccountId, status, ...details }: ListedPayouts): RangeFilter {
  const { reference } = details;
  const isNamed = subaccountId !== undefined && reference !== undefined;
  return {
    ...(subaccountId !== undefined && { parent: [subaccountId.toLowerCase()] }),
    status,
    period: {},
    details: {
      asked: askedOf(subaccountPayoutConditions, details),
      ...(isNamed && { referenceName: nameOf(subaccountId, reference) }),
    },
  };
}

// ── Observations ────────────────────────────────────────────────────────────────────────────────

/** A payout as the service shows it, with the names by which the mirror may know it. */
interface Claim {
  /** The id of a payout that is not known by a name. */
  id: string;
  names: readonly string[];
  status: UpstreamPayout['status'];
  payout: UpstreamPayout;
  /** The reference of the request that has made the payout, if this is the answer to it. */
  madeBy?: string | undefined;
}

function claimOf(
  shown: UpstreamPayout,
  { reference, madeBy }: { reference: string | null; madeBy?: string | undefined },
): Claim {
  // A reference in the form of a refId finds only the payout with this refId.
  const payout =
    shown.payoutId === null && reference !== null && reference.startsWith('saq_')
      ? { ...shown, payoutId: reference }
      : shown;
  const id = reservedId(payout.subaccountId, payout.payoutId) ?? newPayoutKey();
  return { id, names: namesOf(payout, reference), status: payout.status, payout, madeBy };
}

const payoutFamily: Family<SubaccountPayout, Claim> = {
  resource: RESOURCE,
  idOf: ({ id }) => id,
  merge(known, { id, payout: upstream }, _, source) {
    const payout = mergeUpstreamPayout(known, upstream, id, source);
    return payout && { resource: payout, changed: { from: known?.status ?? null } };
  },
  mergesOlder: true,
  confirmsStatus: ({ payout: upstream }, _, known) => isConfirmation(upstream, known),
  isFinal: (_, payout) => isSettled(payout),
  isEnd: (_, __, known) => isFinal(known) && !known.neverMade,
  fromJson: subaccountPayoutFromJson,
  listedBy: ({ subaccountId }) => ({ parent: subaccountId.toLowerCase() }),
  eventOf: (payout, from, resourceId) => ({
    kind: `subaccount_payout.${eventOf(payout)}`,
    resource: RESOURCE,
    resourceId,
    previousStatus: from,
    snapshot: payout,
  }),
  otherIdsOf: ({ formerId }) => (formerId === undefined ? [] : [formerId]),
};

const { rowOf, observedAfter, correctionOf, contradicts } = rowsOf(payoutFamily);

function read(reader: Reader, claim: Claim): Promise<unknown> {
  return readNamed(reader, RESOURCE, claim);
}

function decide(state: State, claim: Claim, answeredAt: Date | null): Decided {
  const { names } = claim;
  const at = answeredAt ?? state.now;
  const before = knownAs(state, RESOURCE, claim);
  const named = before && payoutIn(before);
  const request = named && requestBeside(state, names, named);
  const known = request ? identified(named, request) : named;
  const source = answeredAt ? sourceOf(before, answeredAt, state.now) : eventAt(state.now);
  const merged = payoutFamily.merge(known, claim, state.now, source);
  const payout = merged?.resource ?? known!;
  const changed = request ? { from: request.status } : (merged?.changed ?? null);
  const observedAt = observedAfter(before, claim, payout, { at, now: state.now });
  // Names from an earlier webhook, which this answer lacks, find the payout too.
  const allNames = request ? [...new Set([...namesOf(named!, null), ...names])] : names;
  return {
    record: rowOf(payout.id, payout, observedAt),
    writes: writesOf(payout, { names: allNames, observedAt, changed }),
    correction: correctionOf(known, payout, payout.id),
  };
}

/**
 * The observation of a payout that the service showed at `at`, or in a webhook if that is null. `reference`:
 * the name of its lookup.
 */
export function observationOf(
  shown: UpstreamPayout,
  { at, ...as }: { reference: string | null; at: Date | null; madeBy?: string },
): Observation {
  const claim = claimOf(shown, as);
  return {
    read: (reader) => read(reader, claim),
    decide(state) {
      const before = knownAs(state, RESOURCE, claim);
      if (isOfOther(claim, before)) return { resourceId: claim.id, writes: {}, isOthers: true };
      const { record, writes, correction } = decide(state, claim, at);
      return {
        resourceId: record!.id,
        writes,
        contradicts: contradicts(claim, before && record),
        ...(correction && { correction }),
      };
    },
  };
}

/** Whether the answer to a request shows the payout of another request. */
function isOfOther({ madeBy, payout }: Claim, before: MirroredRow | null): boolean {
  return (
    madeBy !== undefined && [payout, before && payoutIn(before)].some((each) => isMadeByOther(each, madeBy))
  );
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
function requestBeside(
  state: State,
  names: readonly string[],
  named: SubaccountPayout,
): SubaccountPayout | null {
  if (hasReservedId(named)) return null;
  const rows = names.flatMap((name) => knownByReferences(state, RESOURCE, [name]) ?? []);
  return rows.map(payoutIn).find(isOfRequestAlone) ?? null;
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

export const { inDoubtOf, neverMadeOf } = conclusionsOf(payoutFamily, {
  namedBy,
  neverMade({ inDoubt: _, ...known }, at) {
    return {
      ...known,
      neverMade: true,
      version: known.version + 1,
      status: 'failed' as const,
      reversed: true,
      reversedAt: at,
      failureReason: 'O pedido de saque não chegou ao serviço de pagamentos',
    };
  },
  writesOf: (payout, before, at) =>
    writesOf(payout, {
      names: namedBy(payout).names,
      observedAt: at,
      changed: { from: before?.status ?? null },
    }),
});

/** The id and the name of a request's payout, which both follow from its key. */
function namedBy({ id, subaccountId, payoutId }: SubaccountPayout) {
  return { id, names: [nameOf(subaccountId, payoutId!)] };
}

/** The writes of a payout under each of its ids. Lists and names refer to the first id alone. */
function writesOf(
  payout: SubaccountPayout,
  {
    names,
    observedAt,
    changed,
  }: {
    names: readonly string[];
    observedAt: Date;
    changed: { from: SubaccountPayout['status'] | null } | null;
  },
): Writes {
  const { id, formerId } = payout;
  const writesUnder = (resourceId: string, as: { parent?: null; names?: readonly string[] }) =>
    writesOfMirrored({
      ...rowOf(resourceId, payout, observedAt),
      ...as,
      formerId,
      event: changed && payoutFamily.eventOf(payout, changed.from, resourceId),
    });
  const first = writesUnder(id, { names });
  return formerId === undefined ? first : joined(first, writesUnder(formerId, { parent: null }));
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
