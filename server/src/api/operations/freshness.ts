import { createHash } from 'node:crypto';
import type { Caller } from '../../kernel/caller.ts';
import { orderTokenOf } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { blockOf, networkOf } from '../../kernel/network.ts';
import type { BudgetSubject, Requester } from '../../kernel/requester.ts';
import { type Loaders, observeLoaders } from '../graphql/loaders.ts';

/** The age of the data of a response, or of one of its root fields. */
export interface Age {
  /** The age of the oldest part; null if nothing was read from the service. */
  ageSeconds: number | null;
  /** Whether a newer part was wanted and could not be read. */
  stale: boolean;
}

/** The oldest read of an operation, of a root field or of a batch of a loader. */
class OldestRead {
  #oldestMs: number | null = null;
  #stale = false;

  note(at: Date, stale: boolean): void {
    this.#add(at.getTime(), stale);
  }

  include(part: OldestRead): void {
    if (part.#oldestMs !== null) this.#add(part.#oldestMs, part.#stale);
  }

  ageAt(nowMs: number): Age {
    const oldestMs = this.#oldestMs;
    return {
      ageSeconds: oldestMs === null ? null : Math.max(0, (nowMs - oldestMs) / 1_000),
      stale: this.#stale,
    };
  }

  #add(ms: number, stale: boolean): void {
    if (this.#oldestMs === null || ms < this.#oldestMs) this.#oldestMs = ms;
    this.#stale ||= stale;
  }
}

/** A root field's call of a loader. */
interface Load {
  readonly field: OldestRead;
  readonly loader: string;
  readonly key: string;
}

/** Records how old the data of one operation is, as a whole and by root field. */
export interface Freshness {
  /** The requester whose reads count for the operation as a whole. */
  requester: Requester;
  /** Returns the requester of one batch of a loader, whose reads count for each root field that loads one of the keys. */
  batch(loader: string, keys: readonly string[]): Requester;
  /** Returns the requester of a root field, and the loaders that it shares with the others. */
  field(responseKey: string, loaders: Loaders): { requester: Requester; loaders: Loaders };
  state(): Age & { fields: Record<string, Age> };
}

/** The requester for some payers, or for a merchant. */
export function requesterOf(payers: BudgetSubject | null, onRead: Requester['onRead']): Requester {
  return { priority: payers ? 'payer' : 'merchant', subject: payers, onRead };
}

/**
 * The payers to which a caller belongs; null for a merchant. A payment token counts to those that have started the
 * payment, wherever it is used.
 */
export function payersOf({ credential }: Caller, address: string): BudgetSubject | null {
  switch (credential.kind) {
    case 'checkout_token':
      return { token: orderTokenOf(credential), network: digestsOf(address) };
    case 'payment_token':
      // The previous version stored no payers: all such tokens share one digest.
      return credential.startedBy ?? { token: 'payment', network: digestsOf(address) };
    default:
      return null;
  }
}

/** The digest of a network, after the digest of its IPv6 block and a slash. */
function digestsOf(address: string): string {
  const block = blockOf(address);
  const network = digestOf(networkOf(address));
  return block === null ? network : `${digestOf(block)}/${network}`;
}

/** A digest so short that hundreds of networks have the same: it is stored with the payment token, and names no payer. */
function digestOf(network: string): string {
  return createHash('sha256').update(network).digest('base64url').slice(0, 4);
}

export function createFreshness(payers: BudgetSubject | null, clock: Clock): Freshness {
  const whole = new OldestRead();
  const fields = new Map<string, OldestRead>();
  /** The reads of the last batch of each key, by loader. */
  const batches = new Map<string, Map<string, OldestRead>>();
  let loads: Load[] = [];
  const noting = (reads: OldestRead) =>
    requesterOf(payers, (at, stale) => {
      reads.note(at, stale);
      if (reads !== whole) whole.note(at, stale);
    });

  /** Adds the age of each batch to the fields that loaded from it. No load may be running, because it would be lost. */
  function countLoads(): void {
    for (const { field, loader, key } of loads) {
      const batch = batches.get(loader)?.get(key);
      if (batch) field.include(batch);
    }
    loads = [];
  }

  return {
    requester: noting(whole),
    batch(loader, keys) {
      const reads = new OldestRead();
      const ofLoader = batches.get(loader) ?? new Map<string, OldestRead>();
      batches.set(loader, ofLoader);
      for (const key of keys) ofLoader.set(key, reads);
      return noting(reads);
    },
    field(responseKey, loaders) {
      // The fields of a mutation run one after the other, and the next one may load the same keys again, which replaces their
      // batch. In a query all fields begin before the first batch.
      if (batches.size > 0) countLoads();
      const reads = new OldestRead();
      fields.set(responseKey, reads);
      const onLoad = (loader: string, key: string) => loads.push({ field: reads, loader, key });
      return { requester: noting(reads), loaders: observeLoaders(loaders, onLoad) };
    },
    state() {
      countLoads();
      const nowMs = clock.ms();
      // An alias may be `__proto__`.
      const ages: Record<string, Age> = Object.create(null);
      for (const [responseKey, reads] of fields) ages[responseKey] = reads.ageAt(nowMs);
      return { ...whole.ageAt(nowMs), fields: ages };
    },
  };
}
