import type { Law } from './law.ts';
import { SIGHTING_LAWS } from './sightings.ts';

/** The laws of what a facade has seen of the service behind it, and has requested there. */
export const MIRROR_LAWS: readonly Law[] = [
  ...SIGHTING_LAWS,
  {
    name: 'mirror-event',
    scope: ['observed'],
    explain: 'no event shows a later version than the mirror has',
    sql: `
      select o.id, o.resource, o.version, o.status, e.snapshot ->> 'version' as reported_version,
        e.snapshot ->> 'status' as reported
      from observed o join lateral (
        select snapshot from event e where e.account_id = o.account_id and e.environment = o.environment
          and e.resource = o.resource and e.resource_id = o.id order by e.version desc limit 1
      ) e on true
      -- A payout whose outcome was not known goes on under the id of the service, and its events under both.
      where not starts_with(o.id, 'int_')
        and e.snapshot ? 'version' and (e.snapshot ->> 'version')::int > o.version`,
  },
  {
    name: 'intent-outcome',
    scope: ['upstream_intent'],
    explain: 'a request that was made names what it has made, and no other does',
    sql: `
      select i.id, i.operation, i.state, i.resource_id from upstream_intent i
      where (i.state = 'done') <> (i.resource_id is not null)`,
  },
];
