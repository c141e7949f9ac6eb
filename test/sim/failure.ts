import type { Violation } from './violation.ts';

/** A seed that broke a law. */
export interface Failure extends Violation {
  seed: number;
  /** The step after which the tables or an answer break the law; null if only the audit at the end has found it. */
  step: number | null;
}

/** Lists this number of seeds, from the first on. */
export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => first + n);
}

/** The command that repeats the failure. */
export function textOfFailure(failure: Failure): string {
  return withCommand(failure, `--seed ${failure.seed}`);
}

/** The command that repeats the failure of a story of facades. */
export function textOfStoryFailure(failure: Failure): string {
  return withCommand(failure, `--facade --seed ${failure.seed}`);
}

function withCommand({ seed, step, law, what }: Failure, options: string): string {
  return `seed ${seed}, ${step === null ? 'at the end' : `step ${step}`}: ${law}\n  ${what}\n  npm run sim -- ${options}`;
}
