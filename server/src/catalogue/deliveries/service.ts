import { NotFoundError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Collection, Committer } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import type { StoredProduct } from '../products/model.ts';
import {
  deliveries,
  deliveriesOf,
  isKnown,
  readForCreation,
  readForDeletion,
  waitingFor,
  writesOf,
  writesOfDeletion,
} from './collections.ts';
import { decideCreate } from './decisions.ts';
import {
  assertFound,
  contentOf,
  type DeliveryService,
  deliveryIdText,
  type StoredDelivery,
} from './model.ts';
import { countDeliveries, deliveryTable, listDeliveries, selectShown } from './store.ts';

/** Products by id; `product` is null if it has been deleted. The slice that owns products provides them. */
export type ProductCollection = Collection<{ id: string; product: StoredProduct | null }>;

const CREATE = 'createDelivery';

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createDeliveryService({
  database,
  committer,
  products,
}: {
  database: Database;
  committer: Committer;
  products: ProductCollection;
}): DeliveryService<StoredDelivery> {
  async function findMany(tenant: Tenant, ids: readonly string[]): Promise<(StoredDelivery | null)[]> {
    const requested = ids.map((id) => id.toLowerCase());
    const found = await deliveryTable.load(database.sql, tenant, [...new Set(requested)]);
    const byId = new Map(found.map((delivery) => [delivery.deliveryId, delivery]));
    return requested.map((id) => {
      const delivery = byId.get(id);
      return delivery && !delivery.deletedAt ? delivery : null;
    });
  }

  return {
    create(tenant, { idempotencyKey, ...input }) {
      const { productId } = input;
      const inputHash = hashInput(input);
      const content = contentOf(input.content);
      const added = content.kind === 'codes' ? content.codes : [];
      const deliveryId = objectId();
      return committer.change<{ delivery: StoredDelivery; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(products, productId),
            readForCreation(
              reader,
              productId,
              content.kind === 'codes' ? added.map(({ hash }) => hash) : null,
            ),
            readReplay(reader, CREATE, idempotencyKey, (made) => reader.load(deliveries, made)),
          ]),
        decide(state) {
          const before = idempotencyKey == null ? null : replayed(state, CREATE, idempotencyKey, inputHash);
          if (before !== null)
            return { outcome: { delivery: state.need(deliveries, before), replayed: true } };
          const waiting = content.kind === 'codes' ? waitingFor(state, productId, added.length) : [];
          // Payers who paid before their product was deleted still get a code.
          if (!state.get(products, productId)?.product && waiting.length === 0)
            throw new NotFoundError('Product not found');
          const { delivery, ...change } = decideCreate(content, {
            deliveryId,
            productId,
            now: state.now,
            deliveries: deliveriesOf(state, productId),
            known: (hash) => isKnown(state, productId, hash),
            waiting,
          });
          const writes = writesOf(state, productId, change);
          if (idempotencyKey != null)
            writes.records.push(
              remember({
                operation: CREATE,
                key: idempotencyKey,
                inputHash,
                resourceId: delivery.deliveryId,
              }),
            );
          return { outcome: { delivery, replayed: false }, writes };
        },
      });
    },

    delete(tenant, id) {
      const deliveryId = deliveryIdText.safeParse(id).data ?? id;
      return committer.change<void>({
        tenant,
        read: (reader) => readForDeletion(reader, deliveryId),
        decide(state) {
          const found = state.get(deliveries, deliveryId);
          const delivery = assertFound(found?.deletedAt ? null : found);
          return { outcome: undefined, writes: writesOfDeletion(state, delivery) };
        },
      });
    },

    findMany,

    async list(tenant, range) {
      const items = await listDeliveries(database.sql, tenant, { ...range, limit: range.limit + 1 });
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listDeliveries(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countDeliveries(database.sql, tenant, filter),
      ]);
      return { items: rows.map(({ delivery }) => delivery), total };
    },
    count: (tenant, filter) => countDeliveries(database.sql, tenant, filter),

    async deliveredTo(tenant, type, ids) {
      const rows = await selectShown(database.sql, tenant, { type, ids: [...new Set(ids)] });
      return ids.map((asked) => {
        const contents = rows.flatMap(({ id, ...content }) => (id === asked ? [content] : []));
        return contents.length > 0 ? contents : null;
      });
    },
  };
}
