import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { type EventRow, eventFromRow, type Resource, type Snapshots, type StoredEvent } from './event.ts';
import type { Appended } from './log.ts';

/** The channel of the notifications that an instance sends after a commit: see `announcement`. */
export const STREAM_CHANNEL = 'psa_stream';

/** The longest notification, in bytes: PostgreSQL takes fewer than 8,000. */
const MAX_BYTES = 7_900;

/**
 * The notification of a commit: the tenant and its newest version, and the events themselves if they fit. An
 * instance reads the log unless it has delivered that version, or the events continue its live end. If the
 * version is missing, each instance reads.
 */
export function announcement(
  tenant: Tenant,
  version?: number,
  appended: Appended = { events: [], previousMark: 0 },
): string {
  if (version === undefined) return tenantKey(tenant);
  const short = `${tenantKey(tenant)} ${version}`;
  if (appended.events.length === 0) return short;
  const long = `${short} ${JSON.stringify([appended.previousMark, ...appended.events.map(rowOf)])}`;
  return Buffer.byteLength(long) <= MAX_BYTES ? long : short;
}

/** A notification. The key of the tenant is null if notifications may have been lost, of any tenant. */
export interface Announced {
  readonly key: string | null;
  /** The newest version; infinity if it is missing. */
  readonly version: number;
  /** Whether an event of this kind of resource may be among those of the commit. */
  mayHave(resource: Resource): boolean;
  /** The events; null if the notification has none, or none that this release can read. */
  events(snapshots: Snapshots): Appended | null;
}

export function readAnnouncement(payload: string): Announced {
  const [key, version] = payload.split(' ', 2);
  const json = key && version ? payload.slice(key.length + version.length + 2) : '';
  return {
    key: key || null,
    version: version ? Number(version) : Number.POSITIVE_INFINITY,
    mayHave: (resource) => json === '' || json.includes(JSON.stringify(resource)),
    events: (snapshots) => (json === '' ? null : readEvents(json, snapshots)),
  };
}

type Row = readonly [
  ...[version: number, mark: number, kind: string, resource: string, resourceId: string],
  ...[previousStatus: string | null, occurredAt: number, snapshot: unknown],
];

function rowOf(event: StoredEvent): Row {
  const { version, mark, kind, resource, resourceId, previousStatus, occurredAt, snapshot } = event;
  return [version, mark, kind, resource, resourceId, previousStatus, occurredAt.getTime(), snapshot];
}

function readEvents(json: string, snapshots: Snapshots): Appended | null {
  try {
    const [previousMark, ...rows] = JSON.parse(json) as [number, ...Row[]];
    const events = rows.map((row) => eventFromRow(eventRowOf(row), snapshots));
    return { events, previousMark };
  } catch {
    // Another release may announce its events in another form: they are in the log.
    return null;
  }
}

function eventRowOf([
  version,
  mark,
  kind,
  resource,
  resourceId,
  previousStatus,
  at,
  snapshot,
]: Row): EventRow {
  const occurredAt = new Date(at);
  return {
    ...{ version, mark, kind, resource, snapshot },
    ...{ resource_id: resourceId, previous_status: previousStatus, occurred_at: occurredAt },
  };
}
