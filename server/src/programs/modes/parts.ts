import type { Export } from '../../api/http/exports/export.ts';
import type { RestOperation } from '../../api/http/rest.ts';
import type { MirroredResource } from '../../kernel/upstream-family.ts';
import type { PixFamily } from '../../money-in/pix/collections.ts';
import type { CodedResource } from '../../money-in/pix/model.ts';
import type { MoneyReaders } from '../../money-out/wallet/remote/sighting-collections.ts';
import type { Snapshots } from '../../state/events/event.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { RemoteSlice } from '../../upstream/dependencies.ts';
import type { SimulatorControl } from '../simulator/model.ts';
import { type EmbeddedCore, type RemoteCore, SLICES, type Slice } from './slices.ts';

// What follows from the slices. A part that a slice must have, and lacks, does not compile where the parts are used.

type Slices = typeof SLICES;

/** One part of each slice that has it, by the name of the slice. */
type PartsOf<Part extends keyof Slice> = {
  [Name in keyof Slices as Slices[Name] extends Record<Part, unknown>
    ? Name
    : never]: Slices[Name] extends Record<Part, infer Value> ? Value : never;
};
type PartOf<Part extends keyof Slice> = PartsOf<Part>[keyof PartsOf<Part>];
/** The intersection of the types in a union. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (each: infer Each) => void
  ? Each
  : never;

function partsOf<Part extends keyof Slice>(part: Part): PartsOf<Part> {
  const parts = Object.entries<Slice>(SLICES).filter(([, slice]) => slice[part] !== undefined);
  return Object.fromEntries(parts.map(([name, slice]) => [name, slice[part]])) as PartsOf<Part>;
}

/** The snapshots of every slice: the log is the same in both modes. */
export const snapshots: Snapshots = Object.assign({}, ...Object.values(partsOf('snapshots'))) as All<
  PartOf<'snapshots'>
>;

/** The readers of the money in the events of each slice that has a mirror. */
export const MONEY_READERS: MoneyReaders = Object.assign({}, ...Object.values(partsOf('money')));

/** The endpoints and features of `psa upstream check`, slice by slice. */
export const CHECKS = Object.values(partsOf('checks'));

/** The families of resources that have PIX codes. */
export const PIX_FAMILIES = Object.values(partsOf('pix')) as unknown as readonly PixFamily<CodedResource>[];

/** The services whose operations are in `/v1`, and the address of this server. */
type RouteParts = All<Parameters<PartOf<'routes'>>[0]>;

/** Creates all operations of `/v1`. */
export function createOperations(parts: RouteParts): RestOperation[] {
  return Object.values(partsOf('routes')).flatMap((routes) => routes(parts));
}

/** Creates the exports of every slice that has one. */
export function createExports(services: All<Parameters<PartOf<'exports'>>[0]>): Export[] {
  return Object.values(partsOf('exports')).map((create) => create(services));
}

type ControlParts = All<Parameters<PartOf<'controls'>>[0]>;

/** Creates the slices' controls of the simulator. */
export function createSliceControls(services: ControlParts): SimulatorControl[] {
  return Object.values<(services: ControlParts) => readonly SimulatorControl[]>(partsOf('controls')).flatMap(
    (controls) => controls(services),
  );
}

type Embedded = {
  [Name in keyof PartsOf<'embedded'>]: ReturnType<PartsOf<'embedded'>[Name]>['service'];
};

/** Creates the services of the slices that need no service of another slice, and the handlers of their tasks. */
export function createEmbedded(core: EmbeddedCore) {
  const made = Object.entries<NonNullable<Slice['embedded']>>(partsOf('embedded')).map(
    ([name, create]) => [name, create(core)] as const,
  );
  return {
    services: Object.fromEntries(made.map(([name, { service }]) => [name, service])) as Embedded,
    tasks: Object.assign({}, ...made.map(([, { tasks }]) => tasks)) as Record<string, TaskHandler>,
  };
}

/**
 * A slice whose resources are mirrored. The wallet has no webhooks, and none of its requests must be made
 * only once.
 */
export type Mirrored = Pick<RemoteSlice<unknown>, 'poll' | 'refresh'> & Partial<RemoteSlice<unknown>>;

type Remote = { [Name in keyof PartsOf<'remote'>]: ReturnType<PartsOf<'remote'>[Name]> };

/** Creates the slices in front of another service, as `createEmbedded` does. */
export function createRemote(core: RemoteCore) {
  const slices = Object.fromEntries(
    Object.entries<NonNullable<Slice['remote']>>(partsOf('remote')).map(([name, create]) => [
      name,
      create(core),
    ]),
  ) as Remote;
  const mirrored = Object.entries<MirroredResource>(partsOf('mirrors')).map(([name, resource]) => [
    resource,
    slices[name as keyof PartsOf<'mirrors'>] satisfies Mirrored,
  ]);
  return {
    slices,
    /** The slices that have a mirror, by its resource. */
    mirrored: Object.fromEntries(mirrored) as Record<PartOf<'mirrors'>, Mirrored>,
    factories: Object.fromEntries(
      Object.entries(slices).map(([name, { serviceFor }]) => [name, serviceFor]),
    ) as { [Name in keyof Remote]: Remote[Name]['serviceFor'] },
  };
}
