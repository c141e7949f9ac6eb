import type { Database } from '../db/database.ts';
import type { Cursors, CursorsFor } from '../kernel/cursor.ts';
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
  type Topic,
} from './log.ts';
import type { Listener, LogTailer } from './log-tailer.ts';

/**
 * The client reads more slowly than things happen, and its queue is full. It is closed with 1013 and comes back
 * with `after`: it loses nothing, and it has cost the others nothing.
 */
export class SlowConsumerError extends Error {
  override readonly name = 'SlowConsumerError';
}

/** Changes that one subscription may lie behind. Beyond what it has not read yet, it reads from the log. */
const QUEUE_LIMIT = 256;
const PAGE = 100;

/** The state of a resource, and the version of the tenant's log that it holds for. */
export interface InitialState<Item> {
  version: number;
  /** With the cursor that continues behind it; null where there is no state to tell yet. */
  first: ((cursor: string) => Item) | null;
  /** The stream has completed already: nothing follows this state. */
  over: boolean;
}

export interface SubscriptionOptions<Item> {
  database: Database;
  tailer: LogTailer;
  cursorsFor: CursorsFor;
  tenant: Tenant;
  topic: Topic;
  /** Selects events of the topic; all where left out. */
  wants?: (event: StoredEvent) => boolean;
  after: string | null | undefined;
  /** The state as it is, and the version that it holds for; left out where a stream has changes only. */
  begin?: () => Promise<InitialState<Item>>;
  /** With the cursor that continues behind the event. */
  toItem: (event: StoredEvent, cursor: string) => Item;
  isLast: (event: StoredEvent) => boolean;
  /**
   * Given where only the newest state counts: a client that has not read one when the next comes gets the next alone, and
   * is never too slow. It is true where two items show the same: the second is then left out.
   */
  coalesce?: (left: Item, right: Item) => boolean;
  /**
   * Subscriptions of one name make the same item of an event, and share it. The caller guarantees that they ask the same
   * with the same rights.
   */
  dedupeKey?: string | undefined;
  signal: AbortSignal;
  /** Called when the subscription has ended, or could not begin; with the error that ended it, if there is one to report. */
  onEnd?: (failure: unknown) => void;
}

/** The consumer of one subscription's items. */
export interface Reader<Item> {
  /** The item is next, within its event's delivery. False where it cannot be passed on at once: it is to be taken, then. */
  trySend(item: Item): boolean;
  /** There may be something to take. */
  ready(): void;
}

/** The items of one subscription: pushed to a reader as they come, or pulled one by one. */
export interface LiveUpdates<Item> extends AsyncIterableIterator<Item> {
  reader: Reader<Item> | null;
  /**
   * The next item, or null where it is still to come. Only what is taken makes room in the queue.
   * @throws what ended it, once: SlowConsumerError, the end of the credential, a log that cannot be read
   */
  take(): Item | null;
  /** Nothing follows. */
  over: boolean;
  end(): void;
}

/**
 * The contract of every subscription: the first state or what came after a cursor, then every change, in order,
 * none missed (but by who coalesces), none twice. It pulls from the log until it has reached the live end, joins it without a
 * gap, and from there on is pushed to. Ends after the event for which `isLast` holds, at an abort, or by a throw:
 * @throws CursorExpiredError, also later, where the log was set back behind what was given; ValidationError (not a cursor of
 * these updates), SlowConsumerError
 */
export async function subscribe<Item>(
  subscription: SubscriptionOptions<Item>,
  kinds: Kinds = new Map(),
): Promise<LiveUpdates<Item>> {
  const start = await beginningOf(subscription).catch((error: unknown) => {
    subscription.onEnd?.(error);
    throw error;
  });
  return follow(subscription, start, kinds);
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
    const first = state?.first?.(encode(cursors, position)) ?? null;
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
  return { position, first: null, seen: event && toItem(event, encode(cursors, event)), overAt };
}

