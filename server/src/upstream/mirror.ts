import { MIRRORED_RESOURCES, type MirroredResource } from '../kernel/upstream-family.ts';
import {
  type Change,
  type Collection,
  put,
  type Reader,
  type State,
  type Writes,
} from '../state/commit/commit.ts';
import { loadPerTenant, savePerTenant } from '../state/db/each-tenant.ts';
import type { NewEvent } from '../state/events/event.ts';
import {
  type MirroredRow,
  type Reference,
  saveMirrored,
  saveReferences,
  selectMirrored,
  selectReferences,
} from './mirror-store.ts';

/**
 * A statement of the service about a resource, in an answer or a webhook, which is compared with the mirror.
 * `decide` is pure and returns the program's own id of the resource; it writes nothing if nothing is new.
 */
export interface Observation {
  /** The program's own id of the resource, if it does not depend on the mirror. */
  readonly resourceId?: string;
  read(reader: Reader): Promise<unknown>;
  /**
   * `isOthers`: the statement answers a creation, but names a resource that existed before or that another
   * request has made. `contradicts`: it differs from the mirror and does not prevail. `correction`: it
   * prevails over a known end.
   */
  decide(state: State): {
    resourceId: string;
    writes: Writes;
    isOthers?: boolean;
    contradicts?: boolean;
    correction?: Correction;
  };
}

/** The age of the resource in an answer to a creation: made now, or earlier by the same key. */
export type Made = 'now' | 'once';

/** A correction of a resource's end: its known status was `from`, and the service now shows `to`. */
export interface Correction {
  resource: MirroredResource;
  id: string;
  from: string;
  to: string;
}

/** The mirrored records of each kind of resource, as a decision reads and writes them. */
export const mirrored = byResource(collection);

/** The names of each kind of resource. A read of a known name also reads its resource. */
export const references = byResource(referenceCollection);

const collections: ReadonlySet<unknown> = new Set(Object.values(mirrored));

/** Whether the rows of a collection are mirrored states. */
export function isMirrored(collection: Collection<unknown>): boolean {
  return collections.has(collection);
}

function byResource<Value>(make: (resource: MirroredResource) => Value): Record<MirroredResource, Value> {
  const entries = MIRRORED_RESOURCES.map((resource) => [resource, make(resource)] as const);
  return Object.fromEntries(entries) as Record<MirroredResource, Value>;
}

/** Loads the known names among these, and their resources. */
export async function readByReferences(
  reader: Reader,
  resource: MirroredResource,
  names: readonly string[],
): Promise<void> {
  const found = await Promise.all(names.map((name) => reader.load(references[resource], name)));
  const ids = new Set(found.flatMap((reference) => (reference ? [reference.id] : [])));
  await Promise.all([...ids].map((id) => reader.load(mirrored[resource], id)));
}

/** The resource of the first known name. */
export function knownByReferences(
  state: State,
  resource: MirroredResource,
  names: readonly string[],
): MirroredRow | null {
  for (const name of names) {
    const reference = state.get(references[resource], name);
    if (reference) return state.need(mirrored[resource], reference.id);
  }
  return null;
}

/** Loads the resource with this id or any of the names. */
export async function readNamed(
  reader: Reader,
  resource: MirroredResource,
  { id, names }: Named,
): Promise<void> {
  await Promise.all([readByReferences(reader, resource, names), reader.load(mirrored[resource], id)]);
}

/** The resource of the first known name, or else of the id. */
export function knownAs(state: State, resource: MirroredResource, { id, names }: Named): MirroredRow | null {
  return knownByReferences(state, resource, names) ?? state.get(mirrored[resource], id);
}

interface Named {
  id: string;
  names: readonly string[];
}

/**
 * The writes of a new state and its names; `event` is null if subscribers are not notified. `formerId`: the
 * resource whose names move to this one.
 */
export function writesOfMirrored({
  names = [],
  formerId,
  event,
  ...record
}: MirroredRow & {
  names?: readonly string[];
  formerId?: string | undefined;
  event: NewEvent | null;
}): Writes {
  return { records: recordsOfMirrored(record, names, formerId), events: event ? [event] : [] };
}

/** The records of a new state and its names. */
export function recordsOfMirrored(
  row: MirroredRow,
  names: readonly string[],
  formerId?: string | undefined,
): Change[] {
  const { resource, id } = row;
  return [
    put(mirrored[resource], row),
    ...names.map((reference) => put(references[resource], { resource, reference, id, formerId })),
  ];
}

function collection(resource: MirroredResource): Collection<MirroredRow> {
  return {
    name: `observed ${resource}`,
    loadEach: loadPerTenant((sql, tenant, ids) => selectMirrored(sql, tenant, resource, ids)),
    keyOf: ({ id }) => id,
    saveEach: savePerTenant(saveMirrored),
  };
}

function referenceCollection(resource: MirroredResource): Collection<Reference> {
  return {
    name: `observed ${resource} by reference`,
    loadEach: loadPerTenant((sql, tenant, names) => selectReferences(sql, tenant, resource, names)),
    keyOf: ({ reference }) => reference,
    saveEach: savePerTenant(saveReferences),
  };
}
