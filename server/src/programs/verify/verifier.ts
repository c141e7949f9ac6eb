import { type Clock, DAY_MS, plusMs } from '../../kernel/clock.ts';
import { NotFoundError, OutageError } from '../../kernel/errors.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../../state/db/database.ts';
import { DECIDED_LAWS } from './laws/all.ts';
import { FAMILIES, type Family, type Law, type Slice } from './laws/law.ts';
import { MIRROR_LAWS } from './laws/mirror.ts';
import type { Finding, Undecided, Verification, Verifier } from './model.ts';
import { decide, findingOf, textOf } from './statement.ts';
import { type Checkpoint, saveCheckpoint, saveVerified, selectCheckpoint } from './store.ts';
import {
  addChangedByEvents,
  addChangedByTransactions,
  type Changed,
  daysOf,
  nextOf,
  rangeOf,
} from './walks.ts';

/** A statement that takes longer sees fewer rows the next time. */
const MOST_MS = 50;
/** The pause after each statement, which leaves the database to others. */
const PAUSE_MS = 10;
/**
 * The number of rows of the journal or the log, or of resources, that a statement sees. Below `few` its time no longer depends on
 * them, so it sees fewer only after one that was interrupted.
 */
const SIZES = { first: 500, few: 250, least: 1, most: 5_000 };
const MOST_FINDINGS = 1_000;

const JOURNAL = { table: 'ledger_transaction', column: 'number' } as const;
/** The slices of rows with numbers. */
const NUMBERED = { log: { table: 'event', column: 'version' } as const, journal: JOURNAL, names: JOURNAL };

/** The slices that a run from a checkpoint on leaves out: no event and no row of the journal says what has changed in them. */
const SEEN_AS_A_WHOLE: readonly Slice[] = ['hours', 'totals', 'observed', 'upstream_intent'];

/** Creates the service that decides the laws of the books by short statements: each sees one moment. */
export function createVerifier({
  database,
  clock,
  isFacade,
  pause = () =>
    new Promise<void>((resolve) => {
      clock.schedule(plusMs(clock.now(), PAUSE_MS), resolve);
    }),
}: {
  database: Pick<Database, 'sql'>;
  clock: Clock;
  /** Whether another service has the books. */
  isFacade: boolean;
  pause?: () => Promise<void>;
}): Verifier & { stop(): void } {
  const { sql } = database;
  let stopped = false;

  return {
    stop() {
      stopped = true;
    },
    async verify({ accountId, law, sinceLast }) {
      const named = DECIDED_LAWS.find(({ name }) => name === law) ?? null;
      const here = DECIDED_LAWS.filter((each) => isHere(each, isFacade));
      const laws = here.filter((each) => (named ? each === named : !each.onRequest));
      const tenants = await selectTenants(database, accountId);
      const run = createRun({ sql, clock, pause, laws, isStopped: () => stopped });
      const apart = named ? [named] : DECIDED_LAWS.filter((each) => !MIRROR_LAWS.includes(each));
      const left = apart.filter((each) => !here.includes(each));
      if (left.length > 0) run.leaveOut(left, `not in this mode: ${WHERE[isFacade ? 'remote' : 'embedded']}`);
      for (const tenant of tenants) await run.lookAt(tenant, { sinceLast, isWhole: named === null });
      const result = run.result(tenants.length);
      if (accountId === undefined && !stopped) await saveVerified(sql, run.verified(result.endedAt));
      return result;
    },
  };
}

const WHERE = {
  remote: 'the service behind this server has the books',
  embedded: 'this server has the books itself, and no mirror',
};

/** Whether a law is about what this server has. The log is both modes'. */
function isHere(law: Law, isFacade: boolean): boolean {
  const isOfFacade = MIRROR_LAWS.includes(law);
  return law.name === 'log-versions' || law.name === 'log-head' || isOfFacade === isFacade;
}

async function selectTenants(
  { sql }: Pick<Database, 'sql'>,
  accountId: string | undefined,
): Promise<Tenant[]> {
  if (accountId !== undefined) {
    const account = await sql
      .selectFrom('account')
      .select('id')
      .where('id', '=', accountId)
      .executeTakeFirst();
    if (!account) throw new NotFoundError(`Account ${accountId} not found`);
  }
  const rows = await sql
    .selectFrom('stream')
    .select(['account_id', 'environment'])
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .orderBy('account_id')
    .orderBy('environment')
    .execute();
  return rows.map((row) => ({ accountId: row.account_id, environment: row.environment as Environment }));
}

