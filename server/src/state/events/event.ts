/**
 * The events of each resource. A slice adds its own in its `events.ts`, by declaration merging: `kind`,
 * `previousStatus`, `snapshot`, and a narrower type for `resourceId`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the slices fill it
export interface EventTypes {}

export type Resource = keyof EventTypes;

/** An event as a slice writes it. The snapshot is the resource as it was at that moment. */
export type NewEvent = {
  [R in Resource]: { resource: R; resourceId: string } & EventTypes[R];
}[Resource];

/**
 * An event with its place in the log: `version` counts the tenant's events without a gap. A log that was set
 * back reuses versions for other events, with another `mark`. An event that a release without marks has
 * written has the mark 0.
 */
export type StoredEvent = NewEvent & { version: number; mark: number; occurredAt: Date };

/** Parses the log's JSON into each slice's own type. */
export type Snapshots = { readonly [R in Resource]: (json: unknown) => EventTypes[R]['snapshot'] };

export interface EventRow {
  version: number;
  mark: number;
  kind: string;
  resource: string;
  resource_id: string;
  previous_status: string | null;
  occurred_at: Date;
  snapshot: unknown;
}

/**
 * Converts a row of the log into an event. During an upgrade a newer server on the same database may have
 * added a resource: its events get an empty snapshot, since nothing here subscribes to them.
 */
export function eventFromRow(row: EventRow, snapshots: Snapshots): StoredEvent {
  const resource = row.resource as Resource;
  return {
    version: row.version,
    mark: row.mark,
    kind: row.kind,
    resource,
    resourceId: row.resource_id,
    previousStatus: row.previous_status,
    occurredAt: row.occurred_at,
    snapshot: snapshots[resource]?.(row.snapshot) ?? {},
  } as StoredEvent;
}