/** The state that subscriptions of one name share. */
interface Kind<Item> {
  readonly dedupeKey: string | undefined;
  readonly database: Database;
  readonly tailer: LogTailer;
  readonly cursors: Cursors;
  readonly tenant: Tenant;
  readonly topic: Topic;
  readonly wants: (event: StoredEvent) => boolean;
  readonly toItem: SubscriptionOptions<Item>['toItem'];
  readonly isLast: SubscriptionOptions<Item>['isLast'];
  readonly coalesce: SubscriptionOptions<Item>['coalesce'];
  /** How many there are. */
  members: number;
  /** The item made of an event, while any queue holds it. */
  readonly items: WeakMap<StoredEvent, Item>;
  /** The same of the newest, which most are at. */
  newest: { event: StoredEvent; item: Item } | null;
}
type Kinds = Map<string, Kind<unknown>>;

function kindOf<Item>(subscription: SubscriptionOptions<Item>, kinds: Kinds): Kind<Item> {
  const { database, tailer, cursorsFor, tenant, topic, wants = every, dedupeKey } = subscription;
  const { toItem, isLast, coalesce } = subscription;
  // The same reference may stand for another resource by now.
  const name = dedupeKey && `${dedupeKey} ${topic.resourceId}`;
  const known = name && kinds.get(name);
  if (known) return known as Kind<Item>;
  const cursors = updatesCursors(cursorsFor, tenant);
  const kind: Kind<Item> = {
    ...{ dedupeKey: name, database, tailer, cursors, tenant, topic, wants, toItem, isLast, coalesce },
    members: 0,
    items: new WeakMap(),
    newest: null,
  };
  if (name) kinds.set(name, kind as Kind<unknown>);
  return kind;
}

function itemOf<Item>(kind: Kind<Item>, event: StoredEvent): Item {
  if (kind.newest?.event === event) return kind.newest.item;
  const item = kind.items.get(event) ?? make(kind, event);
  if (event.version >= (kind.newest?.event.version ?? 0)) kind.newest = { event, item };
  return item;
}

function make<Item>(kind: Kind<Item>, event: StoredEvent): Item {
  const item = kind.toItem(event, encode(kind.cursors, event));
  kind.items.set(event, item);
  if (kind.dedupeKey === undefined || typeof item !== 'object' || item === null) return item;
  // An item is executed once: if two kinds shared one, a subscriber would read what only the other may see.
  if (made.has(item)) throw new TypeError('Each kind of subscription makes an item of its own of each event');
  made.add(item);
  return item;
}

const made = new WeakSet<object>();

/** A subscription that has begun. Thousands wait here at a time, so it is all in one object, and its functions are shared. */
interface Live<Item> extends LiveUpdates<Item>, Listener {
  readonly kind: Kind<Item>;
  readonly kinds: Kinds;
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
  kinds: Kinds,
): LiveUpdates<Item> {
  const { signal, onEnd } = subscription;
  const kind = kindOf(subscription, kinds);
  kind.members += 1;
  const live: Live<Item> = {
    // What each event looks at comes first.
    after: position.version,
    onEvent: heard,
    kind,
    reader: null,
    queue: null,
    seen,
    over: false,
    topic: kind.topic,
    kinds,
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
    end: cut,
    handleEvent: cut,
    next,
    async return() {
      live.end();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: itself,
  };
  if (signal.aborted) finish(live);
  else signal.addEventListener('abort', live);
  return live;
}

function finish<Item>(live: Live<Item>): void {
  if (live.over) return;
  const { kind, kinds, signal } = live;
  // The end of a credential is reported; a client that has left hears nothing.
  if (signal.reason instanceof PaymentError) live.failure = signal.reason;
  live.over = true;
  live.leave?.();
  live.leave = null;
  live.queue = null;
  signal.removeEventListener('abort', live);
  kind.members -= 1;
  if (kind.members === 0 && kind.dedupeKey !== undefined) kinds.delete(kind.dedupeKey);
  live.onEnd?.(live.failure);
}

function cut<Item>(this: Live<Item>): void {
  finish(this);
  this.reader?.ready();
}

function heard<Item>(this: Live<Item>, event: StoredEvent): void {
  const { kind, queue, reader } = this;
  if (!kind.wants(event)) return;
  // Who hears it first makes the item where a fault in that ends the subscription; the others are given it here.
  if (queue === null && reader !== null && kind.newest?.event === event && !kind.isLast(event)) {
    const { item } = kind.newest;
    if (isSeen(this, item)) return;
    if (reader.trySend(item)) {
      if (kind.coalesce) this.seen = item;
      return;
    }
  }
  if (queue === null || kind.coalesce) this.queue = [event];
  else if (queue.length < QUEUE_LIMIT) queue.push(event);
  else {
    this.failure = new SlowConsumerError('The subscriber is too slow; come back with the last cursor');
    finish(this);
  }
  this.reader?.ready();
}

function setBack<Item>(this: Live<Item>): void {
  // Versions are used again: no later event would be taken for the newest.
  this.kind.newest = null;
  this.failure = new CursorExpiredError(SET_BACK);
  finish(this);
  this.reader?.ready();
}

const SET_BACK =
  'The log was set back, and what this followed is no longer in it; subscribe again without a cursor';

function dropped<Item>(this: Live<Item>): void {
  this.leave = null;
  this.reader?.ready();
}

function take<Item>(this: Live<Item>): Item | null {
  const { kind, first, failure } = this;
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
    if (kind.isLast(event)) finish(this);
    const item = itemOf(kind, event);
    if (isSeen(this, item)) continue;
    if (kind.coalesce) this.seen = item;
    return item;
  }
  return null;
}

