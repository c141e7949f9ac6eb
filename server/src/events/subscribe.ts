import type { Database } from '../db/database.ts';
import type { CursorsFor } from '../kernel/cursor.ts';
import { CursorExpiredError, PaymentError, ValidationError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import {
  findKept,
  type LogRead,
  type Position,
  readAfter,
  readMark,
  readNewest,
  readNewestAfter,
  readPosition,
} from './log.ts';
import type { Listener, LogTailer } from './log-tailer.ts';
import { type LiveUpdates, SlowConsumerError, type SubscriptionOptions } from './subscription.ts';
import {
  encodeCursor,
  groupOf,
  itemOf,
  type SubscriptionGroup,
  type SubscriptionGroups,
  updatesCursors,
} from './subscription-group.ts';

/** Changes that one subscription may lie behind. Beyond what it has not read yet, it reads from the log. */
const QUEUE_LIMIT = 256;
const PAGE = 100;

/**
 * The contract of every subscription: the first state or what came after a cursor, then every change, in order,
 * none missed (but by who coalesces), none twice. It pulls from the log until it has reached the live end, joins it without a
 * gap, and from there on is pushed to. Ends after the event for which `isLast` holds, at an abort, or by a throw:
 * @throws CursorExpiredError, also later, where the log was set back behind what was given; ValidationError (not a cursor of
 * these updates), SlowConsumerError
 */
export async function subscribe<Item>(
  subscription: SubscriptionOptions<Item>,
  groups: SubscriptionGroups = new Map(),
): Promise<LiveUpdates<Item>> {
  const start = await beginningOf(subscription).catch((error: unknown) => {
    subscription.onEnd?.(error);
    throw error;
  });
  return follow(subscription, start, groups);
}

/** Where a subscription starts. */
interface Start<Item> {
  /** Every event up to here is in the first item. */
  position: Position;
  first: Item | null;
  /** The item that the client has seen last, where that counts. */
  seen: Item | null;
  /** The version with which the stream has completed; null while it has not. */
  overAt: number | null;
}

async function beginningOf<Item>(subscription: SubscriptionOptions<Item>): Promise<Start<Item>> {
  const { database, tenant, topic, cursorsFor, after, begin, toItem, coalesce } = subscription;
  const cursors = updatesCursors(cursorsFor, tenant);
  const state = begin ? await begin() : null;
  const overAt = state?.over ? state.version : null;
  if (after == null) {
    const position = state
      ? { version: state.version, mark: await readMark(database.sql, tenant, state.version) }
      : await readPosition(database.sql, tenant);
    const first = state?.first?.(encodeCursor(cursors, position)) ?? null;
    return { position, first, seen: coalesce ? first : null, overAt };
  }
  const place = cursors.decodeMarked(after);
  if (place === null)
    throw new ValidationError([{ path: 'after', message: 'is not a cursor of this server' }]);
  const position = await findKept(database.sql, tenant, { version: place.place, mark: place.mark });
  if (position === null)
    throw new CursorExpiredError('What follows this cursor is not kept; subscribe again without it');
  if (!coalesce) return { position, first: null, seen: null, overAt };
  const event = await readNewest(database.sql, tenant, {
    snapshots: subscription.tailer.snapshots,
    upTo: position.version,
    topic,
  });
  return { position, first: null, seen: event && toItem(event, encodeCursor(cursors, event)), overAt };
}

/** A subscription that has begun. Thousands wait here at a time, so it is all in one object, and its functions are shared. */
interface Subscription<Item> extends LiveUpdates<Item>, Listener {
  readonly group: SubscriptionGroup<Item>;
  readonly groups: SubscriptionGroups;
  readonly signal: AbortSignal;
  readonly onEnd: ((failure: unknown) => void) | undefined;
  readonly overAt: number | null;
  first: Item | null;
  seen: Item | null;
  /** The items that were not taken yet; null for none. */
  queue: StoredEvent[] | null;
  leave: (() => void) | null;
  isReading: boolean;
  failure: unknown;
  /** The last pull, which the next one waits for. */
  turn: Promise<unknown> | null;
  handleEvent(): void;
}

function follow<Item>(
  subscription: SubscriptionOptions<Item>,
  { position, first, seen, overAt }: Start<Item>,
  groups: SubscriptionGroups,
): LiveUpdates<Item> {
  const { signal, onEnd } = subscription;
  const group = groupOf(subscription, groups);
  group.members += 1;
  const live: Subscription<Item> = {
    // What each event looks at comes first.
    after: position.version,
    onEvent: heard,
    group,
    reader: null,
    queue: null,
    seen,
    over: false,
    topic: group.topic,
    groups,
    signal,
    onEnd,
    overAt,
    first,
    leave: null,
    isReading: false,
    failure: null,
    turn: null,
    mark: position.mark,
    onSetBack: setBack,
    onDropped: dropped,
    take,
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
  if (live.over) return;
  const { group, groups, signal } = live;
  // The end of a credential is reported; a client that has left hears nothing.
  if (signal.reason instanceof PaymentError) live.failure = signal.reason;
  live.over = true;
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

function heard<Item>(this: Subscription<Item>, event: StoredEvent): void {
  const { group, queue, reader } = this;
  if (!group.wants(event)) return;
  // Who hears it first makes the item where a fault in that ends the subscription; the others are given it here.
  if (queue === null && reader !== null && group.newest?.event === event && !group.isLast(event)) {
    const { item } = group.newest;
    if (isSeen(this, item)) return;
    if (reader.trySend(item)) {
      if (group.coalesce) this.seen = item;
      return;
    }
  }
  if (queue === null || group.coalesce) this.queue = [event];
  else if (queue.length < QUEUE_LIMIT) queue.push(event);
  else {
    this.failure = new SlowConsumerError('The subscriber is too slow; come back with the last cursor');
    finish(this);
  }
  this.reader?.ready();
}

function setBack<Item>(this: Subscription<Item>): void {
  // Versions are used again: no later event would be taken for the newest.
  this.group.newest = null;
  this.failure = new CursorExpiredError(SET_BACK);
  finish(this);
  this.reader?.ready();
}

const SET_BACK =
  'The log was set back, and what this followed is no longer in it; subscribe again without a cursor';

function dropped<Item>(this: Subscription<Item>): void {
  this.leave = null;
  this.reader?.ready();
}

function take<Item>(this: Subscription<Item>): Item | null {
  const { group, first, failure } = this;
  if (first !== null && !this.over) {
    this.first = null;
    if (this.overAt !== null) finish(this);
    return first;
  }
  if (failure !== null) {
    this.failure = null;
    throw failure;
  }
  while (!this.over) {
    const event = this.queue?.shift();
    if (this.queue?.length === 0) this.queue = null;
    if (!event) {
      if (!this.leave && !this.isReading) void catchUp(this);
      return null;
    }
    if (group.isLast(event)) finish(this);
    const item = itemOf(group, event);
    if (isSeen(this, item)) continue;
    if (group.coalesce) this.seen = item;
    return item;
  }
  return null;
}

/** It shows what the client has seen last. */
function isSeen<Item>({ group, seen }: Subscription<Item>, item: Item): boolean {
  return group.coalesce !== undefined && seen !== null && group.coalesce(seen, item);
}

/** Reads on in the log, at the client's own pace; at its end, joins the live end. */
async function catchUp<Item>(live: Subscription<Item>): Promise<void> {
  live.isReading = true;
  try {
    const { events, through, mark, isSetBack } = await readOn(live);
    if (live.over) return;
    if (isSetBack) throw new CursorExpiredError(SET_BACK);
    const wanted = events.filter(live.group.wants);
    live.queue = wanted.length > 0 ? wanted : null;
    live.after = through;
    live.mark = mark;
    if (events.length === 0) {
      if (live.overAt !== null && through >= live.overAt) finish(live);
      else live.leave = live.group.tailer.join(live.group.tenant, live);
    }
  } catch (error) {
    live.failure = error;
    finish(live);
  } finally {
    live.isReading = false;
  }
  live.reader?.ready();
}

function readOn<Item>({ group, after, mark }: Subscription<Item>): Promise<LogRead> {
  const { database, tenant, topic } = group;
  const { snapshots } = group.tailer;
  if (group.coalesce) return readNewestAfter(database.sql, tenant, { snapshots, after, mark, topic });
  return readAfter(database.sql, tenant, { snapshots, after, mark, topic, limit: PAGE });
}

/** A second pull before the last one has resolved waits for it. */
function next<Item>(this: Subscription<Item>): Promise<IteratorResult<Item>> {
  const pullNext = () => pull(this);
  this.turn = this.turn ? this.turn.then(pullNext, pullNext) : pullNext();
  return this.turn as Promise<IteratorResult<Item>>;
}

async function pull<Item>(live: Subscription<Item>): Promise<IteratorResult<Item>> {
  for (;;) {
    const value = live.take();
    if (value !== null) return { value, done: false };
    if (live.over) return { value: undefined, done: true };
    await new Promise<void>((resolve) => {
      live.reader = { trySend: () => false, ready: resolve };
    });
  }
}

function self<Iterator>(this: Iterator): Iterator {
  return this;
}

/** The operations on the log for one caller's subscriptions. */
export interface Updates {
  subscribe<Item>(
    subscription: Omit<SubscriptionOptions<Item>, 'database' | 'tailer' | 'cursorsFor'>,
  ): Promise<LiveUpdates<Item>>;
  /** Where the tenant's log stands. */
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

/** `subscribe` for one caller: its tenant, and the signal that ends with its credential or its connection. */
export type SubscribeTo = <Item>(
  subscription: Omit<
    SubscriptionOptions<Item>,
    'database' | 'tailer' | 'cursorsFor' | 'tenant' | 'signal' | 'dedupeKey' | 'onEnd'
  >,
) => Promise<LiveUpdates<Item>>;
