import { IdempotencyError, OutageError, PaymentError } from '../../server/src/kernel/errors.ts';
import type { Environment } from '../../server/src/kernel/tenant.ts';
import { CommitOutcomeUnknown, NoConnection } from '../../server/src/state/db/database.ts';
import { Injected } from './gate.ts';
import type { Violation } from './violation.ts';

/** Resources that a request can create, and that an audit finds in the tables. */
export type Made =
  | 'createCardPayment'
  | 'startCheckout'
  | 'createPayment'
  | 'startPixCheckout'
  | 'createCharge'
  | 'createSubscription'
  | 'refund'
  | 'requestPayout'
  | 'requestSubaccountPayout'
  | 'transferToSubaccount'
  | 'createSubaccount'
  | 'createProduct'
  | 'createTestPayment'
  | 'openDispute'
  | 'credit'
  | 'creditLtc';

/** A request, which may be repeated. */
export interface Request {
  made: Made;
  environment: Environment;
  /** A unique amount or name, which identifies its effect. */
  mark: string;
  /** The key with its scope, or null; the same key may be used again, also for something else. */
  key: string | null;
  ask(): Promise<{ id: string; replayed?: boolean }>;
}

/** `unknown`: the connection was lost around COMMIT; `fault`: certainly not done. */
export type Answer =
  | { kind: 'done'; id: string; replayed: boolean }
  | { kind: 'refused'; why: string }
  | { kind: 'unknown' }
  | { kind: 'fault' };

/** Requests whose answer is the same for a first request and for a repeated one. */
const CHECKOUTS: readonly Made[] = ['startCheckout', 'startPixCheckout'];
/** Requests that call the bank after their commit: a fault may follow the creation. */
const WITH_A_CODE: readonly Made[] = [
  ...['createPayment', 'startPixCheckout', 'createCharge', 'createSubscription'],
] as Made[];

/** A row that a request has created. */
export interface Effect {
  made: Made;
  environment: Environment;
  id: string;
  mark: string;
  status: string | null;
}

/** The answers to callers, which are compared with later answers, and in the end with the tables. */
export interface Requests {
  make(request: Request): Promise<Answer>;
  /** Sends a request that creates nothing; `reported` gets its outcome. */
  attempt(what: string, act: () => Promise<string>, reported: (outcome: string) => void): Promise<void>;
  /** Records the final status that a payment must have. */
  expectStatus(orderCode: string, statuses: readonly string[]): void;
  isExpected(orderCode: string): boolean;
  /** Records that the resource may be deleted from now on, or must be. */
  mayGo(made: Made, environment: Environment, id: string): void;
  mustGo(made: Made, environment: Environment, id: string): void;
  /** Requests with a key, each once: the acknowledged one, or the first if no answer was certain. */
  keyed(): Request[];
  /** Reports a violation if the tables differ from the acknowledged requests. */
  compare(effects: readonly Effect[]): void;
}

interface Keyed {
  request: Request;
  /** The marks of all requests with the key. */
  marks: Set<string>;
  reported: { id: string; mark: string; since: number } | null;
  fresh: number;
}

