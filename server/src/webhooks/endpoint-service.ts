import type { Clock } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import { ENDPOINT, endpoints } from './collections.ts';
import { decideCreateEndpoint, decideDeleteEndpoint, decideUpdateEndpoint } from './endpoint-changes.ts';
import { isHeld } from './endpoint-health.ts';
import { endpointTable } from './endpoint-store.ts';
import {
  assertEndpointUrl,
  EVERY_EVENT,
  type FurtherEndpoint,
  furtherSettingsOf,
  noEndpoints,
  parseChanges,
  settingsOf,
  urlsOf,
  type WebhookEndpoint,
  type WebhookEndpointService,
  type WebhookSettings,
} from './endpoints.ts';
import { settleAt } from './model.ts';
import { optionalAmong, parseEvents } from './sent-events.ts';
import { newWebhookSecret } from './signing.ts';

/** The endpoints on Postgres. */
export function createWebhookEndpoints({
  database,
  committer,
  clock,
  privateAddresses,
}: {
  database: Database;
  committer: Committer;
  clock: Pick<Clock, 'now'>;
  /** Whether a URL may lead to this machine and need not be https, for local development. */
  privateAddresses: boolean;
}): WebhookEndpointService {
  const shown = (endpoint: FurtherEndpoint, now: Date) =>
    furtherSettingsOf(endpoint, optionalAmong(endpoint.events), now);

  async function list(tenant: Tenant): Promise<WebhookSettings[]> {
    const [stored = null] = await endpointTable.load(database.sql, tenant, [ENDPOINT]);
    const now = clock.now();
    const ofAccount = settingsOf(tenant, stored, now);
    return [...(ofAccount ? [ofAccount] : []), ...(stored?.further ?? []).map((each) => shown(each, now))];
  }

  return {
    async create(tenant, { url, events: given }) {
      assertEndpointUrl(url, privateAddresses);
      const events = parseEvents(given) ?? [EVERY_EVENT];
      const [freshSecret, ofAccount] = [newWebhookSecret(), newWebhookSecret()];
      return committer.change({
        tenant,
        read: (reader) => reader.load(endpoints, ENDPOINT),
        decide(state) {
          const { endpoint, created } = decideCreateEndpoint(
            state.get(endpoints, ENDPOINT) ?? noEndpoints(ofAccount),
            { url, events, freshSecret, now: state.now },
          );
          return {
            outcome: { ...shown(created, state.now), secret: created.secret },
            writes: { records: [put(endpoints, endpoint)] },
          };
        },
      });
    },

    async update(tenant, input) {
      const { endpointId } = input;
      const changes = parseChanges(input, privateAddresses);
      const events = parseEvents(input.events);
      const freshSecret = newWebhookSecret();
      return committer.change({
        tenant,
        read: (reader) => reader.load(endpoints, ENDPOINT),
        decide(state) {
          const before = state.get(endpoints, ENDPOINT);
          const isOpen = (each: WebhookEndpoint | null) =>
            Boolean(urlsOf(tenant, each).get(endpointId)) && !isHeld(each, endpointId);
          const { endpoint, updated, secret } = decideUpdateEndpoint(tenant, before, endpointId, {
            ...changes,
            ...{ events, freshSecret, now: state.now },
          });
          return {
            outcome: { ...shown(updated, state.now), secret },
            writes: {
              records: [put(endpoints, endpoint)],
              tasks: isOpen(before) || !isOpen(endpoint) ? [] : [settleAt(endpointId, state.now)],
            },
          };
        },
      });
    },

    delete: (tenant, endpointId) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(endpoints, ENDPOINT),
        decide(state) {
          const endpoint = decideDeleteEndpoint(tenant, state.get(endpoints, ENDPOINT), endpointId);
          return {
            outcome: undefined,
            writes: {
              records: [put(endpoints, endpoint)],
              tasks: [settleAt(endpointId, state.now)],
            },
          };
        },
      }),

    list,

    async findMany(tenant, endpointIds) {
      const found = new Map((await list(tenant)).map((each) => [each.endpointId, each]));
      return endpointIds.map((endpointId) => found.get(endpointId) ?? null);
    },
  };
}
