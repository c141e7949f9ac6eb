import type { Clock } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../../state/db/database.ts';
import type { Law, Slice } from './laws/law.ts';
import type { Finding, Undecided, Verification, VerifiedLaw } from './model.ts';
import type { Pace } from './pace.ts';
import { PAUSE_MS, type Patiently } from './patience.ts';
import type { Piece } from './pieces.ts';
import { decide, findingOf, textOf } from './statement.ts';

const MOST_FINDINGS = 1_000;

/** The laws and the findings of one tenant's books. */
export interface Looker {
  /** Whether a law that is decided needs this slice of the books. */
  needs(slice: Slice): boolean;
  /** Decides the laws of a slice, piece by piece and some of them at once. Returns whether all of them could be decided. */
  lookThrough(pieces: AsyncIterable<Piece> | Iterable<Piece>): Promise<boolean>;
  /** Counts the laws of a slice as not decided. */
  giveUp(slice: Slice, reason: string): void;
  /** Whether something breaks a law; null if nothing was found and something was not decided. */
  isBroken(): boolean | null;
}

/** Decides laws by short statements, and keeps what was found. */
export function createRun({
  database,
  clock,
  pace,
  pause,
  patiently,
  laws,
  isStopped,
}: {
  database: Pick<Database, 'engine' | 'transaction' | 'maintenance'>;
  clock: Clock;
  pace: Pace;
  pause: (ms: number) => Promise<void>;
  patiently: Patiently;
  laws: readonly Law[];
  isStopped: () => boolean;
}) {
  const startedAt = clock.now();
  const findings: Finding[] = [];
  const counts = new Map<string, number>(laws.map(({ name }) => [name, 0]));
  const undecided: Undecided[] = [];
  const texts = new Map<Slice, string>();
  let statements = 0;
  let slowestMs = 0;

  const lawsOf = (slice: Slice) => laws.filter(({ scope }) => scope.includes(slice));

  function textFor(slice: Slice): string {
    let text = texts.get(slice);
    if (text === undefined) {
      const own = lawsOf(slice);
      // PostgreSQL plans a statement with a name once a connection. PGlite's connection would keep all plans for ever.
      const of = own.length > 1 ? 'all' : (own[0]?.name ?? 'sums');
      const name = `verify_${slice}_${of}`.replaceAll('-', '_');
      text = `${database.engine === 'postgres' ? `/* ${name} */ ` : ''}${textOf(slice, own)}`;
      texts.set(slice, text);
    }
    return text;
  }

  function lookerOf(tenant: Tenant): Looker {
    const seen = new Set<string>();
    const given = new Set<Slice>();

    function add(finding: Finding | null): void {
      const name = finding && `${finding.law} ${finding.key}`;
      if (!finding || seen.has(name!)) return;
      seen.add(name!);
      counts.set(finding.law, counts.get(finding.law)! + 1);
      if (findings.length < MOST_FINDINGS) findings.push(finding);
    }

    function giveUp(slice: Slice, reason: string): void {
      const names = lawsOf(slice).map(({ name }) => name);
      if (given.has(slice)) return;
      given.add(slice);
      if (names.length > 0)
        undecided.push({ laws: names, account: tenant.accountId, environment: tenant.environment, reason });
    }

    /** Decides the laws of a piece in one statement. */
    async function look(
      { slice, parameters, rows, numbers = null, isInside, onDone }: Piece,
      on: Pick<Database, 'transaction'>,
    ) {
      const own = lawsOf(slice);
      const begun = clock.ms();
      pace.count();
      const whole = [tenant.accountId, tenant.environment, ...parameters];
      const { found, sums } = await decide(on, textFor(slice), whole);
      for (const { law, row } of found) add(findingOf(own[law]!, tenant, row, numbers, isInside));
      const ms = clock.ms() - begun;
      pace.learn(slice, rows, ms);
      statements += 1;
      slowestMs = Math.max(slowestMs, ms);
      onDone?.(rows, sums);
    }

    /** Decides a piece, or its halves if it takes too long; what cannot be divided gets all the time that it needs. */
    async function lookAt(piece: Piece): Promise<void> {
      const { slice } = piece;
      if (given.has(slice)) return;
      if (isStopped()) return giveUp(slice, 'the server stops');
      await pace.rest();
      try {
        return await look(piece, database);
      } catch (error) {
        if (!(error instanceof OutageError)) throw error;
      }
      await pause(PAUSE_MS);
      const halves = piece.halves?.() ?? [];
      for (const half of halves) await lookAt(half);
      if (halves.length > 0) return;
      try {
        await patiently(() => database.maintenance((connection) => look(piece, connection)));
      } catch (error) {
        if (!(error instanceof OutageError)) throw error;
        giveUp(slice, 'the database was away');
      }
    }

    async function lookThrough(pieces: AsyncIterable<Piece> | Iterable<Piece>): Promise<boolean> {
      const running = new Set<Promise<void>>();
      const slices = new Set<Slice>();
      const errors: unknown[] = [];
      try {
        for await (const piece of pieces) {
          slices.add(piece.slice);
          if (errors.length > 0 || given.has(piece.slice)) break;
          while (running.size >= pace.lanes()) await Promise.race(running);
          const done: Promise<void> = lookAt(piece)
            .catch((error: unknown) => {
              errors.push(error);
            })
            .finally(() => running.delete(done));
          running.add(done);
        }
      } finally {
        // Running statements end first: the caller may close the database after a failure.
        await Promise.all(running);
      }
      if (errors.length > 0) throw errors[0];
      return ![...slices].some((slice) => given.has(slice));
    }

    return {
      needs: (slice) => lawsOf(slice).length > 0,
      lookThrough,
      giveUp,
      isBroken: () => seen.size > 0 || (given.size > 0 ? null : false),
    };
  }

  return {
    lookerOf,
    leaveOut(left: readonly Law[], reason: string): void {
      undecided.push({ laws: left.map(({ name }) => name), account: null, environment: null, reason });
    },
    /** The laws that were decided everywhere. */
    verified(verifiedAt: Date): VerifiedLaw[] {
      const open = new Set(undecided.flatMap((each) => each.laws));
      return [...counts]
        .filter(([law, found]) => found > 0 || !open.has(law))
        .map(([law, found]) => ({ law, findings: found, verifiedAt }));
    },
    result(looked: Verification['looked']): Verification {
      const found = [...counts.values()].reduce((sum, count) => sum + count, 0);
      return {
        holds: found === 0 && undecided.length === 0,
        findings,
        found,
        undecided,
        looked,
        statements,
        slowestMs,
        startedAt,
        endedAt: clock.now(),
      };
    },
  };
}
