import type { Payout, PayoutPage, PayoutPageVariables, PayoutStatus } from './operations.ts';

/** The order of the rows. The server sorts by `requested`, in both directions; by the others the loaded rows are sorted. */
export type PayoutSort = '-requested' | 'requested' | '-amount' | 'amount' | '-status' | 'status';

export interface PayoutView {
  /** The shown statuses; an empty list means all. */
  statuses: readonly PayoutStatus[];
  sort: PayoutSort;
}

/** The known payouts of an account, and the rows on the screen in their order. */
export interface PayoutList {
  /** The rows on the screen. */
  readonly shown: readonly Payout[];
  /** The number of payouts that are held back, because they belong above or between the shown rows. */
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
  /** Sorts the loaded payouts by another view; false where that view needs a first page of its own. */
  sort(view: PayoutView): boolean;
  /**
   * Applies an update of one payout.
   * @returns the kind of change; undefined where this version or a newer one is known already
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
  let ordered = new Set<string>();
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

  /** Inserts a payout at its place in the server's order, unless that is behind the loaded ones. */
  function insert(payout: Payout): void {
    const { id, requestedAt, status } = payout;
    if (ordered.has(id) || !matches(status)) return;
    // A payout without a time is the newest.
    const isEarlier = (other: string) =>
      isOldestFirst()
        ? requestedAt !== null && requestedAt < requestedAtOf(other)
        : !requestedAt || requestedAt >= requestedAtOf(other);
    const last = order.at(-1);
    const isLast = last === undefined || !isEarlier(last);
    if (isLast && !complete) return;
    order.splice(isLast ? order.length : order.findIndex(isEarlier), 0, id);
    ordered.add(id);
  }

  function addPage({ nodes, pageInfo, totalCount }: PayoutPage): void {
    const page = isOldestFirst() ? [...nodes].reverse() : nodes;
    for (const payout of page) {
      merge(payout);
      if (ordered.has(payout.id)) continue;
      order.push(payout.id);
      ordered.add(payout.id);
    }
    total = totalCount;
    complete = !(isOldestFirst() ? pageInfo.hasPreviousPage : pageInfo.hasNextPage);
    cursor = isOldestFirst() ? pageInfo.startCursor : pageInfo.endCursor;
    // Updates that came during the request may be missing on the page.
    for (const payout of known.values()) insert(payout);
  }

  function start(newView: PayoutView, page: PayoutPage): void {
    view = newView;
    order = [];
    ordered = new Set();
    addPage(page);
  }

  function visibleIds(): string[] {
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
    get sortedLocally() {
      return !view.sort.endsWith('requested');
    },
    start,
    restart(newView, page) {
      known.clear();
      start(newView, page);
      // Shown rows stay in place, except those of payouts that the server no longer has.
      shown = shown.filter((id) => known.has(id));
    },
    append: addPage,
    sort(newView) {
      const same = String(view.statuses) === String(newView.statuses);
      if (!same || isOldestFirst() || newView.sort === 'requested') return false;
      view = newView;
      return true;
    },
    apply(payout, previousStatus) {
      const { id, status } = payout;
      const previous = known.get(id);
      if (!merge(payout)) return;
      const before = previous ? previous.status : previousStatus;
      total += Number(matches(status)) - Number(Boolean(before && matches(before)));
      insert(payout);
      return before ? 'changed' : 'new';
    },
    arrange(freeze) {
      const next = visibleIds();
      const shownIds = new Set(shown);
      let from = next.length;
      while (from > 0 && !shownIds.has(next[from - 1]!)) from--;
      rows = undefined;
      shown = freeze ? [...shown, ...next.slice(from)] : next;
      waiting = freeze ? next.slice(0, from).filter((id) => !shownIds.has(id)).length : 0;
    },
    nextPage: (size) => pageOf(view, size, cursor),
    openIds() {
      const ids = [...known.values()].filter(({ final }) => !final).map(({ id }) => id);
      return ids
        .sort((left, right) => (requestedAtOf(left) < requestedAtOf(right) ? 1 : -1))
        .slice(0, MAX_OPEN);
    },
    get: (id) => known.get(id),
    matches,
  };
}

/** The variables of a page of a view: the one after a cursor, or the first. Those that are undefined are not sent. */
export function pageOf(
  { statuses, sort }: PayoutView,
  size: number,
  cursor?: string | null,
): { [Name in keyof PayoutPageVariables]: PayoutPageVariables[Name] | undefined } {
  return {
    ...(sort === 'requested' ? { last: size, before: cursor } : { first: size, after: cursor }),
    filter: statuses.length > 0 ? { status: [...statuses] } : undefined,
  };
}
