/** A law, and the rows or answers that break it. */
export interface Violation {
  law: string;
  what: string;
}
