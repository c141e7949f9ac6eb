import { NotFoundError } from '../kernel/errors.ts';
import { hashInput } from '../kernel/input-hash.ts';
import { type Committer, loadRecords, put } from '../state/commit/commit.ts';
import {
  idempotency,
  idempotencyKeyOf,
  readReplay,
  remember,
  replayed,
} from '../state/commit/idempotency.ts';
import type { Database } from '../state/db/database.ts';
import {
  decideBulk,
  decideCancel,
  parseRedeliverWebhooks,
  type WebhookRedelivery,
  type WebhookRedeliveryService,
} from './bulk.ts';
import { redeliveryTable, selectExtent } from './bulk-store.ts';
import { ENDPOINT, endpoints, redeliveries } from './collections.ts';
import { urlsOf } from './endpoints.ts';
import { RESEND } from './model.ts';

const REDELIVER = 'redeliverWebhooks';

/** Sending many deliveries again: a request is a record and a task. */
export function createBulkRedelivery({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): WebhookRedeliveryService {
  return {
    async request(tenant, input) {
      const parsed = parseRedeliverWebhooks(input);
      const { idempotencyKey: key, ...hashed } = parsed;
      const inputHash = hashInput(hashed);
      const [known] = await loadRecords(idempotency, database.sql, tenant, [
        idempotencyKeyOf(REDELIVER, key),
      ]);
      const extent = known
        ? { total: 0, upto: 0 }
        : await selectExtent(database.sql, tenant, parsed.filter, parsed.most);
      return committer.change<{ redelivery: WebhookRedelivery; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(endpoints, ENDPOINT),
            readReplay(reader, REDELIVER, key, (made) => reader.load(redeliveries, made)),
          ]),
        decide(state) {
          const before = replayed(state, REDELIVER, key, inputHash);
          if (before !== null)
            return { outcome: { redelivery: state.need(redeliveries, before), replayed: true } };
          const urls = urlsOf(tenant, state.get(endpoints, ENDPOINT));
          const { endpointId } = parsed.filter;
          const hasUrl = (endpointId ? [urls.get(endpointId)] : [...urls.values()]).some(Boolean);
          const redelivery = decideBulk(parsed, { ...extent, hasUrl, now: state.now });
          const { redeliveryId } = redelivery;
          return {
            outcome: { redelivery, replayed: false },
            writes: {
              records: [
                put(redeliveries, redelivery),
                remember({ operation: REDELIVER, key, inputHash, resourceId: redeliveryId }),
              ],
              tasks: redelivery.finishedAt ? [] : [{ kind: RESEND, key: redeliveryId, at: state.now }],
            },
          };
        },
      });
    },

    cancel: (tenant, redeliveryId) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(redeliveries, redeliveryId),
        decide(state) {
          const found = state.get(redeliveries, redeliveryId);
          if (!found) throw new NotFoundError('Webhook redelivery not found');
          const redelivery = decideCancel(found, state.now);
          return { outcome: redelivery, writes: { records: [put(redeliveries, redelivery)] } };
        },
      }),

    async findMany(tenant, redeliveryIds) {
      const rows = await redeliveryTable.load(database.sql, tenant, [...new Set(redeliveryIds)]);
      const found = new Map(rows.map((redelivery) => [redelivery.redeliveryId, redelivery]));
      return redeliveryIds.map((id) => found.get(id) ?? null);
    },
  };
}
