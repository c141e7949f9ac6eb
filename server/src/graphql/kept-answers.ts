import { type Caller, rightsOf } from '../access/model.ts';
import type { Body } from '../http/routes.ts';

/** Of all that are kept. */
const BYTES = 4_000_000;
/** What one takes beside its own. */
const OVERHEAD = 500;
/** From here on it is kept as bytes. */
const LONG = 2_000;

/**
 * Answers of queries, kept until anything at all is written to the database, and forgotten then. Nothing is kept where others
 * may write unseen. Who asks for the same with the same rights is given the same answer, and so is whoever asks again.
 */
export interface KeptAnswers {
  get(operation: number, caller: Caller): Body | undefined;
  /** To be called before anything is read. What is returned keeps what came of it, if it still holds. */
  reading(operation: number, caller: Caller): (answer: Body) => void;
}

/** @param writes how often anything has been written; null where that is not known */
export function createKeptAnswers(writes: () => number | null): KeptAnswers {
  let asOf = writes();
  /** By what a caller may see, and by the operation. */
  const kept = new Map<string, Map<number, Body>>();
  let bytes = 0;

  function forget(): void {
    kept.clear();
    bytes = 0;
  }

  return {
    get(operation, caller) {
      const now = writes();
      if (now !== asOf) {
        forget();
        asOf = now;
      }
      return kept.get(nameOf(caller))?.get(operation);
    },
    reading(operation, caller) {
      const before = writes();
      return (answer) => {
        if (before === null || before !== asOf || before !== writes()) return;
        if (bytes >= BYTES) forget();
        const name = nameOf(caller);
        const own = kept.get(name) ?? new Map<number, Body>();
        kept.set(name, own);
        // Of two who asked at once the later one has read the same.
        if (own.has(operation)) return;
        own.set(
          operation,
          answer.bytes < LONG ? answer : { ...answer, content: Buffer.from(answer.content) },
        );
        bytes += answer.bytes + name.length + OVERHEAD;
      };
    },
  };
}

const rights = new WeakMap<Caller, string>();

function nameOf(caller: Caller): string {
  let known = rights.get(caller);
  if (known === undefined) {
    known = rightsOf(caller);
    rights.set(caller, known);
  }
  return known;
}
