// The payouts of all subaccounts. A page of subaccounts has the newest payouts of each; the older ones of each have pages, too.
import { mergeRead, mergeUpdated, newestFirst } from './loaded-list.ts';
import type { Page, Subaccount, SubaccountPayout } from './operations.ts';

/** The most pages of subaccounts that are read at once for one that has payouts. */
const MAX_PAGES = 10;
const BEFORE_FIRST: Page<unknown>['pageInfo'] = { hasNextPage: true, endCursor: null };

interface Older {
  endCursor: string | null;
  /** The instant of the oldest payout that is loaded, in milliseconds. */
  reachedMs: number;
}

export class SubaccountPayoutList {
  readonly #readSubaccounts: (after: string | null) => Promise<Page<Subaccount>>;
  readonly #readPayouts: (subaccountId: string, after: string | null) => Promise<Page<SubaccountPayout>>;
  #payouts = new Map<string, SubaccountPayout>();
  #pageInfo = BEFORE_FIRST;
  /** The subaccounts that have older payouts. */
  readonly #older = new Map<string, Older>();

  constructor({
    readSubaccounts,
    readPayouts,
  }: {
    /** Reads the page of subaccounts behind a cursor. */
    readSubaccounts: (after: string | null) => Promise<Page<Subaccount>>;
    /** Reads the page of a subaccount's payouts behind a cursor. */
    readPayouts: (subaccountId: string, after: string | null) => Promise<Page<SubaccountPayout>>;
  }) {
    this.#readSubaccounts = readSubaccounts;
    this.#readPayouts = readPayouts;
  }

  get items(): SubaccountPayout[] {
    return [...this.#payouts.values()];
  }

  get ordered(): SubaccountPayout[] {
    return newestFirst(this.items, ({ createdAt }) => createdAt);
  }

  get hasMore(): boolean {
    return this.#pageInfo !== BEFORE_FIRST && (this.#pageInfo.hasNextPage || this.#older.size > 0);
  }

  clear(): void {
    this.#payouts = new Map();
    this.#pageInfo = BEFORE_FIRST;
    this.#older.clear();
  }

  /** Merges the first page, read just now. */
  addFirst(page: Page<Subaccount>): void {
    if (this.#pageInfo === BEFORE_FIRST) this.#addPage(page);
    else for (const { payouts } of page.nodes) this.#refresh(payouts.nodes);
  }

  /** Merges the payout of an update, as it was at its change. */
  update(payout: SubaccountPayout): void {
    mergeUpdated(this.#payouts, [payout], ({ id }) => id);
  }

  async readFirst(): Promise<void> {
    this.addFirst(await this.#readSubaccounts(null));
    if (this.#payouts.size === 0) await this.loadMore();
  }

  /** Reads further subaccounts, up to one that has payouts; behind the last one, older payouts. */
  async loadMore(): Promise<void> {
    const payouts = this.#payouts;
    const before = payouts.size;
    for (
      let pages = 0;
      pages < MAX_PAGES && this.#pageInfo.hasNextPage && payouts.size === before;
      pages += 1
    ) {
      const page = await this.#readSubaccounts(this.#pageInfo.endCursor);
      // The list was emptied meanwhile.
      if (payouts !== this.#payouts) return;
      this.#addPage(page);
    }
    if (payouts.size > before || this.#pageInfo.hasNextPage) return;
    const [next] = [...this.#older].sort(([, left], [, right]) => right.reachedMs - left.reachedMs);
    if (!next) return;
    const [subaccountId, { endCursor }] = next;
    const page = await this.#readPayouts(subaccountId, endCursor);
    if (payouts === this.#payouts) this.#addPayouts(subaccountId, page);
  }

  #addPage({ nodes, pageInfo }: Page<Subaccount>): void {
    this.#pageInfo = pageInfo;
    for (const { subaccountId, payouts } of nodes) this.#addPayouts(subaccountId, payouts);
  }

  #addPayouts(subaccountId: string, { nodes, pageInfo }: Page<SubaccountPayout>): void {
    this.#refresh(nodes);
    const last = nodes.at(-1);
    if (!pageInfo.hasNextPage || !last) this.#older.delete(subaccountId);
    else
      this.#older.set(subaccountId, {
        endCursor: pageInfo.endCursor,
        reachedMs: Date.parse(last.createdAt),
      });
  }

  #refresh(payouts: readonly SubaccountPayout[]): void {
    mergeRead(this.#payouts, payouts, ({ id }) => id);
  }
}
