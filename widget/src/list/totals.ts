/** The number and the amount of the rows of a filter, by their statuses. */
export interface Totals<Status extends string = string> {
  /** Whether these are all rows of the filter. If false, there are at least so many. */
  isExact: boolean;
  groups: { status: Status | null; count: number; amountCents: number }[];
}
