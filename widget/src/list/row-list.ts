/** A row of a list, as the server has it. */
export interface Row {
  id: string;
  /** Grows with each change: of two answers the one with the larger version is newer. A row without one never changes. */
  version?: number;
  /** Whether the row can change no more. */
  isFinal?: boolean;
}

export interface Page<R> {
  totalCount: number;
  nodes: R[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

export interface PageVariables {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  filter?: object | null;
}

/** The order of the rows: the name of a column, with `-` if it is descending. */
export type Sort = string;

export interface View {
  /** The values of the filter's buttons that are chosen, such as statuses; an empty list means all. */
  chosen: readonly string[];
  sort: Sort;
  /** The other conditions of the server's filter. */
  filter?: object | undefined;
}

/** The part in which the lists of resources differ. */
export interface RowKind<R extends Row> {
  /** The column by which the server sorts, in both directions. */
  time: string;
  /** The instant of that column; null counts as the newest. */
  timeOf(row: R): string | null;
  /** The values of the other columns that can be sorted by; the loaded rows are sorted here. */
  keys: { [column: string]: (row: R) => number };
  /** The value by which the filter's buttons select. */
  groupOf(row: R): string;
  /** The member of the server's filter that these buttons set. */
  group: string;
  /** Whether a state of a row is newer than another one; by default its version is larger. */
  isNewer?(row: R, known: R): boolean;
}

/** The known rows of an account, and those on the screen in their order. */
export interface RowList<R extends Row> {
  /** The rows on the screen. */
  readonly shown: readonly R[];
  /** The ids of the rows: a table that changes often draws a few of them. */
  readonly ids: readonly string[];
  /** The number of rows that wait, because they belong above or between the shown rows. */
  readonly waiting: number;
  /** The number of rows of this view, loaded or not. */
  readonly total: number;
  /** The number of loaded rows of this view. */
  readonly loaded: number;
  /** Whether all rows of this view are loaded. */
  readonly complete: boolean;
  /** Whether the loaded rows are sorted here and not by the server. */
  readonly sortedLocally: boolean;
  /** Replaces the view by another one, with its first page. */
  start(view: View, page: Page<R>): void;
  /** Starts a view after a gap in the stream: known rows are forgotten, because they may be newer than the server's. */
  restart(view: View, page: Page<R>): void;
  append(page: Page<R>): void;
  /** Sorts the loaded rows by another view; false if that view needs a first page of its own. */
  sort(view: View): boolean;
  /**
   * Applies an update of one row.
   * @returns the kind of change; undefined if this version or a newer one is known already
   */
  apply(row: R, previousGroup: string | null | undefined): 'new' | 'changed' | undefined;
  /** Updates the rows on the screen. With `freeze` no shown row moves: new ones are appended at the end, or wait. */
  arrange(freeze: boolean): void;
  /** The variables of the next page, with at most `size` rows. */
  nextPage(size: number): ReturnType<typeof pageOf>;
  /** The ids of the newest hundred loaded rows that can still change. */
  openIds(): string[];
  get(id: string): R | undefined;
  /** Whether the filter's buttons select a value. */
  matches(group: string): boolean;
}

/** The largest number of ids in one query. */
const MAX_OPEN = 100;

export function createRowList<R extends Row>({
  time,
  timeOf,
  keys,
  groupOf,
  group,
  isNewer = (row, known) => (row.version ?? 0) > (known.version ?? 0),
}: RowKind<R>): RowList<R> {
  const known = new Map<string, R>();
  let view: View = { chosen: [], sort: `-${time}` };
  /** The loaded rows of the view, in the server's order. */
  let order: string[] = [];
  /** The position of each loaded row in the server's order, by its id. */
  let positions = new Map<string, number>();
  /** The rows of the view, in its order; undefined if none were sorted yet. */
  let sorted: string[] | undefined;
  /** The rows that have changed since the last sort. */
  const moved = new Set<string>();
  let shown: string[] = [];
  /** The shown rows, cached because a table that scrolls reads them often. */
  let rows: R[] | undefined;
  let waiting = 0;
  let total = 0;
  let complete = false;
  let cursor: string | null = null;

  const isOldestFirst = () => view.sort === time;
  const matches = (value: string) => view.chosen.length === 0 || view.chosen.includes(value);
  const instantOf = (id: string) => timeOf(known.get(id)!) ?? '';

  /** Stores a row if it is newer than the known one: a status never goes back. */
  function merge(row: R): boolean {
    const previous = known.get(row.id);
    if (previous && !isNewer(row, previous)) return false;
    known.set(row.id, row);
    rows = undefined;
    return true;
  }

  /** Inserts a row at its position in the server's order, unless that is after the loaded ones. */
  function insert(row: R): void {
    const { id } = row;
    if (positions.has(id) || !matches(groupOf(row))) return;
    const instant = timeOf(row);
    const isEarlier = (other: string) =>
      isOldestFirst()
        ? instant !== null && instant < instantOf(other)
        : !instant || instant >= instantOf(other);
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

  function addPage({ nodes, pageInfo, totalCount }: Page<R>): void {
    const page = isOldestFirst() ? [...nodes].reverse() : nodes;
    for (const row of page) {
      merge(row);
      if (positions.has(row.id)) continue;
      order.push(row.id);
      positions.set(row.id, order.length);
    }
    sorted = undefined;
    total = totalCount;
    complete = !(isOldestFirst() ? pageInfo.hasPreviousPage : pageInfo.hasNextPage);
    cursor = isOldestFirst() ? pageInfo.startCursor : pageInfo.endCursor;
    // Updates that arrived during the request may be missing on the page.
    for (const row of known.values()) insert(row);
  }

  function start(newView: View, page: Page<R>): void {
    view = newView;
    order = [];
    positions = new Map();
    addPage(page);
  }

  /** Returns the rows of the view in its order. Only those that have changed are sorted into the others. */
  function visibleIds(): string[] {
    const keyOf = keys[columnOf(view.sort)];
    const sign = view.sort.startsWith('-') ? -1 : 1;
    const keyed = (id: string) => ({ id, key: keyOf?.(known.get(id)!) ?? 0, position: positions.get(id)! });
    type Keyed = ReturnType<typeof keyed>;
    const compare = (left: Keyed, right: Keyed) =>
      sign * (left.key - right.key) || left.position - right.position;
    const isVisible = (id: string) => positions.has(id) && matches(groupOf(known.get(id)!));
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
      return columnOf(view.sort) !== time;
    },
    start,
    restart(newView, page) {
      known.clear();
      start(newView, page);
      // Shown rows stay in place, except those that the server no longer has.
      shown = shown.filter((id) => known.has(id));
    },
    append: addPage,
    sort(newView) {
      const same = String(view.chosen) === String(newView.chosen);
      if (!same || isOldestFirst() || newView.sort === time) return false;
      view = newView;
      sorted = undefined;
      return true;
    },
    apply(row, previousGroup) {
      const previous = known.get(row.id);
      if (!merge(row)) return;
      moved.add(row.id);
      const before = previous ? groupOf(previous) : previousGroup;
      total += Number(matches(groupOf(row))) - Number(Boolean(before && matches(before)));
      insert(row);
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
    nextPage: (size) => pageOf(view, size, { time, group }, cursor),
    openIds() {
      const ids = [...known.values()].filter(({ isFinal }) => isFinal === false).map(({ id }) => id);
      return ids.sort((left, right) => (instantOf(left) < instantOf(right) ? 1 : -1)).slice(0, MAX_OPEN);
    },
    get: (id) => known.get(id),
    matches,
  };
}

/** The column of an order. */
export function columnOf(sort: Sort): string {
  return sort.replace('-', '');
}

/** The variables of a page of a view: the page after a cursor, or the first. Undefined ones are not sent. */
export function pageOf(
  { chosen, sort, filter }: View,
  size: number,
  { time, group }: Pick<RowKind<never>, 'time' | 'group'>,
  cursor?: string | null,
): { [Name in keyof PageVariables]: PageVariables[Name] | undefined } {
  return {
    ...(sort === time ? { last: size, before: cursor } : { first: size, after: cursor }),
    filter: chosen[0] ? { ...filter, [group]: [...chosen] } : filter,
  };
}
