import type { Payout, PayoutFilter, PayoutPage, PayoutPageVariables, PayoutStatus } from './operations.ts';

/**
 * The order of the rows. The server sorts by `requested`, in both directions; for the other orders the loaded
 * rows are sorted here.
 */
export type PayoutSort = '-requested' | 'requested' | '-amount' | 'amount' | '-status' | 'status';

export interface PayoutView {
  /** The shown statuses; an empty list means all. */
  statuses: readonly PayoutStatus[];
  sort: PayoutSort;
  /** The other conditions, which the server applies to the list and to its updates. */
  filter?: PayoutFilter | undefined;
}

/** The known payouts of an account, and the rows on the screen in their order. */
export interface PayoutList {
  /** The rows on the screen. */
  readonly shown: readonly Payout[];
  /** The ids of the rows: a table that changes often draws a few of them. */
  readonly ids: readonly string[];
  /** The number of payouts that wait, because they belong above or between the shown rows. */
  readonly waiting: number;
  /** The number of payouts of this view, loaded or not. */
  readonly total: number;
  /** The number of loaded payouts of this view. */
  readonly loaded: number;
  /** Whether all payouts of this view are loaded. */
  readonly complete: boolean;
  /** Whether the loaded rows are sorted here and not by the server. */
  readonly sortedLocally: boolean;
  /** Replaces the view by another one, with its first page. */
  start(view: PayoutView, page: PayoutPage): void;
  /** Starts a view after a gap in the stream: known payouts are forgotten, because they may be newer than the server's. */
  restart(view: PayoutView, page: PayoutPage): void;
  append(page: PayoutPage): void;
  /** Sorts the loaded payouts by another view; false if that view needs a first page of its own. */
  sort(view: PayoutView): boolean;
  /**
   * Applies an update of one payout.
   * @returns the kind of change; undefined if this version or a newer one is known already
   */
  apply(payout: Payout, previousStatus: PayoutStatus | null | undefined): 'new' | 'changed' | undefined;
  /** Updates the rows on the screen. With `freeze` no shown row moves: new ones are appended at the end, or wait. */
  arrange(freeze: boolean): void;
  /** The variables of the next page, with at most `size` rows. */
  nextPage(size: number): ReturnType<typeof pageOf>;
  /** The ids of the newest hundred loaded payouts that can still change. */
  openIds(): string[];
  get(id: string): Payout | undefined;
  matches(status: PayoutStatus): boolean;
}

const DEFAULT_VIEW: PayoutView = { statuses: [], sort: '-requested' };
const RANKS: Record<PayoutStatus, number> = {
  PENDING: 1,
  PROCESSING: 2,
  COMPLETED: 3,
  DENIED: 4,
  RETURNED: 5,
  UNKNOWN: 6,
};
/** The largest number of ids in one query. */
const MAX_OPEN = 100;

