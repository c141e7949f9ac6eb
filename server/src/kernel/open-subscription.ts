/** The memory that a subscription holds besides its own object. */
export interface HeldBytes {
  /** The operation, which all its subscriptions share; null for a trusted document, because there are few. */
  readonly operation: { readonly key: string; readonly bytes: number } | null;
  readonly variables: number;
}

/** An open subscription, as the limits count it. */
export interface OpenSubscription {
  /** The bytes of the largest update. */
  readonly updateBytes: number;
  /**
   * Counts bytes that were written and that the client has not read yet. Each `hold` is followed by one
   * `sent`, also after `release`. Returns false if there are too many: the caller then ends the subscription.
   */
  hold(bytes: number): boolean;
  sent(bytes: number): void;
  /** Stops counting the subscription; a second call does nothing. */
  release(): void;
}
