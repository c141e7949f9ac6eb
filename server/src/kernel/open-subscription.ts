/** The memory that a subscription holds beside its place. */
export interface HeldBytes {
  /** The operation, which all its subscriptions share; null for a trusted document: there are few. */
  readonly operation: { readonly key: string; readonly bytes: number } | null;
  readonly variables: number;
}

/** An open subscription, as it is counted. */
export interface OpenSubscription {
  /** The most bytes of one update. */
  readonly updateBytes: number;
  /**
   * Counts bytes that were written and that the client has not read yet; to be followed by one `sent`, also after `release`.
   * Returns false where there are too many: the subscription is to be ended.
   */
  hold(bytes: number): boolean;
  sent(bytes: number): void;
  /** Ends the count, once. */
  release(): void;
}
