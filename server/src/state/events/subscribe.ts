import type { Cursors, CursorsFor } from '../../kernel/cursor.ts';
import { CursorExpiredError, PaymentError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../db/database.ts';
import type { StoredEvent } from './event.ts';
import {
  findRetained,
  type LogRead,
  type Position,
  readAfter,
  readMark,
  readNewest,
  readNewestAfter,
  readPosition,
} from './log.ts';
import type { Listener, LogTailer } from './log-tailer.ts';
import { createReplays } from './replays.ts';
import { type LiveUpdates, SlowConsumerError, type SubscriptionOptions } from './subscription.ts';
import {
  encodeCursor,
  findOrCreateGroup,
  findOrMakeItem,
  type SubscriptionGroup,
  type SubscriptionGroups,
  updatesCursors,
} from './subscription-group.ts';

const PAGE = 100;
/**
 * The most events of a page that stay queued for a client that does not read; the others are read again
 * later.
 */
const PARKED = 4;
const NO_CURSOR = 'is not a cursor of updates: give updatesCursor, or the cursor of an update';

/**
 * Subscribes to a topic. The contract of every subscription: it delivers the initial state or the changes
 * after a cursor, then every change, in order, none twice, and none missing unless changes coalesce. It pulls
 * from the log until it has reached the live end, joins it without a gap, and is pushed to from there on. It
 * ends after the event for which `isLast` holds, at an abort, or by a throw:
 * @throws CursorExpiredError, also later, if what follows the delivered events is no longer in the log;
 * ValidationError (no cursor of these updates), SlowConsumerError
 */
export async function subscribe<Item>(
  subscription: SubscriptionOptions<Item>,
  groups: SubscriptionGroups = new Map(),
): Promise<LiveUpdates<Item>> {
  const start = await findStart(subscription).catch((error: unknown) => {
    subscription.onEnd?.(error);
    throw error;
  });
  return createSubscription(subscription, start, groups);
}

/** The starting point of a subscription. */
interface Start<Item> {
  /** The position up to which `first` shows the state; only later events are delivered. */
  position: Position;
  first: Item | null;
  /** The last item that the client has seen, if items coalesce. */
  lastSeen: Item | null;
  /** The version of the state with which the stream completes; null if it does not. */
  finalVersion: number | null;
}

async function findStart<Item>(subscription: SubscriptionOptions<Item>): Promise<Start<Item>> {
  const { database, tenant, topic, cursorsFor, begin, toItem, coalesce } = subscription;
  const cursors = updatesCursors(cursorsFor, tenant);
  const state = begin ? await begin() : null;
  const finalVersion = state?.isOver ? state.version : null;
  const after = positionAfter(cursors, subscription);
  if (after === null) {
    const position = state
      ? { version: state.version, mark: await readMark(database.sql, tenant, state.version) }
      : await readPosition(database.sql, tenant);
    const first = state?.first?.(encodeCursor(cursors, position)) ?? null;
    return { position, first, lastSeen: coalesce ? first : null, finalVersion };
  }
  const position = await findRetained(database.sql, tenant, after);
  if (position === null)
    throw new CursorExpiredError('What follows this cursor is not kept; subscribe again without it');
  if (!coalesce) return { position, first: null, lastSeen: null, finalVersion };
  const event = await readNewest(database.sql, tenant, {
    snapshots: subscription.tailer.snapshots,
    upTo: position.version,
    topic,
  });
  return {
    position,
    first: null,
    lastSeen: event && toItem(event, encodeCursor(cursors, event)),
    finalVersion,
  };
}

/** The later of the positions that the client names; null if it names none. @throws ValidationError */
function positionAfter(
  cursors: Cursors,
  { after, lastEventId }: Pick<SubscriptionOptions<never>, 'after' | 'lastEventId'>,
): Position | null {
  const read = (path: string, cursor: string | null | undefined): Position | null => {
    if (cursor == null) return null;
    const decoded = cursors.decodeMarked(cursor);
    if (decoded === null) throw new ValidationError([{ path, message: NO_CURSOR }]);
    return { version: decoded.position, mark: decoded.mark };
  };
  const named = read('after', after);
  const seen = read('Last-Event-ID', lastEventId);
  return named && seen && named.version > seen.version ? named : (seen ?? named);
}

/** A running subscription. Thousands exist at a time, so each is a single object, and they share its functions. */
interface Subscription<Item> extends LiveUpdates<Item>, Listener {
  readonly group: SubscriptionGroup<Item>;
  readonly groups: SubscriptionGroups;
  readonly signal: AbortSignal;
  readonly onEnd: ((failure: unknown) => void) | undefined;
  readonly finalVersion: number | null;
  first: Item | null;
  lastSeen: Item | null;
  /** The events whose items were not taken yet; null if there are none. */
  queue: StoredEvent[] | null;
  leave: (() => void) | null;
  isReading: boolean;
  /** Whether the last page was full: then the subscription reads its pages in turns with others. */
  isReplay: boolean;
  failure: unknown;
  /** The last pull, which the next one waits for. */
  lastPull: Promise<unknown> | null;
  handleEvent(): void;
}

function createSubscription<Item>(
  subscription: SubscriptionOptions<Item>,
  { position, first, lastSeen, finalVersion }: Start<Item>,
  groups: SubscriptionGroups,
): LiveUpdates<Item> {
  const { signal, onEnd } = subscription;
  const group = findOrCreateGroup(subscription, groups);
  group.members += 1;
  const live: Subscription<Item> = {
    // The members that the delivery of an event reads come first.
    after: position.version,
    onEvent,
    group,
    reader: null,
    queue: null,
    lastSeen,
    isOver: false,
    topic: group.topic,
    groups,
    signal,
    onEnd,
    finalVersion,
    first,
    leave: null,
    isReading: false,
    isReplay: false,
    failure: null,
    lastPull: null,
    mark: position.mark,
    onSetBack,
    onDropped,
    take,
    park,
    end: abort,
    handleEvent: abort,
    next,
    async return() {
      live.end();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: self,
  };
  if (signal.aborted) finish(live);
  else signal.addEventListener('abort', live);
  return live;
}

function finish<Item>(live: Subscription<Item>): void {
  if (live.isOver) return;
  const { group, groups, signal } = live;
  // The end of a credential is reported; a client that has left gets no error.
  if (signal.reason instanceof PaymentError) live.failure = signal.reason;
  live.isOver = true;
  live.leave?.();
  live.leave = null;
  live.queue = null;
  signal.removeEventListener('abort', live);
  group.members -= 1;
  if (group.members === 0 && group.dedupeKey !== undefined) groups.delete(group.dedupeKey);
  live.onEnd?.(live.failure);
}

function abort<Item>(this: Subscription<Item>): void {
  finish(this);
  this.reader?.ready();
}

function onEvent<Item>(this: Subscription<Item>, event: StoredEvent): void {
  const { group, queue, reader } = this;
  if (!group.matches(event)) return;
  // In `take` the first subscription of the group makes the item, and an error there ends it. The others then
  // send that item here.
  if (queue === null && reader !== null && group.newest?.event === event && !group.isLast(event)) {
    const { item } = group.newest;
    if (isRepeated(this, item)) return;
    if (reader.trySend(item)) {
      if (group.coalesce) this.lastSeen = item;
      return;
    }
  }
  if (queue === null || group.coalesce) this.queue = [event];
  // The events of one commit arrive in one turn, during which no client can take any. They have one mark, and
  // stay together.
  else if (queue.length < group.queueLimit || queue.at(-1)?.mark === event.mark) queue.push(event);
  else {
    this.failure = new SlowConsumerError('The subscriber is too slow; come back with the last cursor');
    finish(this);
  }
  this.reader?.ready();
}

function onSetBack<Item>(this: Subscription<Item>): void {
  // Versions are reused now, and no later event would become the newest.
  this.group.newest = null;
  this.failure = new CursorExpiredError(INTERRUPTED);
  finish(this);
  this.reader?.ready();
}

const INTERRUPTED =
  'What follows is no longer in the log, which was set back, or has lost what is too old; subscribe again without a cursor';

function onDropped<Item>(this: Subscription<Item>): void {
  this.leave = null;
  this.reader?.ready();
}

function take<Item>(this: Subscription<Item>): Item | null {
  const { group, first, failure } = this;
  if (first !== null && !this.isOver) {
    this.first = null;
    if (this.finalVersion !== null) finish(this);
    return first;
  }
  if (failure !== null) {
    this.failure = null;
    throw failure;
  }
  while (!this.isOver) {
    const event = this.queue?.shift();
    if (this.queue?.length === 0) this.queue = null;
    if (!event) {
      if (!this.leave && !this.isReading) void catchUp(this);
      return null;
    }
    if (group.isLast(event)) finish(this);
    const item = findOrMakeItem(group, event);
    if (isRepeated(this, item)) continue;
    if (group.coalesce) this.lastSeen = item;
    return item;
  }
  return null;
}

function park<Item>(this: Subscription<Item>): void {
  const { queue } = this;
  // Events at the live end are shared by all subscriptions, and are not read again.
  if (this.leave || this.isReading || !queue || queue.length <= PARKED) return;
  const last = queue[PARKED - 1]!;
  queue.length = PARKED;
  this.after = last.version;
  this.mark = last.mark;
}

/** Whether the item equals the last one that the client has seen. */
function isRepeated<Item>({ group, lastSeen }: Subscription<Item>, item: Item): boolean {
  return group.coalesce !== undefined && lastSeen !== null && group.coalesce(lastSeen, item);
}

/** The turns of this process, whose subscriptions share one thread. */
const replays = createReplays();

/**
 * Reads the next events from the log, at the pace of the client. At the head of the log it joins the live
 * end.
 */
async function catchUp<Item>(live: Subscription<Item>): Promise<void> {
  live.isReading = true;
  const turn = live.isReplay ? await replays.take() : null;
  const events = live.isOver ? null : await readPage(live, turn?.limit ?? PAGE);
  live.isReading = false;
  const handOver = () => {
    if (events !== null) live.reader?.ready();
  };
  if (turn) turn.end(events ?? 0, handOver);
  else handOver();
}

/**
 * Reads a page into the queue, and returns the number of its events; null if the subscription has ended
 * meanwhile. Never rejects: a failure ends the subscription.
 */
async function readPage<Item>(live: Subscription<Item>, limit: number): Promise<number | null> {
  try {
    const { events, through, mark, isInterrupted } = await readNext(live, limit);
    if (live.isOver) return null;
    if (isInterrupted) throw new CursorExpiredError(INTERRUPTED);
    const matching = events.filter(live.group.matches);
    live.queue = matching.length > 0 ? matching : null;
    live.after = through;
    live.mark = mark;
    live.isReplay = events.length === limit;
    if (events.length === 0) {
      if (live.finalVersion !== null && through >= live.finalVersion) finish(live);
      else live.leave = live.group.tailer.join(live.group.tenant, live);
    }
    return events.length;
  } catch (error) {
    live.failure = error;
    finish(live);
    return 0;
  }
}

function readNext<Item>({ group, after, mark }: Subscription<Item>, limit: number): Promise<LogRead> {
  const { database, tenant, topic } = group;
  const { snapshots } = group.tailer;
  if (group.coalesce) return readNewestAfter(database.sql, tenant, { snapshots, after, mark, topic });
  return readAfter(database.sql, tenant, { snapshots, after, mark, topic, limit });
}

/** Returns the next item, after those of all earlier calls. */
function next<Item>(this: Subscription<Item>): Promise<IteratorResult<Item>> {
  const pullNext = () => pull(this);
  this.lastPull = this.lastPull ? this.lastPull.then(pullNext, pullNext) : pullNext();
  return this.lastPull as Promise<IteratorResult<Item>>;
}

async function pull<Item>(live: Subscription<Item>): Promise<IteratorResult<Item>> {
  for (;;) {
    const value = live.take();
    if (value !== null) return { value, done: false };
    if (live.isOver) return { value: undefined, done: true };
    await new Promise<void>((resolve) => {
      live.reader = { trySend: () => false, ready: resolve };
    });
  }
}

function self<Iterator>(this: Iterator): Iterator {
  return this;
}

/** Subscriptions to the logs of tenants. */
export interface Updates {
  subscribe<Item>(
    subscription: Omit<SubscriptionOptions<Item>, 'database' | 'tailer' | 'cursorsFor'>,
  ): Promise<LiveUpdates<Item>>;
  /** The cursor of the newest event in the log of a tenant. */
  cursor(tenant: Tenant): Promise<string>;
}

export function createUpdates({
  database,
  tailer,
  cursorsFor,
}: {
  database: Database;
  tailer: LogTailer;
  cursorsFor: CursorsFor;
}): Updates {
  const groups: SubscriptionGroups = new Map();
  return {
    subscribe: (subscription) => subscribe({ ...subscription, database, tailer, cursorsFor }, groups),
    cursor: async (tenant) =>
      encodeCursor(updatesCursors(cursorsFor, tenant), await readPosition(database.sql, tenant)),
  };
}

/**
 * Subscribes for one caller: `subscribe` with its tenant, and with the signal that aborts with its credential
 * or its connection.
 */
export type SubscribeTo = <Item>(
  subscription: Omit<
    SubscriptionOptions<Item>,
    | 'database'
    | 'tailer'
    | 'cursorsFor'
    | 'tenant'
    | 'signal'
    | 'lastEventId'
    | 'dedupeKey'
    | 'queueLimit'
    | 'onEnd'
  >,
) => Promise<LiveUpdates<Item>>;
