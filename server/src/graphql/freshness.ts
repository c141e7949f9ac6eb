import { type Caller, isPayer } from '../access/model.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Requester } from '../kernel/requester.ts';
import type { Loaders } from './context.ts';

/** The age of the data of a response, or of one of its root fields. */
export interface Age {
  /** The age of the oldest part; null where nothing was read from the service. */
  ageSeconds: number | null;
  /** Whether a newer part was wanted and could not be read. */
  stale: boolean;
}

/** The reads of an operation, of a root field or of a batch of a loader. */
class Reads {
  #parts: Set<Reads> | null = null;
  #oldest: number | null = null;
  #stale = false;

  note(at: Date, stale: boolean): void {
    const ms = at.getTime();
    if (this.#oldest === null || ms < this.#oldest) this.#oldest = ms;
    this.#stale ||= stale;
  }

  /** Adds reads that may still be under way. */
  include(part: Reads): void {
    this.#parts ??= new Set();
    this.#parts.add(part);
  }

  ageAt(nowMs: number): Age {
    let oldest = this.#oldest;
    let stale = this.#stale;
    for (const part of this.#parts ?? []) {
      if (oldest === null || (part.#oldest !== null && part.#oldest < oldest)) oldest = part.#oldest;
      stale ||= part.#stale;
    }
    return { ageSeconds: oldest === null ? null : Math.max(0, (nowMs - oldest) / 1_000), stale };
  }
}

/** Records how old the data of one operation is, as a whole and by root field. */
export interface Freshness {
  /** Reads for the operation as a whole. */
  requester: Requester;
  /** Returns the requester of one batch of a loader, whose reads count for each root field that loads one of the keys. */
  batch(loader: string, keys: readonly string[]): Requester;
  /** Returns the requester of a root field, and the loaders that it shares with the others. */
  field(responseKey: string, loaders: Loaders): { requester: Requester; loaders: Loaders };
  state(): Age & { fields: Record<string, Age> };
}

/** The requester of a caller's reads. */
export function requesterOf(caller: Caller | null, onRead: Requester['onRead']): Requester {
  const credential = caller?.credential;
  return {
    priority: caller && isPayer(caller) ? 'payer' : 'merchant',
    subject: credential && credential.kind !== 'api_key' ? credential.id : null,
    onRead,
  };
}

export function createFreshness(caller: Caller | null, clock: Clock): Freshness {
  const whole = new Reads();
  const fields = new Map<string, Reads>();
  /** The reads of each key that a loader has loaded. */
  const batches = new Map<string, Reads>();
  const noting = (reads: Reads) =>
    requesterOf(caller, (at, stale) => {
      reads.note(at, stale);
      if (reads !== whole) whole.note(at, stale);
    });
  return {
    requester: noting(whole),
    batch(loader, keys) {
      const reads = new Reads();
      for (const key of keys) batches.set(`${loader} ${key}`, reads);
      return noting(reads);
    },
    field(responseKey, loaders) {
      const reads = new Reads();
      fields.set(responseKey, reads);
      const onLoaded = (loader: string, key: string) => {
        const batch = batches.get(`${loader} ${key}`);
        if (batch) reads.include(batch);
      };
      return { requester: noting(reads), loaders: observeLoaders(loaders, onLoaded) };
    },
    state() {
      const nowMs = clock.ms();
      // An alias may be `__proto__`.
      const ages: Record<string, Age> = Object.create(null);
      for (const [responseKey, reads] of fields) ages[responseKey] = reads.ageAt(nowMs);
      return { ...whole.ageAt(nowMs), fields: ages };
    },
  };
}

/** Wraps loaders: `onLoaded` is called with the loader and the key of each value before it is returned. */
function observeLoaders(loaders: Loaders, onLoaded: (loader: string, key: string) => void): Loaders {
  return new Proxy(loaders, {
    get(target, name: keyof Loaders & string) {
      const loader = target[name];
      return {
        load(key: string) {
          const value: Promise<unknown> = loader.load(key);
          const note = () => onLoaded(name, key);
          value.then(note, note);
          return value;
        },
        clearAll: () => loader.clearAll(),
      };
    },
  });
}