export function createPayoutList(): PayoutList {
  const known = new Map<string, Payout>();
  let view = DEFAULT_VIEW;
  /** The loaded payouts of the view, in the server's order. */
  let order: string[] = [];
  /** The position of each loaded payout in the server's order, by its id. */
  let positions = new Map<string, number>();
  /** The payouts of the view, in its order; undefined if none were sorted yet. */
  let sorted: string[] | undefined;
  /** The payouts that have changed since the last sort. */
  const moved = new Set<string>();
  let shown: string[] = [];
  /** The shown rows as payouts, cached because a table that scrolls reads them often. */
  let rows: Payout[] | undefined;
  let waiting = 0;
  let total = 0;
  let complete = false;
  let cursor: string | null = null;

  const isOldestFirst = () => view.sort === 'requested';
  const matches = (status: PayoutStatus) => view.statuses.length === 0 || view.statuses.includes(status);
  const requestedAtOf = (id: string) => known.get(id)?.requestedAt ?? '';

  /** Stores a payout if its version is larger than the known one: a status never goes back. */
  function merge(payout: Payout): boolean {
    const previous = known.get(payout.id);
    if (previous && previous.version >= payout.version) return false;
    known.set(payout.id, payout);
    rows = undefined;
    return true;
  }

  /** Inserts a payout at its position in the server's order, unless that is after the loaded ones. */
  function insert(payout: Payout): void {
    const { id, requestedAt, status } = payout;
    if (positions.has(id) || !matches(status)) return;
    // A payout without a time is the newest.
    const isEarlier = (other: string) =>
      isOldestFirst()
        ? requestedAt !== null && requestedAt < requestedAtOf(other)
        : !requestedAt || requestedAt >= requestedAtOf(other);
    const last = order.at(-1);
    const isLast = last === undefined || !isEarlier(last);
    if (isLast && !complete) return;
    const index = isLast ? order.length : order.findIndex(isEarlier);
    const position = isLast ? (positions.get(last!) ?? 0) + 1 : positions.get(order[0]!)! - 1;
    order.splice(index, 0, id);
    positions.set(id, position);
    moved.add(id);
    // There may be no number between two neighboring positions.
    if (!isLast && index > 0) sorted = undefined;
  }

  function addPage({ nodes, pageInfo, totalCount }: PayoutPage): void {
    const page = isOldestFirst() ? [...nodes].reverse() : nodes;
    for (const payout of page) {
      merge(payout);
      if (positions.has(payout.id)) continue;
      order.push(payout.id);
      positions.set(payout.id, order.length);
    }
    sorted = undefined;
    total = totalCount;
    complete = !(isOldestFirst() ? pageInfo.hasPreviousPage : pageInfo.hasNextPage);
    cursor = isOldestFirst() ? pageInfo.startCursor : pageInfo.endCursor;
    // Updates that arrived during the request may be missing on the page.
    for (const payout of known.values()) insert(payout);
  }

  function start(newView: PayoutView, page: PayoutPage): void {
    view = newView;
    order = [];
    positions = new Map();
    addPage(page);
  }

  /** Returns the payouts of the view in its order. Only those that have changed are sorted into the others. */
  function visibleIds(): string[] {
    const key = /amount|status/.exec(view.sort)?.[0];
    const sign = view.sort.startsWith('-') ? -1 : 1;
    const keyed = (id: string) => {
      const { amountCents, status } = known.get(id)!;
      return {
        id,
        key: key === 'amount' ? amountCents : key ? RANKS[status] : 0,
        position: positions.get(id)!,
      };
    };
    type Keyed = ReturnType<typeof keyed>;
    const compare = (left: Keyed, right: Keyed) =>
      sign * (left.key - right.key) || left.position - right.position;
    const isVisible = (id: string) => positions.has(id) && matches(known.get(id)!.status);
    if (!sorted) for (const [index, id] of order.entries()) positions.set(id, index);
    else if (moved.size === 0) return sorted;
    const changed = (sorted ? [...moved] : order).filter(isVisible).map(keyed).sort(compare);
    const rest = sorted?.filter((id) => !moved.has(id)) ?? [];
    moved.clear();
    const next: string[] = [];
    let from = 0;
    for (const each of changed) {
      // Finds the position among the unchanged ones by halving.
      let at = from;
      for (let end = rest.length; at < end; ) {
        const middle = (at + end) >> 1;
        if (compare(keyed(rest[middle]!), each) < 0) at = middle + 1;
        else end = middle;
      }
      while (from < at) next.push(rest[from++]!);
      next.push(each.id);
    }
    sorted = next.concat(rest.slice(from));
    return sorted;
  }

  return {
    get ids() {
      return shown;
    },
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
    get sortedLocally() {
      return !view.sort.endsWith('requested');
    },
    start,
    restart(newView, page) {
      known.clear();
      start(newView, page);
      // Shown rows stay in place, except payouts that the server no longer has.
      shown = shown.filter((id) => known.has(id));
    },
    append: addPage,
    sort(newView) {
      const same = String(view.statuses) === String(newView.statuses);
      if (!same || isOldestFirst() || newView.sort === 'requested') return false;
      view = newView;
      sorted = undefined;
      return true;
    },
    apply(payout, previousStatus) {
      const { id, status } = payout;
      const previous = known.get(id);
      if (!merge(payout)) return;
      moved.add(id);
      const before = previous ? previous.status : previousStatus;
      total += Number(matches(status)) - Number(Boolean(before && matches(before)));
      insert(payout);
      return before ? 'changed' : 'new';
    },
    arrange(freeze) {
      const next = visibleIds();
      rows = undefined;
      waiting = 0;
      if (freeze) {
        const shownIds = new Set(shown);
        let from = next.length;
        while (from > 0 && !shownIds.has(next[from - 1]!)) from--;
        waiting = next.slice(0, from).filter((id) => !shownIds.has(id)).length;
        shown = [...shown, ...next.slice(from)];
      } else shown = next;
    },
    nextPage: (size) => pageOf(view, size, cursor),
    openIds() {
      const ids = [...known.values()].filter(({ isFinal }) => !isFinal).map(({ id }) => id);
      return ids
        .sort((left, right) => (requestedAtOf(left) < requestedAtOf(right) ? 1 : -1))
        .slice(0, MAX_OPEN);
    },
    get: (id) => known.get(id),
    matches,
  };
}

/** The variables of a page of a view: the page after a cursor, or the first. Undefined ones are not sent. */
export function pageOf(
  { statuses, sort, filter }: PayoutView,
  size: number,
  cursor?: string | null,
): { [Name in keyof PayoutPageVariables]: PayoutPageVariables[Name] | undefined } {
  return {
    ...(sort === 'requested' ? { last: size, before: cursor } : { first: size, after: cursor }),
    filter: statuses[0] ? { ...filter, status: [...statuses] } : filter,
  };
}