function createRun({
  sql,
  clock,
  pause,
  laws,
  isStopped,
}: {
  sql: Database['sql'];
  clock: Clock;
  pause: () => Promise<void>;
  laws: readonly Law[];
  isStopped: () => boolean;
}) {
  const startedAt = clock.now();
  const findings: Finding[] = [];
  const counts = new Map<string, number>(laws.map(({ name }) => [name, 0]));
  const undecided: Undecided[] = [];
  /** The laws that go on from no checkpoint, and were not decided everywhere. */
  const passedOver = new Set<string>();
  const looked = { transactions: 0, events: 0, resources: 0 };
  const texts = new Map<Slice, string>();
  let statements = 0;
  let slowestMs = 0;

  const lawsOf = (slice: Slice) => laws.filter(({ scope }) => scope.includes(slice));

  function textFor(slice: Slice): string {
    let text = texts.get(slice);
    if (text === undefined) {
      text = textOf(slice, lawsOf(slice));
      texts.set(slice, text);
    }
    return text;
  }

  /** Looks at one tenant. */
  async function lookAt(
    tenant: Tenant,
    { sinceLast, isWhole }: { sinceLast: boolean; isWhole: boolean },
  ): Promise<void> {
    const seen = new Set<string>();
    const before = undecided.length;
    // A law that is asked for by its name is decided on everything.
    const checkpoint = sinceLast && isWhole ? await selectCheckpoint(sql, tenant) : null;
    if (checkpoint)
      for (const slice of SEEN_AS_A_WHOLE) for (const { name } of lawsOf(slice)) passedOver.add(name);
    const last: Checkpoint = checkpoint ?? { number: 0, version: 0, sums: {} };

    /** Decides the laws of a slice in one statement, and returns how long it took and the sums; null if it could not. */
    async function look(
      slice: Slice,
      parameters: readonly unknown[],
      numbers: [number, number] | null,
      isInside?: (row: Record<string, unknown>) => boolean,
    ): Promise<{ ms: number; sums: Record<string, number> } | null> {
      const own = lawsOf(slice);
      const giveUp = (reason: string) => {
        const names = own.map(({ name }) => name);
        undecided.push({ laws: names, account: tenant.accountId, environment: tenant.environment, reason });
        return null;
      };
      if (isStopped()) return giveUp('the server stops');
      await pause();
      const begun = clock.ms();
      try {
        const { rows, sums } = await decide(sql, textFor(slice), [
          tenant.accountId,
          tenant.environment,
          ...parameters,
        ]);
        for (const { law, found } of rows) add(findingOf(own[law]!, tenant, found, numbers, isInside));
        const ms = clock.ms() - begun;
        statements += 1;
        slowestMs = Math.max(slowestMs, ms);
        return { ms, sums };
      } catch (error) {
        if (error instanceof OutageError)
          return giveUp('the database was away, or the statement took too long');
        throw error;
      }
    }

    function add(finding: Finding | null): void {
      const name = finding && `${finding.law} ${finding.key}`;
      if (!finding || seen.has(name!)) return;
      seen.add(name!);
      counts.set(finding.law, counts.get(finding.law)! + 1);
      if (findings.length < MOST_FINDINGS) findings.push(finding);
    }

    /** Looks at rows by their numbers, from one to another; returns whether all of them could be looked at. */
    async function lookThrough(
      slice: keyof typeof NUMBERED,
      { first, head }: { first: number; head: number },
      onSums: (sums: Record<string, number>) => void = () => undefined,
    ): Promise<boolean> {
      if (lawsOf(slice).length === 0 && slice !== 'journal') return true;
      let size = SIZES.first;
      for (let from = first; ; ) {
        const to = Math.min(head, from + size - 1);
        const done = await look(slice, [from, to], [from, to]);
        if (!done && (size === SIZES.least || isStopped())) return false;
        if (done) {
          onSums(done.sums);
          // A number that is wrong may be far from the others.
          const rest = to < head ? await rangeOf(sql, tenant, { ...NUMBERED[slice], after: to }) : null;
          if (!rest || rest.first > head) return true;
          from = rest.first;
        } else undecided.pop();
        size = sizeAfter(size, done?.ms ?? null);
      }
    }

    // ── The log ───────────────────────────────────────────────────────────────────────────────────
    const events = await rangeOf(sql, tenant, { ...NUMBERED.log, after: last.version });
    if (events && (await lookThrough('log', events))) looked.events += events.head - events.first + 1;

    // ── The journal, and the sums of its postings ─────────────────────────────────────────────────
    const sums: Record<string, number> = { ...last.sums };
    let { number } = last;
    const needsSums = isWhole || lawsOf('balances').length > 0;
    let transactions = null as { first: number; head: number } | null;
    let isSummed = true;
    // Until so few are left that the last statement, which sees the balances, is short.
    while (isSummed && (needsSums || lawsOf('journal').length + lawsOf('names').length > 0)) {
      const range = await rangeOf(sql, tenant, { ...NUMBERED.journal, after: number });
      if (!range || (transactions && range.head - range.first < SIZES.first)) break;
      isSummed = await lookThrough('journal', range, (added) => {
        for (const [name, amount] of Object.entries(added)) sums[name] = (sums[name] ?? 0) + amount;
      });
      if (lawsOf('names').length > 0) await lookThrough('names', range);
      looked.transactions += range.head - range.first + 1;
      transactions = { first: transactions?.first ?? range.first, head: range.head };
      number = range.head;
    }
    if (isSummed && lawsOf('balances').length > 0)
      await look('balances', [JSON.stringify(sums), number], transactions && [transactions.first, number]);
    if (lawsOf('account').length > 0) await look('account', [], null);

    // ── The resources ─────────────────────────────────────────────────────────────────────────────
    const changed: Changed | null = checkpoint ? new Map() : null;
    if (changed) {
      for (const range of piecesOf(events)) await addChangedByEvents(changed, sql, tenant, range);
      for (const range of piecesOf(transactions)) await addChangedByTransactions(changed, sql, tenant, range);
    }
    for (const family of FAMILIES)
      if (lawsOf(family).length > 0) await lookAtFamily(family, changed && [...(changed.get(family) ?? [])]);

    async function lookAtFamily(family: Family, ids: readonly string[] | null): Promise<void> {
      let size = SIZES.first;
      let after: readonly (string | number)[] | null = null;
      let start = 0;
      for (;;) {
        const page: { ids: string[]; next: readonly (string | number)[] | null } = ids
          ? { ids: ids.slice(start, start + size), next: start + size < ids.length ? [start + size] : null }
          : await nextOf(sql, tenant, { family, after, limit: size });
        if (page.ids.length === 0) return;
        const done = await look(family, [page.ids], null);
        if (done || size === SIZES.least || isStopped()) {
          if (done) looked.resources += page.ids.length;
          if (page.next === null || isStopped()) return;
          after = page.next;
          start += size;
        } else undecided.pop();
        size = sizeAfter(size, done?.ms ?? null);
      }
    }

    // ── The totals of lists ───────────────────────────────────────────────────────────────────────
    // They change wherever an old row does, so they have no place from which to go on, and need none.
    const isUndecided = undecided.length > before;
    if (!checkpoint) {
      if (lawsOf('totals').length > 0) await look('totals', [], null);
      const days = lawsOf('hours').length > 0 ? await daysOf(sql, tenant) : null;
      if (days) await lookThroughDays(days);
    }

    async function lookThroughDays({ first, until }: { first: Date; until: Date }): Promise<void> {
      let size = 1;
      for (let from = first; from < until; ) {
        const to = plusMs(from, size * DAY_MS);
        const done = await look('hours', [from, to], null, ({ since }) => {
          const at = new Date(String(since));
          return at >= from && at < to;
        });
        if (isStopped()) return;
        if (done || size === 1) from = to;
        else undecided.pop();
        size = done && done.ms < MOST_MS / 3 ? Math.min(32, size * 2) : Math.max(1, Math.floor(size / 2));
      }
    }

    if (!isWhole) return;
    const holds = seen.size === 0 && !isUndecided;
    await saveCheckpoint(sql, tenant, holds ? { number, version: events?.head ?? last.version, sums } : null);
  }

  return {
    lookAt,
    leaveOut(left: readonly Law[], reason: string): void {
      undecided.push({ laws: left.map(({ name }) => name), account: null, environment: null, reason });
    },
    /** The laws that were decided everywhere. */
    verified(verifiedAt: Date) {
      const open = new Set([...passedOver, ...undecided.flatMap((each) => each.laws)]);
      return [...counts]
        .filter(([law, found]) => found > 0 || !open.has(law))
        .map(([law, found]) => ({ law, findings: found, verifiedAt }));
    },
    result(tenants: number): Verification {
      const found = [...counts.values()].reduce((sum, count) => sum + count, 0);
      return {
        holds: found === 0 && undecided.length === 0,
        findings,
        found,
        undecided,
        looked: { tenants, ...looked },
        statements,
        slowestMs,
        startedAt,
        endedAt: clock.now(),
      };
    },
  };
}

/** The number of rows of the next statement, by the time that the last one took; null if it did not end. */
function sizeAfter(size: number, ms: number | null): number {
  if (ms === null) return Math.max(SIZES.least, Math.floor(size / 2));
  if (ms > MOST_MS) return Math.min(size, Math.max(SIZES.few, Math.floor(size / 2)));
  return ms < MOST_MS / 3 ? Math.min(SIZES.most, size * 2) : size;
}

/** Divides a range into those that one statement reads. */
function piecesOf(range: { first: number; head: number } | null): [from: number, to: number][] {
  if (range === null) return [];
  const count = Math.ceil((range.head - range.first + 1) / SIZES.most);
  return Array.from({ length: count }, (_, nth) => {
    const from = range.first + nth * SIZES.most;
    return [from, Math.min(range.head, from + SIZES.most - 1)];
  });
}
