import { CompiledQuery } from 'kysely';
import { selectCursorKey } from '../../../server/src/access/store.ts';
import { createCursors } from '../../../server/src/kernel/cursor.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { FollowerSpec, Received } from './followers.ts';
import { type Compared, compare, type Entry, shareWithEvent } from './oracle.ts';
import type { Cut } from './relay.ts';
import { TOPICS } from './topics.ts';

/** The updates of one client's followers, compared with the log. */
export interface ClientFindings extends Compared {
  client: string;
  followers: number;
  updates: number;
  errors: number;
}

export interface Findings {
  clients: ClientFindings[];
  cuts: Record<Cut, number>;
  /** The number of connections that ended with an instance, or with a credential. */
  otherEnds: number;
  /** The share of outages of active followers with an event that they follow. */
  outagesWithEvent: number;
  /** The number of operations for each reason of their end, in the clients' words. */
  causes: Record<string, number>;
  tokens: number;
  events: number;
  /** The first errors of followers that should have none. */
  errors: string[];
}

interface LogEvent extends Entry {
  version: number;
  mark: number;
  resource: string;
  at: number;
}

const SHOWN_ERRORS = 10;

/** Compares the updates of each follower with the table `event`. */
export async function judge(
  database: Database,
  tenants: readonly Tenant[],
  {
    specs,
    isActive,
    received,
  }: {
    specs: readonly FollowerSpec[];
    /** Whether the follower's account has events. */
    isActive: (spec: FollowerSpec) => boolean;
    received: readonly Received[];
  },
): Promise<Findings> {
  const cursorsFor = createCursors((await selectCursorKey(database.sql))!);
  const cursors = tenants.map((tenant) => cursorsFor(tenant, 'updates'));
  const logs = await Promise.all(tenants.map((tenant) => readLog(database, tenant)));
  const clients = new Map<string, ClientFindings>();
  const errors: string[] = [];

  /** The events that a follower follows. */
  const followed = remember(
    (spec: FollowerSpec) => {
      const start = cursors[spec.tenant]!.decodeMarked(spec.after)!.position;
      const { resources } = TOPICS[spec.topic];
      return logs[spec.tenant]!.filter(
        ({ version, resource }) => version > start && resources.includes(resource),
      );
    },
    ({ tenant, topic, after }) => `${tenant} ${topic} ${after}`,
  );

  for (const { updates, sequences, errors: ofFollowers } of received) {
    const read = remember(
      ([tenant, place]: readonly [number, number]) => {
        const [cursor = '', id = ''] = updates[place]!.split(' ');
        const decoded = cursors[tenant]!.decodeMarked(cursor);
        const event = decoded && logs[tenant]![decoded.position - 1];
        return { version: event?.mark === decoded?.mark ? (decoded?.position ?? null) : null, id };
      },
      ([tenant, place]) => `${tenant} ${place}`,
    );
    for (const [number, places] of sequences) {
      const spec = specs[number]!;
      const found = findingsOf(clients, spec.client);
      const compared = compare(
        followed(spec),
        places.map((place) => read([spec.tenant, place])),
      );
      for (const name of ['missed', 'doubled', 'misplaced', 'foreign'] as const) {
        found[name] += compared[name];
        if (compared[name] > 0)
          errors.push(`${spec.client} ${number}, ${spec.topic}: ${name} ${compared[name]}`);
      }
      found.followers += 1;
      found.updates += places.length;
    }
    for (const [number, error] of ofFollowers) {
      findingsOf(clients, specs[number]!.client).errors += 1;
      errors.push(`${specs[number]!.client} ${number}: ${error}`);
    }
  }

  const outages = received.flatMap((each) => each.outages);
  const instants = remember(
    (spec: FollowerSpec) => followed(spec).map(({ at }) => at),
    ({ tenant, topic, after }) => `${tenant} ${topic} ${after}`,
  );
  return {
    clients: [...clients.values()],
    cuts: count(outages.map(({ how }) => how)) as Findings['cuts'],
    otherEnds: received.reduce((sum, { ends }) => sum + ends, 0),
    outagesWithEvent: shareWithEvent(
      outages
        .filter(({ follower }) => isActive(specs[follower]!))
        .map((outage) => ({ ...outage, eventsAt: instants(specs[outage.follower]!) })),
    ),
    causes: received.reduce<Record<string, number>>((sums, { causes }) => {
      for (const [name, times] of Object.entries(causes)) sums[name] = (sums[name] ?? 0) + times;
      return sums;
    }, {}),
    tokens: received.reduce((sum, { tokens }) => sum + tokens, 0),
    events: logs.reduce((sum, log) => sum + log.length, 0),
    errors: errors.slice(0, SHOWN_ERRORS),
  };
}

/** All events of a tenant, from version 1 on. */
async function readLog(database: Database, { accountId, environment }: Tenant): Promise<LogEvent[]> {
  const { rows } = await database.sql.executeQuery<LogEvent>(
    CompiledQuery.raw(
      `select version, mark, resource, resource_id as id, extract(epoch from occurred_at) * 1000 as at
       from event where account_id = $1 and environment = $2 order by version`,
      [accountId, environment],
    ),
  );
  const log = rows.map((row) => ({ ...row, version: Number(row.version), at: Number(row.at) }));
  const gap = log.findIndex(({ version }, index) => version !== index + 1);
  if (gap >= 0) throw new Error(`The log has no version ${gap + 1}`);
  return log;
}

function findingsOf(clients: Map<string, ClientFindings>, client: string): ClientFindings {
  const found = clients.get(client) ?? {
    client,
    followers: 0,
    updates: 0,
    errors: 0,
    missed: 0,
    doubled: 0,
    misplaced: 0,
    foreign: 0,
  };
  clients.set(client, found);
  return found;
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function remember<Argument, Result>(
  make: (argument: Argument) => Result,
  keyOf: (argument: Argument) => string,
) {
  const made = new Map<string, Result>();
  return (argument: Argument): Result => {
    const key = keyOf(argument);
    let result = made.get(key);
    if (result === undefined) {
      result = make(argument);
      made.set(key, result);
    }
    return result;
  };
}
