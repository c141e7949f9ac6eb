import type { Violation } from './violation.ts';

/** A seed that broke a law. */
export interface Failure extends Violation {
  seed: number;
  /** The first after which the books, or an answer, break it; null where only the audit at the end has seen it. */
  step: number | null;
}

/** Lists a number of seeds, each the next of the one before. */
export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => first + n);
}

/** The command that shows it again. */
export function textOfFailure(failure: Failure): string {
  return withCommand(failure, `--seed ${failure.seed}`);
}

/** The same of a story of facades. */
export function textOfStoryFailure(failure: Failure): string {
  return withCommand(failure, `--facade --seed ${failure.seed}`);
}

function withCommand({ seed, step, law, what }: Failure, options: string): string {
  return `seed ${seed}, ${step === null ? 'at the end' : `step ${step}`}: ${law}\n  ${what}\n  npm run sim -- ${options}`;
}
