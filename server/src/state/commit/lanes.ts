import { tenantKey } from '../../kernel/tenant.ts';
import type { bindContext } from '../../kernel/traces.ts';
import type { Command } from './commit.ts';

/** A command with its caller. */
export interface Waiting {
  /** Runs work in the trace of the caller. A group runs in the trace of its first command. */
  readonly inTrace: ReturnType<typeof bindContext>;
  readonly command: Command<unknown>;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The most commands of a group. */
export const MAX_GROUP = 64;
/** The most commands of one tenant in a group while others wait. */
const MAX_OF_TENANT = 16;

/** Commands that wait for a transaction. */
export interface Lane {
  /** The key of the tenant whose own lane it is; null for the lane that all others share. */
  readonly of: string | null;
  /** The number of commands. */
  readonly size: number;
  /** The number of commands of all tenants but those `underWay`. */
  sizeWithout(underWay: ReadonlySet<string>): number;
  /** Adds a command behind the others of its tenant. */
  add(waiting: Waiting): void;
  /**
   * Removes the next group: those of the tenants that have waited longest, of each in the order of arrival. It has none of the
   * tenants that are `underWay`.
   */
  takeGroup(underWay?: ReadonlySet<string>): Waiting[];
  /** Removes the commands of a tenant. */
  takeOf(tenant: string): Waiting[];
  takeAll(): Waiting[];
}

export function createLane(of: string | null = null): Lane {
  /** The commands of each tenant. The tenant that has waited longest is first. */
  const queues = new Map<string, Waiting[]>();
  let size = 0;
  return {
    of,
    get size() {
      return size;
    },
    sizeWithout(underWay) {
      let others = size;
      for (const key of underWay) others -= queues.get(key)?.length ?? 0;
      return others;
    },
    add(waiting) {
      const key = tenantKey(waiting.command.tenant);
      const queue = queues.get(key);
      if (queue) queue.push(waiting);
      else queues.set(key, [waiting]);
      size += 1;
    },
    takeGroup(underWay) {
      const group: Waiting[] = [];
      const mostOfTenant = queues.size === 1 ? MAX_GROUP : MAX_OF_TENANT;
      const next = queues.entries();
      for (let left = queues.size; left > 0 && group.length < MAX_GROUP; left -= 1) {
        const [key, queue] = next.next().value!;
        if (underWay?.has(key)) continue;
        group.push(...queue.splice(0, Math.min(mostOfTenant, MAX_GROUP - group.length)));
        queues.delete(key);
        // The tenant's other commands wait behind those of all others.
        if (queue.length > 0) queues.set(key, queue);
      }
      size -= group.length;
      return group;
    },
    takeOf(tenant) {
      const queue = queues.get(tenant) ?? [];
      queues.delete(tenant);
      size -= queue.length;
      return queue;
    },
    takeAll() {
      const all = [...queues.values()].flat();
      queues.clear();
      size = 0;
      return all;
    },
  };
}
