import { hashInput } from '../../kernel/input-hash.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Committer, Reader, State, Writes } from './commit.ts';
import { idempotency, idempotencyKeyOf, remember, replayed } from './idempotency.ts';

/**
 * Makes a change that no client requests, once under its name: a repeated call with the same input gets the
 * id of the first. Returns the id of the resource that was made; null if `decide` made none.
 */
export function changeOnce<Id extends string | null>(
  committer: Committer,
  tenant: Tenant,
  { operation, name, input }: { operation: string; name: string | undefined; input: unknown },
  {
    read = async () => undefined,
    decide,
  }: {
    read?: (reader: Reader) => Promise<unknown>;
    decide: (state: State) => { id: Id; writes?: Writes };
  },
): Promise<Id> {
  const inputHash = hashInput(input);
  return committer.change<Id>({
    tenant,
    async read(reader) {
      await read(reader);
      if (name !== undefined) await reader.load(idempotency, idempotencyKeyOf(operation, name));
    },
    decide(state) {
      const before = name === undefined ? null : replayed(state, operation, name, inputHash);
      if (before !== null) return { outcome: before as Id };
      const { id, writes = {} } = decide(state);
      const keys =
        name === undefined || id === null
          ? []
          : [remember({ operation, key: name, inputHash, resourceId: id })];
      return { outcome: id, writes: { ...writes, records: [...(writes.records ?? []), ...keys] } };
    },
  });
}
