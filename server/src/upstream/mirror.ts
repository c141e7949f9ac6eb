import { MIRRORED_RESOURCES, type MirroredResource } from '../kernel/upstream-family.ts';
import { type Collection, put, type Reader, type State, type Writes } from '../state/commit/commit.ts';
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
 * A statement of the service about a resource, in an answer or a webhook, to be compared with the mirror. `decide` is
 * pure and returns the program's own id of the resource; it writes nothing where nothing is new.
 */
export interface Observation {
  /** The program's own id of the resource, where it does not depend on what is known. */
  readonly resourceId?: string;
  read(reader: Reader): Promise<unknown>;
  /**
   * `isOthers`: it is the answer to a creation, and names what was made before, or by another request.
   * `contradicts`: it differs from the mirror and does not prevail. `correction`: it prevails over a known end.
   */
  decide(state: State): {
    resourceId: string;
    writes: Writes;
    isOthers?: boolean;
    contradicts?: boolean;
    correction?: Correction;
  };
}

/** The age of the resource in an answer to a creation: made now, or once, by the same key. */
export type Made = 'now' | 'once';

/** A correction of a resource's end: its status was known as `from`, and the service has shown it as `to`. */
export interface Correction {
  resource: MirroredResource;
  id: string;
  from: string;
  to: string;
}

/** The mirrored records of each kind of resource, as a decision reads and writes them. */
export const mirrored = byResource(collection);

/** The names of each kind of resource; reading a known name also reads the resource that it leads to. */
const references = byResource(referenceCollection);

function byResource<Value>(make: (resource: MirroredResource) => Value): Record<MirroredResource, Value> {
  const entries = MIRRORED_RESOURCES.map((resource) => [resource, make(resource)] as const);
  return Object.fromEntries(entries) as Record<MirroredResource, Value>;
}

/** Loads the names that are known, and the resources that they lead to. */
export async function readByReferences(
  reader: Reader,
  resource: MirroredResource,
  names: readonly string[],
): Promise<void> {
  const found = await Promise.all(names.map((name) => reader.load(references[resource], name)));
  const ids = new Set(found.flatMap((reference) => (reference ? [reference.id] : [])));
  await Promise.all([...ids].map((id) => reader.load(mirrored[resource], id)));
}

/** The resource that the first known of these names leads to. */
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

/**
 * The writes of a new state and its names; `event` is null where subscribers are not notified. `formerId`: the resource
 * whose names become this one's.
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
  const { resource, id } = record;
  return {
    records: [
      put(mirrored[resource], record),
      ...names.map((reference) => put(references[resource], { resource, reference, id, formerId })),
    ],
    events: event ? [event] : [],
  };
}

function collection(resource: MirroredResource): Collection<MirroredRow> {
  return {
    name: `observed ${resource}`,
    load: (sql, tenant, ids) => selectMirrored(sql, tenant, resource, ids),
    keyOf: ({ id }) => id,
    save: saveMirrored,
  };
}

function referenceCollection(resource: MirroredResource): Collection<Reference> {
  return {
    name: `observed ${resource} by reference`,
    load: (sql, tenant, names) => selectReferences(sql, tenant, resource, names),
    keyOf: ({ reference }) => reference,
    save: saveReferences,
  };
}
