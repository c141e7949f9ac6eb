import type { Cents } from '../../../kernel/money.ts';
import type { EntryKind } from '../../../state/ledger/journal.ts';
import type { SeenMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { isSameWallet, type Wallet } from '../model.ts';

// The statement of what was seen: a sighting of the service's wallet writes the movements that resources have shown since the one
// before, and as `observed` what they do not account for. So the entries up to a sighting add up to its figures.

/** The figures that entries move, each with the name of its change. */
const FIGURES = [
  { figure: 'balanceCents', change: 'amountCents' },
  { figure: 'subaccountsBalanceCents', change: 'subaccountsDeltaCents' },
  { figure: 'pendingReleaseCents', change: 'pendingReleaseDeltaCents' },
  { figure: 'disputeBlockedCents', change: 'disputeBlockedDeltaCents' },
  { figure: 'receivableCents', change: 'receivableDeltaCents' },
  { figure: 'cryptoBalanceLitoshi', change: 'litoshiDelta' },
] as const;
type Figure = (typeof FIGURES)[number]['figure'];
type Change = (typeof FIGURES)[number]['change'];

export type SeenChanges = Readonly<Record<Change, number>>;
/** The last known value of each figure; null until the service has shown it. */
export type Known = Readonly<Record<Figure, number | null>>;

/** A movement of a resource, or a refund that gets another name, which moves nothing. */
export interface Movement {
  readonly kind: EntryKind | 'observed';
  readonly reference: string | null;
  readonly resource: { readonly type: string; readonly id: string } | null;
  readonly subaccountId: string | null;
  readonly changes: SeenChanges;
  readonly feeCents: Cents | null;
  /** Null for what certainly moved before the opening, and for `observed`. */
  readonly seenAt: Date | null;
  /** Whether it moved the wallet since the opening. Others are remembered, and are no entries. */
  readonly isEntry: boolean;
}

/** A row of the statement. */
export interface SeenRow extends Omit<Movement, 'kind'> {
  readonly number: number;
  /** The number of entries up to the row and with it. */
  readonly entries: number;
  /** Null for a sighting without an entry. */
  readonly kind: Movement['kind'] | null;
  readonly seenTo: number;
  readonly occurredAt: Date;
  readonly unexplainedCents: Cents;
  readonly wallet: Wallet;
  readonly known: Known;
}

/** The place at which the statement goes on. */
export type LastRow = Pick<
  SeenRow,
  'number' | 'entries' | 'seenTo' | 'occurredAt' | 'unexplainedCents' | 'wallet' | 'known'
>;

/** An event of a resource that says what it has moved. */
export interface SeenEvent {
  readonly resource: string;
  readonly resourceId: string;
  readonly occurredAt: Date;
  readonly money: SeenMoney;
}

// ── Movements ───────────────────────────────────────────────────────────────────────────────────

/** The knowledge of resources before some events. */
export interface Before {
  /** The instant of the first sighting: what moved before it is in its figures. */
  readonly openedAt: Date;
  /** All that has a row, of the resources of the events and of their refunds. */
  readonly rows: readonly Movement[];
  /** The states in which the resources without a row stood at the opening, by `keyOf` their event. */
  readonly atOpening: ReadonlyMap<string, SeenMoney | null>;
  /** The resources without a row that were seen since the opening: they had moved nothing yet. */
  readonly seenUnmoved: ReadonlySet<string>;
}

export function keyOf({ resource, resourceId }: Pick<SeenEvent, 'resource' | 'resourceId'>): string {
  return `${resource} ${resourceId}`;
}

/** Finds what events have moved, in the order of the log, beyond what has a row. A state that is corrected moves the difference. */
export function movementsOf(events: readonly SeenEvent[], before: Before): Movement[] {
  const moved = createMoved(before.rows);
  const seen = new Set(before.seenUnmoved);
  const found: Movement[] = [];
  const add = (movement: Movement) => {
    moved.add(movement);
    found.push(movement);
  };

  for (const event of events) {
    const { money } = event;
    const { reference } = money;
    const id = money.ids.find((each) => moved.has(event.resource, each)) ?? money.ids[0];
    const movementOf = (move: SeenMove, isEntry: boolean): Movement => ({
      kind: move.kind,
      reference,
      resource: { type: event.resource, id },
      subaccountId: move.subaccountId ?? null,
      changes: changesOf(move),
      feeCents: move.feeCents,
      seenAt: event.occurredAt,
      isEntry,
    });
    if (!moved.has(event.resource, id)) {
      const moves = movedBefore(event);
      // A refund that had also failed by then has taken no part of a sum.
      const takesPart = event.resource === 'refund' && moves.length === 1;
      for (const move of moves) {
        // A sum without a date may have refunds since the opening in it.
        const isSupposed =
          isSumOfRefunds(event, move) && move.at === null && !before.atOpening.has(keyOf(event));
        const target = isSumOfRefunds(event, move)
          ? moved.withoutNamed(reference, move, { isOldOnly: !isSupposed })
          : move;
        const movement = differenceOf(movementOf(target, false), null);
        if (!movement) continue;
        const remembered = isSupposed ? movement : { ...movement, seenAt: null };
        if (takesPart) nameRefund(remembered, event.occurredAt);
        else add(remembered);
      }
    }
    for (const move of [...money.moves, ...moved.goneOf(event.resource, id, money.moves)]) {
      const target = isSumOfRefunds(event, move) ? moved.withoutNamed(reference, move) : move;
      const known = moved.of(event.resource, id, target);
      const isEntry = known === null || known.isEntry || !isFeeAlone(movementOf(target, true), known);
      const movement = differenceOf(movementOf(target, isEntry), known);
      if (!movement) continue;
      if (event.resource === 'refund' && move.kind === 'refund') nameRefund(movement, event.occurredAt);
      else add(movement);
    }
    for (const resourceId of money.ids) seen.add(keyOf({ resource: event.resource, resourceId }));
  }
  return found;

  /** The moves of a resource without a row from before the opening, as far as anybody knows. */
  function movedBefore(event: SeenEvent): readonly SeenMove[] {
    const key = keyOf(event);
    if (seen.has(key)) return [];
    const opening = before.atOpening.get(key);
    if (opening !== undefined) return opening?.moves ?? [];
    const { moves } = event.money;
    // What follows from money that moved since the opening has moved since then, too.
    const isSince = (at: Date | null | undefined) => at != null && at > before.openedAt;
    return isSince(moves[0]?.at) ? [] : moves.filter(({ at }) => !isSince(at));
  }

  /**
   * Adds a refund by its own name. Its payment may have shown the amount before, without the name: then that much is the refund's
   * now. It moves nothing again, unless it was only supposed to be from before the opening, and the refund is not.
   */
  function nameRefund(refund: Movement, seenAt: Date): void {
    const shown = moved.unnamedRefunds(refund.reference!);
    const addPart = (movement: Movement, amountCents: Cents, part: Partial<Movement>) => {
      if (amountCents !== 0) add({ ...movement, ...part, changes: { ...NO_CHANGES, amountCents } });
    };
    let rest = -refund.changes.amountCents;
    const take = (cents: Cents, at: Date | null): Cents => {
      const taken = Math.max(0, Math.min(cents, rest));
      if (shown) addPart(shown.movement, taken, { seenAt: at, isEntry: false });
      return taken;
    };
    if (shown && refund.isEntry) {
      const entered = take(shown.enteredCents, seenAt);
      addPart(refund, -entered, { isEntry: false });
      rest -= entered;
      take(shown.supposedCents, seenAt);
    } else if (shown) {
      const old = take(shown.oldCents, null);
      rest -= old;
      take(shown.supposedCents, seenAt);
      rest += old;
    }
    addPart(refund, -rest, {});
  }
}

/** Whether a move is the sum of all refunds that a payment or a charge shows. */
function isSumOfRefunds({ resource }: SeenEvent, { kind }: SeenMove): boolean {
  return resource !== 'refund' && kind === 'refund';
}

const NO_CHANGES: SeenChanges = {
  amountCents: 0,
  subaccountsDeltaCents: 0,
  pendingReleaseDeltaCents: 0,
  disputeBlockedDeltaCents: 0,
  receivableDeltaCents: 0,
  litoshiDelta: 0,
};

function changesOf(move: SeenMove): SeenChanges {
  return mapChanges((change) => (change === 'receivableDeltaCents' ? 0 : (move[change] ?? 0)));
}

function mapChanges(of: (change: Change) => number): SeenChanges {
  return Object.fromEntries(FIGURES.map(({ change }) => [change, of(change)])) as Record<Change, number>;
}

const movesNothing = (changes: SeenChanges) => FIGURES.every(({ change }) => changes[change] === 0);

/** A movement without what has a row already; null if nothing is left. */
function differenceOf(movement: Movement, before: Movement | null): Movement | null {
  const changes = mapChanges((change) => movement.changes[change] - (before?.changes[change] ?? 0));
  if (movesNothing(changes)) return null;
  const feeCents = movement.feeCents === null ? null : movement.feeCents - (before?.feeCents ?? 0);
  return { ...movement, changes, feeCents };
}

/** Whether a movement differs from the known one by a fee that was not shown before. It was taken when that moved. */
function isFeeAlone(movement: Movement, known: Movement): boolean {
  const grossOf = ({ changes, feeCents }: Movement) =>
    changes.amountCents + changes.pendingReleaseDeltaCents + (feeCents ?? 0);
  return known.feeCents === null && movement.feeCents !== null && grossOf(movement) === grossOf(known);
}

/** The sums of all movements, by resource, kind and subaccount. */
function createMoved(rows: readonly Movement[]) {
  const sums = new Map<string, Map<string, Movement>>();
  /** The refunds that have a name of their own, by their payment, without those that failed. */
  const named = new Map<string, Refunds>();
  /** The refunds that payments show as a sum, without those that have got a name since, by the payment. */
  const summed = new Map<string, Refunds & { movement: Movement }>();

  function add(movement: Movement): void {
    const { resource, kind, subaccountId, reference } = movement;
    const own = sums.get(keyOfResource(resource!.type, resource!.id)) ?? new Map<string, Movement>();
    sums.set(keyOfResource(resource!.type, resource!.id), own);
    const key = keyOfMove({ kind, subaccountId });
    const before = own.get(key);
    own.set(key, before ? sumOf(before, movement) : movement);
    if (resource!.type === 'refund')
      named.set(reference!, withRefund(named.get(reference!) ?? NO_REFUNDS, movement));
    else if (kind === 'refund')
      summed.set(reference!, {
        ...withRefund(summed.get(reference!) ?? NO_REFUNDS, movement),
        movement,
      });
  }
  rows.forEach(add);

  return {
    add,
    has: (type: string, id: string) => sums.has(keyOfResource(type, id)),
    of: (type: string, id: string, move: SeenMove) =>
      sums.get(keyOfResource(type, id))?.get(keyOfMove(move)) ?? null,
    /** The movements that a state does not have any more: their target is nothing. */
    goneOf(type: string, id: string, moves: readonly SeenMove[]): SeenMove[] {
      const kept = new Set(moves.map(keyOfMove));
      return [...(sums.get(keyOfResource(type, id)) ?? [])]
        .filter(([key]) => !kept.has(key))
        .map(([, { kind, subaccountId }]) => ({
          kind: kind as EntryKind,
          feeCents: 0,
          at: null,
          ...(subaccountId === null ? {} : { subaccountId }),
        }));
    },
    /** The refunds that a payment shows, less those with a name of their own. `isOldOnly`: less those from before the opening. */
    withoutNamed(reference: string, move: SeenMove, { isOldOnly = false } = {}): SeenMove {
      const { old, remembered, entered } = named.get(reference) ?? NO_REFUNDS;
      const unnamed = (move.amountCents ?? 0) + old + (isOldOnly ? 0 : remembered + entered);
      return { ...move, amountCents: Math.min(0, unnamed) };
    },
    /** The refunds that a payment has shown without a name; null if there never were any. */
    unnamedRefunds(reference: string) {
      const sum = summed.get(reference);
      if (!sum) return null;
      // What is remembered of a named refund was an entry of its payment.
      const renamed = named.get(reference)?.remembered ?? 0;
      return {
        movement: sum.movement,
        oldCents: sum.old,
        enteredCents: sum.entered - renamed,
        supposedCents: sum.remembered + renamed,
      };
    },
  };
}

/** Cents of refunds: from before the opening for certain, remembered since, and entries. */
type Refunds = Readonly<Record<'old' | 'remembered' | 'entered', Cents>>;
const NO_REFUNDS: Refunds = { old: 0, remembered: 0, entered: 0 };

function withRefund(refunds: Refunds, { isEntry, seenAt, changes }: Movement): Refunds {
  const part = isEntry ? 'entered' : seenAt === null ? 'old' : 'remembered';
  return { ...refunds, [part]: refunds[part] - changes.amountCents };
}

const keyOfResource = (type: string, id: string) => `${type} ${id}`;
const keyOfMove = ({ kind, subaccountId }: { kind: string; subaccountId?: string | null }) =>
  `${kind} ${subaccountId ?? ''}`;

function sumOf(left: Movement, right: Movement): Movement {
  return {
    ...left,
    changes: mapChanges((change) => left.changes[change] + right.changes[change]),
    feeCents:
      left.feeCents === null && right.feeCents === null ? null : (left.feeCents ?? 0) + (right.feeCents ?? 0),
  };
}

// ── Rows ────────────────────────────────────────────────────────────────────────────────────────

/**
 * The rows of a sighting: what the movements since the one before do not account for, then these. The first sighting is the
 * opening. None if nothing has changed, unless more movements follow: then a row keeps the place.
 */
export function rowsOfSighting(
  last: LastRow | null,
  movements: readonly Movement[],
  { wallet, seenTo, hasMore, now }: { wallet: Wallet; seenTo: number; hasMore: boolean; now: Date },
): SeenRow[] {
  // Instants never go back, also if the clock was set back.
  const shared = { seenTo, occurredAt: last && last.occurredAt > now ? last.occurredAt : now };
  if (!last)
    return [
      { ...NOTHING, ...shared, number: 1, entries: 0, unexplainedCents: 0, wallet, known: figuresOf(wallet) },
    ];
  const unexplained = unexplainedBy(last.known, movements, wallet);
  const lines = [...(unexplained ? [unexplained] : []), ...movements];
  if (lines.length === 0 && !hasMore && isSameWallet(last.wallet, wallet)) return [];
  let { number, entries, unexplainedCents, known } = last;
  const all = lines.length === 0 ? [NOTHING] : lines;
  return all.map((line, index) => {
    number += 1;
    if (line.isEntry) {
      entries += 1;
      known = after(known, line.changes);
    }
    if (line.kind === 'observed') unexplainedCents += line.changes.amountCents;
    const isLast = index === all.length - 1;
    if (isLast) known = mapFigures((figure) => wallet[figure] ?? known[figure]);
    const shown = isLast
      ? wallet
      : { environment: wallet.environment, ...known, withdrawableCents: null, assignableCents: null };
    return { ...line, ...shared, number, entries, unexplainedCents, wallet: shown, known };
  });
}

const NOTHING = {
  kind: null,
  reference: null,
  resource: null,
  subaccountId: null,
  changes: NO_CHANGES,
  feeCents: null,
  seenAt: null,
  isEntry: false,
} as const;

/** The change of a wallet beyond the movements; null if they account for all. A figure that is not shown has not moved. */
function unexplainedBy(known: Known, movements: readonly Movement[], wallet: Wallet): Movement | null {
  const moved = movements.filter(({ isEntry }) => isEntry).map(({ changes }) => changes);
  const expected = moved.reduce(after, known);
  const changes = mapChanges((change) => {
    const { figure } = FIGURES.find((each) => each.change === change)!;
    const [from, to] = [expected[figure], wallet[figure]];
    return from === null || to === null ? 0 : to - from;
  });
  return movesNothing(changes) ? null : { ...NOTHING, kind: 'observed', changes, isEntry: true };
}

const figuresOf = (wallet: Wallet): Known => mapFigures((figure) => wallet[figure]);

function after(known: Known, changes: SeenChanges): Known {
  return mapFigures((figure, change) => {
    const before = known[figure];
    return before === null ? null : before + changes[change];
  });
}

function mapFigures(of: (figure: Figure, change: Change) => number | null): Known {
  return Object.fromEntries(FIGURES.map(({ figure, change }) => [figure, of(figure, change)])) as Record<
    Figure,
    number | null
  >;
}
