import { createHash } from 'node:crypto';
import type { Writes } from '../../commit/commit.ts';
import type { Source } from '../../kernel/authority.ts';
import { isObjectId } from '../../kernel/lenient-json.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import {
  type Correction,
  knownByReferences,
  mirrored,
  type Observation,
  readByReferences,
  writesOfMirrored,
} from '../../upstream/mirror.ts';
import {
  type MirroredRow,
  selectMirrored,
  selectReferences,
  touchMirrored,
} from '../../upstream/mirror-store.ts';
import { isFinal, isSettled, type SubaccountPayout, subaccountPayoutFromJson } from '../model.ts';
import { anyPayoutReference, anySubaccountId, newPayoutKey } from '../names.ts';
import { eventOf, mergeUpstreamPayout, type UpstreamPayout } from '../upstream-payout.ts';

/** The mirrored payouts of subaccounts, under every name that the service has for them. */
export interface MirroredPayouts {
  /** Finds a payout by our own id, or by a name that is unique without its subaccount. */
  find(tenant: Tenant, reference: string): Promise<MirroredRow | null>;
  /** Finds the payout of this subaccount that a reference leads to. */
  findOf(tenant: Tenant, subaccountId: string, reference: string): Promise<MirroredRow | null>;
  /** Reads a payout by our own id. @throws Error where it is not there */
  get(tenant: Tenant, id: string): Promise<SubaccountPayout>;
  /** Records a payout as the service showed it. One that shows nothing new does not wait for the lock. */
  record(
    tenant: Tenant,
    seen: UpstreamPayout,
    as: { reference: string; at: Date },
  ): Promise<SubaccountPayout>;
}

export const RESOURCE = 'subaccount_payout';

