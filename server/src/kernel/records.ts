import { z } from 'zod';
import { instantText } from './instant.ts';

/**
 * Records that end before the present because the database went back: it was restored from a backup or a
 * disk's snapshot, or the promoted standby lacked the last commits.
 */
export interface Behind {
  /** The instant after which records may be missing. */
  since: Date;
  /** The instant at which the mark was set: records of later requests are there. */
  until: Date;
  cause: BehindCause;
}

/** The time whose records a database that went back lacks. */
export type Gap = Pick<Behind, 'since' | 'until'>;

export const BEHIND_CAUSES = ['backup', 'timeline', 'operator'] as const;
export type BehindCause = (typeof BEHIND_CAUSES)[number];

export const BEHIND_IN_WORDS: Record<BehindCause, string> = {
  backup: 'restored from a backup',
  timeline: 'PostgreSQL has a new timeline: a standby was promoted, or it was restored',
  operator: 'marked by hand',
};

/** Explains to a caller why a request that this server does not know may have been made. */
export function describeBehind(since: Date): string {
  return `this server was restored, and lacks what came after ${since.toISOString()}`;
}

export const restoredInput = z.strictObject({
  since: instantText.optional(),
  confirm: z.boolean().optional(),
});

/** Shows and sets the mark, for the operator of the server. */
export interface RecordsAdministration {
  /**
   * Marks the records as behind since an instant, or removes the mark; with neither input it shows the mark.
   * `ended`: the removed mark.
   * @throws ValidationError
   */
  restored(input: z.output<typeof restoredInput>): Promise<{ behind: Behind | null; ended: Behind | null }>;
}