export function createRequests(broken: (violation: Violation) => void): Requests {
  const keys = new Map<string, Keyed>();
  const acknowledged = new Map<string, string>();
  const inDoubt = new Set<string>();
  const mayBeGone = new Set<string>();
  const mustBeGone = new Set<string>();
  const statuses = new Map<string, readonly string[]>();
  let now = 0;

  function keyOf({ made, key, environment }: Request): Keyed | null {
    return key === null ? null : (keys.get(`${environment} ${made} ${key}`) ?? null);
  }

  function remember(request: Request): void {
    if (request.key === null) return;
    const name = `${request.environment} ${request.made} ${request.key}`;
    const known = keys.get(name);
    if (known) known.marks.add(request.mark);
    else keys.set(name, { request, marks: new Set([request.mark]), reported: null, fresh: 0 });
  }

  function done(request: Request, id: string, replayed: boolean): void {
    const { made, environment, mark } = request;
    const keyed = keyOf(request);
    const effect = `${environment} ${made} ${id}`;
    const before = acknowledged.get(effect);
    const what = `${made} ${mark} with key ${request.key}: ${id}`;
    if (keyed?.reported && (keyed.reported.id !== id || keyed.reported.mark !== mark))
      broken({
        law: 'a key gives the same answer again',
        what: `${what}, before ${JSON.stringify(keyed.reported)}`,
      });
    if (before !== undefined && before !== mark)
      broken({ law: 'one effect answers one request', what: `${what}, before ${before}` });
    if (before !== undefined && request.key === null)
      broken({ law: 'without a key each request has an effect of its own', what });
    if (keyed && !replayed && made !== 'openDispute' && made !== 'credit' && made !== 'creditLtc') {
      keyed.fresh += 1;
      if (keyed.fresh > 1 && !CHECKOUTS.includes(made))
        broken({ law: 'a key has one effect', what: `${what} is new, and so was one before` });
    }
    acknowledged.set(effect, mark);
    inDoubt.delete(`${environment} ${made} ${mark}`);
    if (!keyed || keyed.reported) return;
    keyed.reported = { id, mark, since: now };
    keyed.request = request;
  }

  /** Whether an error is a planted fault; any other breaks a law. */
  function isFault(error: unknown, what: string): boolean {
    if (error instanceof Injected || error instanceof NoConnection || error instanceof OutageError)
      return true;
    if (error instanceof PaymentError) return false;
    broken({ law: 'nothing fails but by a fault', what: `${what}: ${(error as Error).stack}` });
    return true;
  }

  return {
    async make(request) {
      remember(request);
      const { made, environment, mark } = request;
      now += 1;
      const begun = now;
      try {
        const { id, replayed = false } = await request.ask();
        now += 1;
        done(request, id, replayed);
        return { kind: 'done', id, replayed };
      } catch (error) {
        now += 1;
        const reported = keyOf(request)?.reported;
        if (error instanceof CommitOutcomeUnknown) {
          if (reported?.mark !== mark) inDoubt.add(`${environment} ${made} ${mark}`);
          return { kind: 'unknown' };
        }
        if (isFault(error, made)) {
          if (WITH_A_CODE.includes(made) && reported?.mark !== mark)
            inDoubt.add(`${environment} ${made} ${mark}`);
          return { kind: 'fault' };
        }
        const { code, message } = error as PaymentError;
        if (reported && reported.since < begun && reported.mark === mark)
          broken({
            law: 'a key gives the same answer again',
            what: `${made} ${mark} with key ${request.key}: ${message}, before ${JSON.stringify(reported)}`,
          });
        if (error instanceof IdempotencyError && keyOf(request)!.marks.size < 2)
          broken({ law: 'only another input is refused for its key', what: `${made} ${mark}` });
        return { kind: 'refused', why: code };
      }
    },

    async attempt(what, act, reported) {
      try {
        reported(await act());
      } catch (error) {
        if (error instanceof CommitOutcomeUnknown) reported('unknown');
        else reported(isFault(error, what) ? 'fault' : `refused: ${(error as PaymentError).code}`);
      }
    },

    expectStatus: (orderCode, allowed) => void statuses.set(orderCode, allowed),
    isExpected: (orderCode) => statuses.has(orderCode),
    mayGo: (made, environment, id) => void mayBeGone.add(`${environment} ${made} ${id}`),
    mustGo: (made, environment, id) => void mustBeGone.add(`${environment} ${made} ${id}`),

    keyed: () => [...keys.values()].map(({ request }) => request),

    compare(effects) {
      const found = new Set<string>();
      const marks = new Set<string>();
      for (const { made, environment, id, mark, status } of effects) {
        const effect = `${environment} ${made} ${id}`;
        if (found.has(effect)) broken({ law: 'each effect is there once', what: effect });
        found.add(effect);
        const marked = `${environment} ${made} ${mark}`;
        if (marks.has(marked))
          broken({ law: 'each effect is there once', what: `${marked} is ${id} and another` });
        marks.add(marked);
        if (mustBeGone.has(effect)) broken({ law: 'what was deleted is gone', what: effect });
        const allowed = statuses.get(id);
        if (allowed && status !== null && !allowed.includes(status))
          broken({
            law: 'what was paid or refunded stays so',
            what: `${effect} is ${status}, not ${allowed}`,
          });
        const reported = acknowledged.get(effect);
        if (reported === undefined && !inDoubt.has(marked))
          broken({
            law: 'nothing is there that was refused, or asked for by nobody',
            what: `${effect} ${mark}`,
          });
        if (reported !== undefined && reported !== mark)
          broken({
            law: 'what is there is what was acknowledged',
            what: `${effect}: ${mark}, not ${reported}`,
          });
      }
      for (const [effect, mark] of acknowledged)
        if (!found.has(effect) && !mayBeGone.has(effect))
          broken({ law: 'what was acknowledged is there', what: `${effect} ${mark}` });
    },
  };
}