export function mirrorPayouts({
  database: { sql },
  committer,
  onCorrection,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'onCorrection'>): MirroredPayouts {
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
      return own ?? selectNamed(tenant, bareName(reference));
    },
    async findOf(tenant, subaccountId, reference) {
      const found = await selectNamed(tenant, nameOf(subaccountId, reference));
      return found && found.parent === subaccountId.toLowerCase() ? found : null;
    },
    get,
    async record(tenant, seen, { reference, at }) {
      const names = namesOf(seen, reference);
      const leading = await selectReferences(sql, tenant, RESOURCE, names);
      const [known] =
        leading.length === names.length ? await selectMirrored(sql, tenant, RESOURCE, [leading[0]!.id]) : [];
      if (known) {
        const payout = payoutIn(known);
        const source: Source = { by: 'service', at, knownAt: known.observedAt };
        if (mergeUpstreamPayout(payout, seen, payout.id, source) === null) {
          if (isConfirmation(seen, payout))
            await touchMirrored(sql, tenant, RESOURCE, { ids: [payout.id], at });
          return payout;
        }
      }
      const observation = observationOf(seen, { reference, at });
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

/** Whether a service can be asked for a payout by this name at all. */
export function canBeReference(text: string): boolean {
  return anyPayoutReference.safeParse(text).success;
}

/** Whether two ids are the same hex digits, in any case. */
export function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

/**
 * The id of a payout with an idempotency key: known before the payout is, and the same on every instance, whichever
 * name is seen first. Null for a payout without a key.
 */
export function reservedId(subaccountId: string, payoutId: string | null): string | null {
  if (!payoutId?.startsWith(IDEM)) return null;
  const digest = createHash('sha256').update(nameOf(subaccountId, payoutId)).digest('hex');
  return `sqp_${digest.slice(0, 32)}`;
}

function namesOf(seen: UpstreamPayout, reference: string | null): string[] {
  const all = [seen.withdrawalId, seen.code, seen.payoutId, reference];
  return [...new Set(all.flatMap((name) => (name === null ? [] : [nameOf(seen.subaccountId, name)])))];
}

/**
 * A name that holds a key is unique within its subaccount alone: the document does not say that a key is used for one
 * only.
 */
function nameOf(subaccountId: string, reference: string): string {
  return isBare(reference) ? bareName(reference) : `${subaccountId.toLowerCase()}/${reference}`;
}

/** Whether a name is unique without its subaccount, in whichever format a service issues it. */
function isBare(reference: string): boolean {
  return isObjectId(reference) || /^(?:TURBO|SUB)-/.test(reference);
}

function isPayoutId(reference: string): boolean {
  return reference.startsWith('saq_');
}

function bareName(reference: string): string {
  return isObjectId(reference) ? reference.toLowerCase() : reference;
}

export function ofOne(subaccountId: string, status?: readonly string[]) {
  return { parent: subaccountId.toLowerCase(), status };
}

/**
 * The observation of a payout: `reference` is the name it was looked up by, `at` the time. `by`: the service in its
 * answer, or an event.
 */
export function observationOf(
  seenAs: UpstreamPayout,
  { reference, at, by = 'service' }: { reference: string | null; at: Date; by?: Source['by'] },
): Observation {
  // A name in the form of the statement's refId leads only to the payout whose refId it is.
  const seen =
    seenAs.payoutId === null && reference !== null && isPayoutId(reference)
      ? { ...seenAs, payoutId: reference }
      : seenAs;
  const names = namesOf(seen, reference);
  const id = reservedId(seen.subaccountId, seen.payoutId) ?? newPayoutKey();
  return {
    read: (reader) =>
      Promise.all([readByReferences(reader, RESOURCE, names), reader.load(mirrored[RESOURCE], id)]),
    decide(state) {
      const before = knownByReferences(state, RESOURCE, names) ?? state.get(mirrored[RESOURCE], id);
      const known = before && payoutIn(before);
      const merged = mergeUpstreamPayout(known, seen, id, { by, at, knownAt: before?.observedAt ?? null });
      const payout = merged ?? known!;
      const isNew = known === null || payout.version > known.version;
      const isCorrection =
        known !== null && isFinal(known) && !known.neverMade && known.status !== payout.status;
      const isOlder = before !== null && (before.observedAt > at || !isConfirmation(seen, payout));
      const observedAt = isOlder ? before.observedAt : at;
      const writes = writesOf(payout, { names, observedAt, event: isNew ? { before: known } : null });
      return {
        resourceId: payout.id,
        writes,
        contradicts: known !== null && merged === null && !isConfirmation(seen, known),
        ...(isCorrection && {
          correction: { resource: RESOURCE, id: payout.id, from: known.status, to: payout.status },
        }),
      };
    },
  };
}

/** Shows a payout while the outcome of its request is unknown. `again`: subscribers are notified once more. */
export function inDoubtOf(request: SubaccountPayout, at: Date, again: boolean): Observation {
  return recorded(request, at, (known) => {
    // The payout is known, whatever became of the request; one that was never made stays so.
    if (known && (!known.inDoubt || !again)) return null;
    return { ...request, version: (known?.version ?? 0) + 1 };
  });
}

/**
 * Shows that the service has no such payout: nothing was debited. `ifShown`: only where the payout was shown in doubt.
 */
export function neverMadeOf(
  request: SubaccountPayout,
  at: Date,
  { ifShown }: { ifShown: boolean },
): Observation {
  return recorded(request, at, (known) => {
    if (known ? !known.inDoubt : ifShown) return null;
    const { inDoubt: _, ...rest } = known ?? request;
    return {
      ...rest,
      neverMade: true,
      version: rest.version + 1,
      status: 'failed',
      reversed: true,
      reversedAt: at,
      failureReason: 'The payments service has no such payout: the request never arrived there',
    };
  });
}

/** Records a state that this server concludes without the service; `decide` gives null where nothing is new. */
function recorded(
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

function writesOf(
  payout: SubaccountPayout,
  {
    names,
    observedAt,
    event,
  }: { names: readonly string[]; observedAt: Date; event: { before: SubaccountPayout | null } | null },
): Writes {
  return writesOfMirrored({
    resource: RESOURCE,
    id: payout.id,
    version: payout.version,
    status: payout.status,
    final: isSettled(payout),
    parent: payout.subaccountId.toLowerCase(),
    snapshot: payout,
    observedAt,
    names,
    event: event && {
      kind: `subaccount_payout.${eventOf(payout)}`,
      resource: RESOURCE,
      resourceId: payout.id,
      previousStatus: event.before?.status ?? null,
      snapshot: payout,
    },
  });
}

/** Whether an answer confirms the known state; an older one does not. */
function isConfirmation(seen: UpstreamPayout, known: UpstreamPayout): boolean {
  const reversed = seen.status === 'failed' && seen.reversed;
  return known.status === 'unknown' || (seen.status === known.status && reversed === known.reversed);
}

/** The observation of an event that names a payout and says nothing else of it. */
export function namedOnly(code: string): Observation {
  const names = [bareName(code)];
  return {
    read: (reader) => readByReferences(reader, RESOURCE, names),
    decide: (state) => ({ resourceId: knownByReferences(state, RESOURCE, names)?.id ?? code, writes: {} }),
  };
}
