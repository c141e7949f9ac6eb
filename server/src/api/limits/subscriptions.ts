import { getHeapStatistics } from 'node:v8';
import { type Caller, isPayer } from '../../kernel/caller.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { networkOf } from '../../kernel/network.ts';
import type { HeldBytes, OpenSubscription } from '../../kernel/open-subscription.ts';
import { tenantKey } from '../../kernel/tenant.ts';

/** The divisors of an account's limit: for a key, for a dashboard token, for all payers, and for some of these. */
const DIVISORS = { key: 2, token: 20, payers: 2, network: 40, payerToken: 200 } as const;
/** The least limit of a payer, who has some devices and windows even if the account may have few subscriptions. */
const MIN_OF_PAYER = 4;
/** The operations of one payer's token that are no trusted documents: an element has two or three. */
const OPERATIONS_OF_PAYER = 5;
/** The fraction of the heap that operations and variables may use; unsent bytes may use as much again. */
const HEAP_DIVISOR = 8;
/** The heap for one open subscription of any kind, with its connection. */
const SUBSCRIPTION_BYTES = 32_000;
/** The fraction of these bytes for each of the counts. */
const PARTS = {
  process: 1,
  allPayers: 1 / 2,
  tenant: 1 / 4,
  key: 1 / 8,
  token: 1 / 32,
  payers: 1 / 8,
  network: 1 / 64,
  payerToken: 1 / 64,
} as const;
/** The most bytes of one update: as many as may lie unsent on a socket, and more for a key, whose updates may have lists. */
const UPDATE_BYTES = { key: 1_000_000, token: 64_000 } as const;
/** An estimate: a client that leaves makes room at once, but its time is not known. */
const RETRY_AFTER_SECONDS = 30;

/** The limits on open subscriptions of this instance, over all transports: on their number, and on what they hold. */
export interface OpenSubscriptions {
  /** @throws RateLimitError */
  open(caller: Caller, address: string, held: HeldBytes): OpenSubscription;
}

/**
 * Creates the limits. Payers have counts of their own: their tokens are public, and take nothing from the keys and the
 * dashboards of an account.
 *
 * @param perTenant for the keys and dashboards of each account and environment
 */
