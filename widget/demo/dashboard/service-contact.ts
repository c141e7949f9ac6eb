// How old the page's data is in front of another service, which a facade asks: that service may be slow, away, or refuse the key.

/** The extension of each answer of a facade. */
export interface UpstreamAges {
  keyRefused?: boolean;
  /** The age of each root field; null if nothing was read from the service. */
  fields: Readonly<Record<string, { ageSeconds: number | null; stale: boolean }>>;
}

/** The last reading of a part. */
interface Reading {
  /** The time at which the service gave it, in milliseconds. */
  atMs: number;
  /** Whether a newer one was wanted since, and not given. */
  isStale: boolean;
}

export interface OldData {
  /** The parts that are old; the wallet, where the service has not answered at all. */
  parts: readonly string[];
  /** The time of the oldest of them. */
  since: Date;
}

/** The time for which an answer is waited for before the wallet counts as old: a slow service takes some seconds. */
const PATIENCE_MS = 10_000;

export class ServiceContact {
  /** Whether a service stands behind the server, as its first answer shows. */
  isFacade = false;
  /** Whether that service refuses the server's key. */
  isKeyRefused = false;
  readonly #readings = new Map<string, Reading>();
  /** The time at which the wallet was asked for; null if an answer has come. */
  #walletAskedAt: number | null = null;

  /** Takes the ages of an answer at `now`, with the root fields that failed in it. */
  note(ages: UpstreamAges, failed: readonly string[], now: Date): void {
    this.isFacade = true;
    this.isKeyRefused = ages.keyRefused ?? false;
    if ('wallet' in ages.fields) this.#walletAskedAt = null;
    for (const [part, { ageSeconds, stale }] of Object.entries(ages.fields))
      if (ageSeconds !== null)
        this.#readings.set(part, { atMs: now.getTime() - ageSeconds * 1_000, isStale: stale });
    for (const part of failed) this.fail(part);
  }

  askWallet(now: Date): void {
    this.#walletAskedAt = now.getTime();
  }

  /** A part could not be read again: what is shown of it is what was read before. */
  fail(part: string): void {
    const reading = this.#readings.get(part);
    if (reading) reading.isStale = true;
    if (part === 'wallet') this.#walletAskedAt = null;
  }

  /** Whether the last read of the wallet has reached the service. */
  get isReached(): boolean {
    return this.#readings.get('wallet')?.isStale === false;
  }

  /** Whether parts are stale that only their own query reads again. */
  get hasStaleLists(): boolean {
    return [...this.#readings].some(([part, { isStale }]) => isStale && part !== 'wallet');
  }

  /** Returns what is old at `now`; null if all is as the service has it. */
  oldAt(now: Date): OldData | null {
    const waitsLong = this.#walletAskedAt !== null && now.getTime() - this.#walletAskedAt > PATIENCE_MS;
    const old = [...this.#readings].filter(
      ([part, { isStale }]) => isStale || (part === 'wallet' && waitsLong),
    );
    if (old.length === 0) return null;
    const since = new Date(Math.min(...old.map(([, { atMs }]) => atMs)));
    return { parts: old.map(([part]) => part), since };
  }
}

/** Whether the service gives nothing at all: the wallet, the page's first figures, is old. */
export const isCutOff = (old: OldData | null): boolean => old?.parts.includes('wallet') ?? false;
