import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { deterministicId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Change, Committer, Reader, State, Writes } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import type { PixFamily } from './collections.ts';
import type { CreditState, PixChange } from './decisions.ts';
import {
  assertIdForm,
  type CodedResource,
  noCode,
  type PixFilter,
  type PixReads,
  type RegisterCode,
  type StoredPixResource,
} from './model.ts';
import type { PixTable } from './table-store.ts';

/** The state that a decision needs besides a resource whose credits are all recorded. */
export type ReceivedState = Pick<CreditState, 'keptPayment' | 'now'>;

/**
 * Records the bank's credits of a resource, then applies a decision. Returns the resource afterwards, `replayed` if the
 * decision had nothing to change; null if it does not exist. @throws errors of the decision
 */
export type ChangeReceived<R extends CodedResource> = (
  tenant: Tenant,
  id: string,
  decide: (resource: R, state: ReceivedState) => PixChange<R> | null,
) => Promise<Repeatable<R> | null>;

/** A resource after a change that can be requested again: `replayed` if it had been made before. */
export interface Repeatable<R> {
  resource: R;
  replayed: boolean;
}

/** Creates the reading side of a family's port: every read is one statement. */
export function createPixReads<R extends StoredPixResource, Filter, Listed extends PixFilter>({
  database: { sql },
  family,
  table,
  idName,
  idForm,
  filterOf,
}: {
  database: Database;
  family: PixFamily<R>;
  table: PixTable<R, Listed>;
  /** The argument that names a resource, and the form that it must have. */
  idName: string;
  idForm: string;
  /** Translates a filter of the port into one of the table. */
  filterOf: (filter: Filter) => Listed;
}): PixReads<R, Filter> {
  // Dashboards of one merchant request the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof table.list>>>();

  async function findMany(tenant: Tenant, ids: readonly string[]): Promise<(R | null)[]> {
    const rows = await table.load(sql, tenant, [...new Set(ids)]);
    const found = new Map(rows.map((resource) => [family.idOf(resource), resource]));
    return ids.map((id) => found.get(id) ?? null);
  }

  return {
    assertId: (id) => assertIdForm(idName, family.isId(id), idForm),
    async find(tenant, id) {
      return (await findMany(tenant, [id]))[0] ?? null;
    },
    findMany,
    findWithVersion: (tenant, id) => table.loadWithHead(sql, tenant, id),

    async list(tenant, { end, limit, after, before, ...filter }) {
      const page = { end, limit: limit + 1, after, before, ...filterOf(filter as Filter) };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        table.list(sql, tenant, page),
      );
      return withoutExtra(items, { end, limit });
    },
    async listPage(tenant, { limit, offset, ...given }) {
      const filter = filterOf(given as unknown as Filter);
      const [rows, total] = await Promise.all([
        table.list(sql, tenant, { end: 'first', limit, offset, ...filter }),
        table.count(sql, tenant, filter),
      ]);
      return { items: rows.map(({ resource }) => resource), total };
    },
    count: (tenant, filter) => table.count(sql, tenant, filterOf(filter)),
    totals: (tenant, filter, groupBy) => table.totals(sql, tenant, filterOf(filter), groupBy),
  };
}

/** A new resource with the writes of its creation. */
export interface NewResource<R> {
  resource: R;
  writes: Writes & { records: Change[] };
}

/** Creates a resource of one family by its input, once for each idempotency key, and gets its code from the bank. */
export function createPixCreation<R extends StoredPixResource>({
  committer,
  family,
  operation,
  register,
  hasCode = ({ brCode }) => brCode !== null,
}: {
  committer: Committer;
  family: PixFamily<R>;
  /** The operation of the idempotency keys. */
  operation: string;
  register: RegisterCode<R>;
  /** Whether a resource can be shown to its payer; by default it can once it has a code. */
  hasCode?: (resource: R) => boolean;
}) {
  /** Gets the code of a resource that has none, whether it is new or was made by an earlier request. */
  async function withCode(tenant: Tenant, resource: R): Promise<R> {
    return resource.status === 'pending' && !hasCode(resource) ? register(tenant, resource) : resource;
  }

  return {
    withCode,

    /** @throws IdempotencyError, UpstreamError (the bank gave no code), and what the decision throws */
    async create(
      tenant: Tenant,
      {
        idempotencyKey,
        input,
        newId,
        read,
        assertPossible,
        decide,
      }: {
        idempotencyKey: string | null | undefined;
        input: object;
        /** Names the resource: by the given 32 hex digits, else by random ones. */
        newId: (digits: string | null) => string;
        read: (reader: Reader) => Promise<unknown>;
        /** Refuses input that is refused even for a repeated request. */
        assertPossible: (state: State) => void;
        decide: (state: State, id: string) => NewResource<R>;
      },
    ): Promise<{ resource: R; replayed: boolean }> {
      const inputHash = hashInput(input);
      const id = newId(
        idempotencyKey == null
          ? null
          : deterministicId(32, operation, tenantKey(tenant), idempotencyKey, inputHash),
      );
      const created = await committer.change<{ resource: R; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            read(reader),
            readReplay(reader, operation, idempotencyKey, (made) => reader.load(family.records, made)),
          ]),
        decide(state) {
          assertPossible(state);
          const before =
            idempotencyKey == null ? null : replayed(state, operation, idempotencyKey, inputHash);
          if (before !== null)
            return { outcome: { resource: state.need(family.records, before), replayed: true } };
          const { resource, writes } = decide(state, id);
          if (idempotencyKey != null)
            writes.records.push(remember({ operation, key: idempotencyKey, inputHash, resourceId: id }));
          return { outcome: { resource, replayed: false }, writes };
        },
      });
      const resource = await withCode(tenant, created.resource);
      // A replay shows the present state; only a first request, or a code that is still missing, is an error.
      const isMissing = !hasCode(resource) && (resource.status === 'pending' || !created.replayed);
      if (isMissing) throw noCode(family.name, family.idOf(resource), resource);
      return { resource, replayed: created.replayed };
    },
  };
}
