/** A law, and what breaks it. */
export interface Violation {
  law: string;
  what: string;
}
