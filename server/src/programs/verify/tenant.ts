import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { changedDays, changedSince } from './changes.ts';
import { FAMILIES, type Family } from './laws/law.ts';
import type { Verification } from './model.ts';
import type { Pace } from './pace.ts';
import type { Read } from './patience.ts';
import {
  type Piece,
  pieceOfDays,
  pieceOfIds,
  pieceOfNumbers,
  pieceOfOne,
  pieceOfTotals,
  type Sums,
} from './pieces.ts';
import type { Looker } from './run.ts';
import { COUNTED_LISTS } from './slices.ts';
import type { Checkpoint } from './store.ts';
import { daysOf, JOURNAL, LOG, nextOf, partsOf, type Range, rangeOf, SIGHTINGS } from './walks.ts';

/** So few rows of the journal are left to the statement that sees the balances. */
const FEW = 500;

/** The slices of rows with numbers. */
const NUMBERED = { log: LOG, journal: JOURNAL, names: JOURNAL, sightings: SIGHTINGS };

/** Looks at the books of a tenant, from a checkpoint on or from the beginning. Returns the place at which it ends. */
export async function lookAtTenant(
  tenant: Tenant,
  {
    read,
    looker,
    pace,
    looked,
    checkpoint,
    isFacade,
    isWhole,
  }: {
    read: Read;
    looker: Looker;
    pace: Pace;
    /** Counts what was looked at. */
    looked: Verification['looked'];
    checkpoint: Checkpoint | null;
    isFacade: boolean;
    /** Whether every law is decided. */
    isWhole: boolean;
  },
): Promise<Checkpoint> {
  const last: Checkpoint = checkpoint ?? { number: 0, version: 0, sums: {}, sighting: 0 };
  const { needs, lookThrough } = looker;

  // ── The log ─────────────────────────────────────────────────────────────────────────────────────
  const events = await rangeOf(read, tenant, LOG, last.version);
  if (events && needs('log'))
    await lookThrough(
      inPieces('log', events, (rows) => {
        looked.events += rows;
      }),
    );

  // ── The journal, and the sums of its postings ───────────────────────────────────────────────────
  const sums: Record<string, number> = { ...last.sums };
  const add = (rows: number, added: Sums) => {
    looked.transactions += rows;
    for (const [name, amount] of Object.entries(added)) sums[name] = (sums[name] ?? 0) + amount;
  };
  const needsSums = isWhole || needs('balances');
  let transactions = null as Range | null;
  let isSummed = true;
  // Until so few are left that the last statement, which sees the balances, is short.
  while (isSummed && (needsSums || needs('journal') || needs('names'))) {
    const range = await rangeOf(read, tenant, JOURNAL, transactions?.head ?? last.number);
    if (!range || (transactions && range.head - range.first < FEW)) break;
    isSummed = await lookThrough(inPieces('journal', range, add));
    if (needs('names')) await lookThrough(inPieces('names', range));
    transactions = { first: transactions?.first ?? range.first, head: range.head };
  }
  const number = transactions?.head ?? last.number;
  if (!isSummed) looker.giveUp('balances', 'the journal could not be read');
  else if (needs('balances'))
    await lookThrough([
      pieceOfOne('balances', [JSON.stringify(sums), number], transactions && [transactions.first, number]),
    ]);
  if (needs('account')) await lookThrough([pieceOfOne('account')]);

  // ── The statement of what was seen ──────────────────────────────────────────────────────────────
  const sightings = needs('sightings') ? await rangeOf(read, tenant, SIGHTINGS, last.sighting) : null;
  if (sightings)
    await lookThrough(
      inPieces('sightings', sightings, (rows) => {
        looked.resources += rows;
      }),
    );

  // ── The resources ───────────────────────────────────────────────────────────────────────────────
  const changed = checkpoint && (await changedSince(read, tenant, { events, transactions, isFacade }));
  for (const family of FAMILIES)
    if (needs(family))
      await lookThrough(
        inPages(family, changed && family !== 'upstream_intent' ? [...(changed.get(family) ?? [])] : null),
      );

  // ── The totals of lists ─────────────────────────────────────────────────────────────────────────
  if (needs('hours'))
    await lookThrough(inDays(changed ? await changedDays(read, tenant, changed) : await everyDay()));
  if (needs('totals')) await lookThrough([pieceOfTotals(COUNTED_LISTS)]);
  return {
    ...{ number, sums },
    version: events?.head ?? last.version,
    sighting: sightings?.head ?? last.sighting,
  };

  async function* inPieces(
    slice: keyof typeof NUMBERED,
    range: Range,
    onDone: NonNullable<Piece['onDone']> = () => undefined,
  ): AsyncGenerator<Piece> {
    const size = () => pace.rowsOf(slice);
    for await (const { first, head } of partsOf(read, tenant, NUMBERED[slice], { range, size }))
      yield pieceOfNumbers(slice, [first, head], onDone);
  }

  async function* inPages(family: Family, ids: readonly string[] | null): AsyncGenerator<Piece> {
    const onDone = (rows: number) => {
      looked.resources += rows;
    };
    let after: readonly (string | number)[] | null = null;
    for (let start = 0; ; ) {
      const limit = pace.rowsOf(family);
      const page: Awaited<ReturnType<typeof nextOf>> = ids
        ? { ids: ids.slice(start, start + limit), next: start + limit < ids.length ? [start + limit] : null }
        : await nextOf(read, tenant, { family, after, limit });
      if (page.ids.length > 0) yield pieceOfIds(family, page.ids, onDone);
      if (page.next === null) return;
      after = page.next;
      start += limit;
    }
  }

  async function everyDay(): Promise<Date[]> {
    const days = await daysOf(read, tenant);
    if (!days) return [];
    const { first, until } = days;
    const count = Math.round((until.getTime() - first.getTime()) / DAY_MS);
    return Array.from({ length: count }, (_, nth) => plusMs(first, nth * DAY_MS));
  }

  function* inDays(days: readonly Date[]): Generator<Piece> {
    for (let start = 0; start < days.length; ) {
      const most = Math.min(days.length, start + pace.rowsOf('hours'));
      let end = start + 1;
      while (end < most && days[end]!.getTime() === days[end - 1]!.getTime() + DAY_MS) end += 1;
      yield pieceOfDays(days.slice(start, end));
      start = end;
    }
  }
}
