/** Thrown by a handler that cannot do its task yet: the task is retried later, and nothing has failed. */
export class RetryLater extends Error {
  override readonly name = 'NotYet';
  /** Whether another service could not be reached: the attempt is counted among the task's `outages`. */
  readonly isOutage: boolean;
  /** The longest wait until the next attempt, if what is waited for comes sooner than the queue would ask. */
  readonly withinMs: number;
  constructor(
    message?: string,
    {
      isOutage = false,
      withinMs = Number.POSITIVE_INFINITY,
      ...options
    }: ErrorOptions & { isOutage?: boolean; withinMs?: number } = {},
  ) {
    super(message, options);
    this.isOutage = isOutage;
    this.withinMs = withinMs;
  }
}
