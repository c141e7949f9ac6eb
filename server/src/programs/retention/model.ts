import type { Tenant } from '../../kernel/tenant.ts';

// The rows that are removed by their age. Everything else is kept for good: the books, the resources, the keys of requests.

/** The kinds of rows that are removed: events of the log, webhook deliveries, the headers and answers of their attempts, ended tokens with the console's sessions. */
export const KEPT = ['events', 'deliveries', 'bodies', 'tokens'] as const;
export type Kept = (typeof KEPT)[number];

/** The days for which each kind is kept; null means for good. */
export type Keep = Readonly<Record<Kept, number | null>>;

export const DEFAULT_KEEP: Keep = { events: 90, deliveries: 90, bodies: 14, tokens: 90 };
export const KEEP_ALL: Keep = { events: null, deliveries: null, bodies: null, tokens: null };

/** The fewest days. A client that was away for a month follows the log from where it was. */
export const LEAST_DAYS: Readonly<Record<Kept, number>> = { events: 30, deliveries: 1, bodies: 1, tokens: 1 };
const MOST_DAYS = 36_500;

/**
 * Reads the text of `PSA_KEEP`, such as `events:90d,tokens:forever`. What it leaves out is kept as by default. Null if a
 * part is not known, comes twice, or has too few days.
 */
export function parseKeep(text: string): Keep | null {
  if (text.trim() === FOREVER) return KEEP_ALL;
  const given: Partial<Record<Kept, number | null>> = {};
  for (const part of text.split(',')) {
    const [, name, days] = PART.exec(part.trim()) ?? [];
    const kept = KEPT.find((each) => each === name);
    if (kept === undefined || kept in given) return null;
    given[kept] = days === undefined ? null : Number(days);
    if (days !== undefined && (Number(days) < LEAST_DAYS[kept] || Number(days) > MOST_DAYS)) return null;
  }
  return { ...DEFAULT_KEEP, ...given };
}

const FOREVER = 'forever';
const PART = /^([a-z]+):(?:([0-9]{1,5})d|forever)$/;

/** The days for which rows of an account are kept, and the part of its log that is left. */
export interface Retention extends Keep {
  /** The instant from which the log is whole; null if nothing has gone. */
  eventsFrom: Date | null;
}

export interface RetentionService {
  read(tenant: Tenant): Promise<Retention>;
}