/** It shows what the client has seen last. */
function isSeen<Item>({ kind, seen }: Live<Item>, item: Item): boolean {
  return kind.coalesce !== undefined && seen !== null && kind.coalesce(seen, item);
}

/** Reads on in the log, at the client's own pace; at its end, joins the live end. */
async function catchUp<Item>(live: Live<Item>): Promise<void> {
  live.isReading = true;
  try {
    const { events, through, mark, isSetBack } = await readOn(live);
    if (live.over) return;
    if (isSetBack) throw new CursorExpiredError(SET_BACK);
    const wanted = events.filter(live.kind.wants);
    live.queue = wanted.length > 0 ? wanted : null;
    live.after = through;
    live.mark = mark;
    if (events.length === 0) {
      if (live.overAt !== null && through >= live.overAt) finish(live);
      else live.leave = live.kind.tailer.join(live.kind.tenant, live);
    }
  } catch (error) {
    live.failure = error;
    finish(live);
  } finally {
    live.isReading = false;
  }
  live.reader?.ready();
}

function readOn<Item>({ kind, after, mark }: Live<Item>): Promise<LogRead> {
  const { database, tenant, topic } = kind;
  const { snapshots } = kind.tailer;
  if (kind.coalesce) return readNewestAfter(database.sql, tenant, { snapshots, after, mark, topic });
  return readAfter(database.sql, tenant, { snapshots, after, mark, topic, limit: PAGE });
}

/** A second pull before the last one has resolved waits for it. */
function next<Item>(this: Live<Item>): Promise<IteratorResult<Item>> {
  const pullNext = () => pull(this);
  this.turn = this.turn ? this.turn.then(pullNext, pullNext) : pullNext();
  return this.turn as Promise<IteratorResult<Item>>;
}

async function pull<Item>(live: Live<Item>): Promise<IteratorResult<Item>> {
  for (;;) {
    const value = live.take();
    if (value !== null) return { value, done: false };
    if (live.over) return { value: undefined, done: true };
    await new Promise<void>((resolve) => {
      live.reader = { trySend: () => false, ready: resolve };
    });
  }
}

function itself<Iterator>(this: Iterator): Iterator {
  return this;
}

function every(): boolean {
  return true;
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
  const kinds: Kinds = new Map();
  return {
    subscribe: (subscription) => subscribe({ ...subscription, database, tailer, cursorsFor }, kinds),
    cursor: async (tenant) =>
      encode(updatesCursors(cursorsFor, tenant), await readPosition(database.sql, tenant)),
  };
}

function encode(cursors: Cursors, { version, mark }: Position): string {
  return cursors.encode(version, mark);
}

/** One purpose for all topics: a place in the log is the same one whatever is followed from there. */
function updatesCursors(cursorsFor: CursorsFor, tenant: Tenant): Cursors {
  return cursorsFor(tenant, 'updates');
}

/** `subscribe` for one caller: its tenant, and the signal that ends with its credential or its connection. */
export type SubscribeTo = <Item>(
  subscription: Omit<
    SubscriptionOptions<Item>,
    'database' | 'tailer' | 'cursorsFor' | 'tenant' | 'signal' | 'dedupeKey' | 'onEnd'
  >,
) => Promise<LiveUpdates<Item>>;