export function createOpenSubscriptions({
  perTenant,
  heapBytes = getHeapStatistics().heap_size_limit,
}: {
  perTenant: number;
  /** The limit on the heap of this process. */
  heapBytes?: number;
}): OpenSubscriptions {
  const counts = new Map<string, Count>();
  const bytesOf = (part: keyof typeof PARTS) => Math.floor((heapBytes / HEAP_DIVISOR) * PARTS[part]);
  const share = (divisor: number, min = 1) => Math.max(min, Math.floor(perTenant / divisor));
  const mostOpen = Math.floor(heapBytes / 2 / SUBSCRIPTION_BYTES);
  const LIMITS = {
    process: { whose: 'server', open: mostOpen, bytes: bytesOf('process') },
    allPayers: { whose: 'server’s payers', open: Math.floor(mostOpen / 2), bytes: bytesOf('allPayers') },
    tenant: { whose: 'account and environment', open: perTenant, bytes: bytesOf('tenant') },
    key: { whose: 'API key', open: share(DIVISORS.key), bytes: bytesOf('key') },
    token: { whose: 'token', open: share(DIVISORS.token), bytes: bytesOf('token') },
    payers: {
      whose: 'account’s payers',
      open: share(DIVISORS.payers, MIN_OF_PAYER),
      bytes: bytesOf('payers'),
    },
    network: {
      whose: 'network’s payers',
      open: share(DIVISORS.network, MIN_OF_PAYER),
      bytes: bytesOf('network'),
    },
    payerToken: {
      whose: 'token',
      open: share(DIVISORS.payerToken, MIN_OF_PAYER),
      bytes: bytesOf('payerToken'),
      operations: OPERATIONS_OF_PAYER,
    },
  } satisfies Record<string, Limit>;

  const countOf = (limit: Limit, key: string): Count =>
    counts.get(key) ?? { key, limit, open: 0, bytes: 0, unsent: 0, operations: null };

  /** The counts that a subscription of the caller is part of, the narrowest first. */
  function countsOf(caller: Caller, address: string): Count[] {
    const { tenant, credential } = caller;
    const name = tenantKey(tenant);
    const process = countOf(LIMITS.process, 'process');
    if (!isPayer(caller)) {
      const ofCredential = credential.kind === 'api_key' ? LIMITS.key : LIMITS.token;
      return [countOf(ofCredential, `${name} ${credential.id}`), countOf(LIMITS.tenant, name), process];
    }
    return [
      countOf(LIMITS.payerToken, `${name} ${credential.id}`),
      countOf(LIMITS.network, `${name} from ${networkOf(address)}`),
      countOf(LIMITS.payers, `${name} payers`),
      countOf(LIMITS.allPayers, 'payers'),
      process,
    ];
  }

  /** Changes counts. A count is in the map while it counts anything. */
  function change(own: readonly Count[], by: (count: Count) => void): void {
    for (const each of own) {
      // The count may have ended, and begun again, since the subscription was opened.
      const count = counts.get(each.key) ?? each;
      by(count);
      if (count.open === 0 && count.unsent === 0) counts.delete(count.key);
      else counts.set(count.key, count);
    }
  }

  return {
    open(caller, address, held) {
      const own = countsOf(caller, address);
      for (const count of own) assertRoom(count, held);
      change(own, (count) => addHeld(count, held));
      return {
        updateBytes: UPDATE_BYTES[caller.credential.kind === 'api_key' ? 'key' : 'token'],
        hold(bytes) {
          let hasRoom = true;
          change(own, (count) => {
            count.unsent += bytes;
            hasRoom &&= count.unsent <= count.limit.bytes;
          });
          return hasRoom;
        },
        sent: (bytes) =>
          change(own, (count) => {
            count.unsent -= bytes;
          }),
        release: () => change(own, (count) => removeHeld(count, held)),
      };
    },
  };
}

interface Limit {
  /** The owner of the count, in words. */
  readonly whose: string;
  readonly open: number;
  readonly bytes: number;
  readonly operations?: number;
}

/** A count, which all its subscriptions share. */
interface Count {
  readonly key: string;
  readonly limit: Limit;
  open: number;
  /** The bytes of its operations, each counted once, and of the variables. */
  bytes: number;
  unsent: number;
  /** The subscriptions of each operation; null before the first one. */
  operations: Map<string, number> | null;
}

/** @throws RateLimitError */
function assertRoom({ limit, open, bytes, operations }: Count, { operation, variables }: HeldBytes): void {
  const refuse = (what: string) => {
    throw new RateLimitError(`${what} of one ${limit.whose}`, RETRY_AFTER_SECONDS);
  };
  if (open >= limit.open) refuse(`${limit.open} open subscriptions`);
  const isNew = operation !== null && !operations?.has(operation.key);
  if (isNew && limit.operations !== undefined && (operations?.size ?? 0) >= limit.operations)
    refuse(`${limit.operations} different operations in the open subscriptions`);
  const added = variables + (isNew ? operation.bytes : 0);
  if (added > 0 && bytes + added > limit.bytes)
    refuse(`${limit.bytes} bytes of operations and variables in the open subscriptions`);
}

function addHeld(count: Count, { operation, variables }: HeldBytes): void {
  count.open += 1;
  count.bytes += variables;
  if (!operation) return;
  count.operations ??= new Map();
  const before = count.operations.get(operation.key) ?? 0;
  if (before === 0) count.bytes += operation.bytes;
  count.operations.set(operation.key, before + 1);
}

function removeHeld(count: Count, { operation, variables }: HeldBytes): void {
  count.open -= 1;
  count.bytes -= variables;
  if (!operation) return;
  const left = count.operations!.get(operation.key)! - 1;
  if (left > 0) return void count.operations!.set(operation.key, left);
  count.operations!.delete(operation.key);
  count.bytes -= operation.bytes;
}
