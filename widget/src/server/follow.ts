import { live } from '../live/live.ts';
import { pause, waitBefore } from '../live/protocol.ts';
import { type PsaError, type PsaServerOptions, request } from './request.ts';
import {
  type AccountKind,
  type AccountUpdate,
  accountDocument,
  documentOf,
  type FollowedResources,
  type FollowedUpdate,
  readAccountUpdate,
  type Topic,
} from './topics.ts';

/** A program's position in the log of its account, and its handling of each update. */
export interface FollowProgram<Update> extends PsaServerOptions {
  /** Reads the cursor that `save` has stored last; null before the first. */
  load(): string | null | Promise<string | null>;
  /** Stores the cursor, once all updates before it are handled. */
  save(cursor: string): unknown;
  /** Handles an update. Once its promise is resolved, the cursor is saved and the next update is read. */
  onUpdate(update: Update): unknown;
  /**
   * Called at the first start, and if the log no longer continues from the stored cursor: compare your records with
   * the server's lists. Updates from the beginning of this call on come after it.
   */
  reconcile(reason: 'first' | 'expired'): unknown;
  /** Ends it. */
  signal?: AbortSignal | undefined;
  /**
   * Called if one of these functions has failed, before the failed one is called again: after a tenth of a second at first, later
   * after up to half a minute. What it throws ends `follow`. Without it the error is written to the console.
   */
  onError?: ((error: unknown, attempt: number) => unknown) | undefined;
  /**
   * Called before each further attempt to reach the server, with the cause of the last one's end. An error that it
   * throws ends `follow`.
   */
  onRetry?: ((cause: unknown) => void) | undefined;
  /** Waits between attempts, in place of a timer. */
  wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

export interface FollowOptions<Resource> extends FollowProgram<FollowedUpdate<Resource>> {
  /** Fields of the resource, in place of the usual ones: `orderCode status customer { email }`. */
  fields?: string | undefined;
}

export interface FollowAccountOptions<Kind extends AccountKind = AccountKind>
  extends FollowProgram<AccountUpdate<Kind>> {
  /** The kinds to follow; without them each that the key may follow. */
  kinds?: readonly Kind[] | undefined;
  /** Fields of the resource of a kind, in place of the usual ones. */
  fields?: Partial<Record<AccountKind, string>> | undefined;
}

/**
 * Follows all resources of a topic, or with `accountUpdates` everything of the account, from where the last run has ended: over cuts,
 * restarts of either side and expired cursors. Each update is handled at least once: again after a crash before `save`. To handle
 * it exactly once, store `update.cursor` in the transaction of `onUpdate`.
 *
 * Where a function of yours fails, it is called again after growing waits. It ends at an abort, and rejects with what `onError` or
 * `onRetry` throws, and where the server refuses for good.
 */
export function follow<Kind extends AccountKind = AccountKind>(
  topic: 'accountUpdates',
  options: FollowAccountOptions<Kind>,
): Promise<void>;
export function follow<Name extends Topic>(
  topic: Name,
  options: FollowOptions<FollowedResources[Name]>,
): Promise<void>;
export function follow<Resource>(topic: Topic, options: FollowOptions<Resource>): Promise<void>;
export function follow(
  topic: Topic | 'accountUpdates',
  options: FollowOptions<never> | FollowAccountOptions,
): Promise<void> {
  if (topic !== 'accountUpdates') {
    const { fields } = options as FollowOptions<never>;
    return run(documentOf(topic, fields), options as FollowOptions<never>, (update) => update);
  }
  const { kinds, fields } = options as FollowAccountOptions;
  return run(accountDocument(kinds, fields), options as FollowAccountOptions, readAccountUpdate);
}

async function run<Raw extends { cursor: string }, Update>(
  query: string,
  {
    load,
    save,
    onUpdate,
    reconcile,
    signal = new AbortController().signal,
    onError = (error) => console.error('follow: a function of yours has failed and is called again.', error),
    onRetry,
    wait = pause,
    ...server
  }: FollowProgram<Update>,
  read: (raw: Raw) => Update | null,
): Promise<void> {
  /** Repeats work of the program until it is done; returns false if it is left. */
  async function repeat(work: () => unknown): Promise<boolean> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await work();
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        await onError(error, attempt + 1);
        await wait(waitBefore(attempt, 0), signal);
        if (signal.aborted) return false;
      }
    }
  }

  /** Takes the cursor before the records are compared, so that nothing falls between. */
  async function begin(reason: 'first' | 'expired'): Promise<string | null> {
    let cursor: string | undefined;
    for (let attempt = 0; cursor === undefined && !signal.aborted; attempt += 1) {
      try {
        cursor = await request<string>(server, '{updatesCursor}');
      } catch (error) {
        if (!(error as PsaError).isRetryable) throw error;
        onRetry?.(error);
        await wait(waitBefore(attempt, 0), signal);
      }
    }
    if (cursor === undefined) return null;
    const given = cursor;
    return (await repeat(() => reconcile(reason))) && (await repeat(() => save(given))) ? given : null;
  }

  let after = null as string | null;
  const isLoaded = await repeat(async () => {
    after = await load();
  });
  if (!isLoaded) return;
  after ??= await begin('first');
  if (after === null || signal.aborted) return;
  const updates = live<Raw>({
    endpoint: server.endpoint,
    getToken: () => server.key,
    query,
    after,
    signal,
    onGap: () => begin('expired'),
    onRetry,
    wait,
    fetch: server.fetch,
  });
  for await (const raw of updates) {
    if (signal.aborted) return;
    const update = read(raw);
    if (update && !(await repeat(() => onUpdate(update)))) return;
    if (!(await repeat(() => save(raw.cursor)))) return;
  }
}
