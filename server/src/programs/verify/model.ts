import { z } from 'zod';
import type { Environment } from '../../kernel/tenant.ts';
import { plainText } from '../../kernel/text.ts';
import { DECIDED_LAWS } from './laws/all.ts';

const LAW_NAMES = DECIDED_LAWS.map(({ name }) => name);

export const verifyInput = z.strictObject({
  /** The account; all accounts without it. */
  accountId: plainText({ max: 255 }).optional(),
  /** The name of the only law to decide. */
  law: z.enum(LAW_NAMES, `must be one of ${LAW_NAMES.join(', ')}`).optional(),
  /** Whether only what has changed since the last run without a finding is looked at. */
  sinceLast: z.boolean().default(false),
});

/** Something that breaks a law. It has ids, statuses, amounts and instants alone. */
export interface Finding {
  law: string;
  account: string;
  environment: Environment;
  /** The id or the name of what breaks it. */
  key: string;
  /** The law in words. */
  expected: string;
  /** The values that were found. */
  found: Record<string, string | number | boolean | null>;
  /** The first and the last number of the journal, or version of the log, that the statement saw; null for other rows. */
  numbers: [from: number, to: number] | null;
}

/** Laws that could not be decided, and the reason. */
export interface Undecided {
  laws: string[];
  account: string | null;
  environment: Environment | null;
  reason: string;
}

export interface Verification {
  /** Whether every law was decided and none is broken. */
  holds: boolean;
  /** The first 1,000. */
  findings: Finding[];
  /** All of them. */
  found: number;
  undecided: Undecided[];
  /** The number of rows that were looked at. */
  looked: { tenants: number; transactions: number; events: number; resources: number };
  statements: number;
  /** The duration of the slowest statement. */
  slowestMs: number;
  startedAt: Date;
  endedAt: Date;
}

/** Looks whether the books obey their laws. It changes none of their rows. */
export interface Verifier {
  /** @throws NotFoundError (no such account) */
  verify(input: z.output<typeof verifyInput>): Promise<Verification>;
}

/** The number of findings of each law, and when it was last looked at in all accounts. */
export interface VerifiedLaw {
  law: string;
  findings: number;
  verifiedAt: Date;
}
