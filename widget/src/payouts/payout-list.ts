import type { Payout, PayoutPage, PayoutPageVariables, PayoutStatus } from './operations.ts';

/** Requested is the server's own order, both ways; by the others the rows that are loaded are sorted. */
export type PayoutSort = '-requested' | 'requested' | '-amount' | 'amount' | '-status' | 'status';

export interface PayoutView {
  /** None: all. */
  statuses: readonly PayoutStatus[];
  sort: PayoutSort;
}

/** What is known of an account's payouts, and which of them are on the screen in what order. */
export interface PayoutList {
  /** As they stand on the screen. */
  readonly shown: readonly Payout[];
  /** How many belong above or between them, and wait. */
  readonly waiting: number;
  /** How many there are for this view, loaded or not. */
  readonly total: number;
  /** How many of them are. */
  readonly loaded: number;
  /** Nothing is left to load. */
  readonly complete: boolean;
  /** Whether the rows are sorted here, among those that are loaded. */
  readonly sortedHere: boolean;
  /** Takes the first page of a view; what was shown before is gone. */
  start(view: PayoutView, page: PayoutPage): void;
  /** The same behind a gap in the stream: what was known before may be newer than the server knows, and is forgotten. */
  restart(view: PayoutView, page: PayoutPage): void;
  append(page: PayoutPage): void;
  /** Sorts anew what is loaded; false where the view needs a page of its own first. */
  sort(view: PayoutView): boolean;
  /**
   * Takes one payout's news.
   * @returns what it changed: nothing where a newer version is known already
   */
  apply(payout: Payout, previousStatus: PayoutStatus | null | undefined): 'new' | 'changed' | undefined;
  /** Brings the screen up to date; while `still`, no row that is shown moves: news come to its end, or wait. */
  arrange(still: boolean): void;
  /** How the next page is asked for, with at most `size` rows. */
  next(size: number): PayoutPageVariables;
  /** Of the loaded that can still change the newest hundred, by id. */
  open(): string[];
  get(id: string): Payout | undefined;
  matches(status: PayoutStatus): boolean;
}

const DEFAULT_VIEW: PayoutView = { statuses: [], sort: '-requested' };
const RANKS: Record<PayoutStatus, number> = {
  PENDING: 1,
  PROCESSING: 2,
  COMPLETED: 3,
  DENIED: 4,
  UNKNOWN: 5,
};
/** As many as one query may ask for by id. */
const MOST_OPEN = 100;

export function createPayoutList(): PayoutList {
  const known = new Map<string, Payout>();
  let view = DEFAULT_VIEW;
  /** What belongs to the view, in the server's order, as far as it is loaded. */
  let order: string[] = [];
  let ordered = new Set<string>();
  let shown: string[] = [];
  /** The same as payouts, made when it is asked for: a table that scrolls asks often. */
  let rows: Payout[] | undefined;
  let waiting = 0;
  let total = 0;
  let complete = false;
  let cursor: string | null = null;

  const isOldestFirst = () => view.sort === 'requested';
  const matches = (status: PayoutStatus) => view.statuses.length === 0 || view.statuses.includes(status);
  const at = (id: string) => known.get(id)?.requestedAt ?? '';

  /** Of two states of one the larger version holds: a status never goes back. */
  function learn(payout: Payout): boolean {
    const held = known.get(payout.id);
    if (held && held.version >= payout.version) return false;
    known.set(payout.id, payout);
    rows = undefined;
    return true;
  }

  /** Where the server would have it; not at all where that is behind what is loaded. */
  function place(payout: Payout): void {
    const { id, requestedAt, status } = payout;
    if (ordered.has(id) || !matches(status)) return;
    // One whose time is not known was heard of just now.
    const isEarlier = (other: string) =>
      isOldestFirst()
        ? requestedAt !== null && requestedAt < at(other)
        : !requestedAt || requestedAt >= at(other);
    const last = order.at(-1);
    const isLast = last === undefined || !isEarlier(last);
    if (isLast && !complete) return;
    order.splice(isLast ? order.length : order.findIndex(isEarlier), 0, id);
    ordered.add(id);
  }

  function take({ nodes, pageInfo, totalCount }: PayoutPage): void {
    const page = isOldestFirst() ? [...nodes].reverse() : nodes;
    for (const payout of page) {
      learn(payout);
      if (ordered.has(payout.id)) continue;
      order.push(payout.id);
      ordered.add(payout.id);
    }
    total = totalCount;
    complete = !(isOldestFirst() ? pageInfo.hasPreviousPage : pageInfo.hasNextPage);
    cursor = isOldestFirst() ? pageInfo.startCursor : pageInfo.endCursor;
    // What was told while the page was on its way may not be on it.
    for (const payout of known.values()) place(payout);
  }

  function start(newView: PayoutView, page: PayoutPage): void {
    view = newView;
    order = [];
    ordered = new Set();
    take(page);
  }

  function wanted(): string[] {
    const ids = order.filter((id) => matches(known.get(id)!.status));
    const key = /amount|status/.exec(view.sort)?.[0];
    if (!key) return ids;
    const value = (id: string) => {
      const { amountCents, status } = known.get(id)!;
      return key === 'amount' ? amountCents : RANKS[status];
    };
    const sign = view.sort.startsWith('-') ? -1 : 1;
    return ids.sort((left, right) => sign * (value(left) - value(right)));
  }

  return {
    get shown() {
      rows ??= shown.map((id) => known.get(id)!);
      return rows;
    },
    get waiting() {
      return waiting;
    },
    get total() {
      return Math.max(total, complete ? 0 : order.length);
    },
    get loaded() {
      return order.length;
    },
    get complete() {
      return complete;
    },
    get sortedHere() {
      return !view.sort.endsWith('requested');
    },
    start,
    restart(newView, page) {
      known.clear();
      start(newView, page);
      // Rows that have to stand still do, but for those of payouts that are not known any more.
      shown = shown.filter((id) => known.has(id));
    },
    append: take,
    sort(newView) {
      const same = String(view.statuses) === String(newView.statuses);
      if (!same || isOldestFirst() || newView.sort === 'requested') return false;
      view = newView;
      return true;
    },
    apply(payout, previousStatus) {
      const { id, status } = payout;
      const held = known.get(id);
      if (!learn(payout)) return;
      const was = held ? held.status : previousStatus;
      total += Number(matches(status)) - Number(Boolean(was && matches(was)));
      place(payout);
      return was ? 'changed' : 'new';
    },
    arrange(still) {
      const next = wanted();
      const standing = new Set(shown);
      let from = next.length;
      while (from > 0 && !standing.has(next[from - 1]!)) from--;
      rows = undefined;
      shown = still ? [...shown, ...next.slice(from)] : next;
      waiting = still ? next.slice(0, from).filter((id) => !standing.has(id)).length : 0;
    },
    next(size) {
      const filter = view.statuses.length > 0 ? { status: [...view.statuses] } : undefined;
      return {
        ...(isOldestFirst() ? { last: size, before: cursor } : { first: size, after: cursor }),
        ...(filter && { filter }),
      };
    },
    open() {
      const ids = [...known.values()].filter(({ final }) => !final).map(({ id }) => id);
      return ids.sort((left, right) => (at(left) < at(right) ? 1 : -1)).slice(0, MOST_OPEN);
    },
    get: (id) => known.get(id),
    matches,
  };
}

/** How the first page of a view is asked for. */
export function firstPage({ statuses, sort }: PayoutView, size: number): PayoutPageVariables {
  return {
    ...(sort === 'requested' ? { last: size } : { first: size }),
    ...(statuses.length > 0 && { filter: { status: [...statuses] } }),
  };
}
