import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { follow } from '../follow/follow.ts';
import type { Transport } from '../follow/transport.ts';
import { type BoardHost, endpointOf } from './board-host.ts';
import { TokenRenewal } from './token-renewal.ts';
import type { Topic } from './updates.ts';

/** An element of a hub. */
export interface Member {
  readonly host: BoardHost;
  readonly topic: Topic;
  /**
   * The place in the stream up to which the element knows all changes, while it does not follow; undefined if it has to
   * read its state.
   */
  cursor: string | undefined;
  onUpdate(update: object): void;
  /** Reads what may have changed, and returns the function that shows it. Throws a CheckoutError. */
  poll(signal: AbortSignal): Promise<() => void>;
  onConnection(connection: CheckoutConnection, transport: Transport): void;
  onTokenExpired(): void;
}

const hubs = new Set<Hub>();

/** Finds the hub of an element's endpoint, transport and token, or creates it. The one that it has is the first choice. */
export function hubOf(host: BoardHost, current?: Hub): Hub {
  if (current?.serves(host)) return current;
  for (const hub of hubs) if (hub.serves(host)) return hub;
  return new Hub(host);
}

/** The subscription to the changes of some elements. A server that trusts only listed documents knows each of them. */
export function subscriptionOf(topics: readonly Topic[]): string {
  const { alone } = topics[0]!;
  const other = topics.some((topic) => topic.alone !== alone) && topics.find(({ among }) => among);
  return other ? other.among!() : alone();
}

/**
 * The elements of a page that have the same endpoint and token. They share one connection, one stream of changes with one
 * cursor, and one renewal of the token.
 */
export class Hub {
  /** The place of the stream; undefined before the first state was read, and after a gap. */
  cursor: string | undefined;

  readonly #endpoint: string;
  readonly #transport: BoardHost['transport'];
  #token: string | undefined;
  readonly #tokens = new TokenRenewal(this);
  readonly #members = new Set<Member>();
  /** The members that follow, each with the function that ends it. */
  readonly #following = new Map<Member, (error?: CheckoutError) => void>();
  /** The first reading, whose answer has the cursor. */
  #first: Promise<string> | undefined;
  /** The number of further readings in progress, and the cursor before the first of them. */
  #readings = 0;
  #held: string | undefined;
  #stream: AbortController | undefined;
  #isOpening = false;
  /** The token whose stream was refused once because a scope is missing. */
  #narrow: string | undefined;

  constructor(host: BoardHost) {
    this.#endpoint = endpointOf(host) ?? '';
    this.#transport = host.transport;
    this.#token = host.token;
    this.#firstRenewal = host.renewToken;
  }

  readonly #firstRenewal: BoardHost['renewToken'];

  /**
   * Whether an element belongs here. Without a token its function must be the same, and the page must not have replaced or
   * removed the token of a member: that of an account which somebody has left must not come back.
   */
  serves(host: BoardHost): boolean {
    return (
      this.#endpoint === endpointOf(host) &&
      this.#transport === host.transport &&
      (host.token
        ? this.#token === host.token
        : this.#firstRenewal === host.renewToken && this.token === this.#token)
    );
  }

  join(member: Member): void {
    hubs.add(this);
    this.#members.add(member);
    member.host.token ||= this.#token;
  }

  leave(member: Member): void {
    this.#members.delete(member);
    if (this.#members.size === 0) hubs.delete(this);
  }

  // ── The token ─────────────────────────────────────────────────────────────────────────────────

  /** The token of all members, or the one that a page has just given to one of them. */
  get token(): string | undefined {
    for (const { host } of this.#members) if ((host.token || undefined) !== this.#token) return host.token;
    return this.#token;
  }

  set token(token: string | undefined) {
    const before = this.#token;
    this.#token = token;
    for (const { host } of this.#members) if ((host.token || undefined) === before) host.token = token;
  }

  get renewToken(): BoardHost['renewToken'] {
    return [...this.#members].find(({ host }) => host.renewToken)?.host.renewToken;
  }

  get element(): Element | undefined {
    return [...this.#members][0]?.host;
  }

  onTokenExpired(): void {
    for (const member of [...this.#members]) member.onTokenExpired();
    // The token that a listener has set is that of all, before its element looks for its hub.
    this.token = this.token;
  }

  /** Replaces a refused token of all members, or gets the first one; returns whether they have another one now. Throws a CheckoutError. */
  renew(refused: string | undefined): Promise<boolean> {
    return this.#tokens.renew(refused);
  }

  /** Called when the server has accepted the token, or a user wants it to be tried again. */
  acceptToken(): void {
    this.#tokens.reset();
  }

  // ── The stream ────────────────────────────────────────────────────────────────────────────────

  /**
   * Reads a member's state, so that no change falls between it and the stream. The first reading gives the stream its
   * cursor, for which the others wait. Where there is one, the stream goes on from where it was before the reading: the members
   * know the changes that come twice by their versions.
   */
  async read(state: () => Promise<string>): Promise<void> {
    while (!this.cursor && this.#first) await this.#first.catch(() => undefined);
    if (!this.cursor) {
      this.#first = state().finally(() => {
        this.#first = undefined;
      });
      const cursor = await this.#first;
      // A member may have brought a cursor of its own meanwhile, and which of the two is earlier is not known.
      if (!this.cursor) {
        this.cursor = cursor;
        return;
      }
    }
    if (this.#readings++ === 0) this.#held = this.cursor;
    try {
      await state();
      this.cursor = this.#held;
    } finally {
      this.#readings--;
    }
  }

  /**
   * Follows until `signal` is aborted or the cursor has expired. Ends early only with an error that a retry cannot resolve.
   */
  follow(member: Member, signal: AbortSignal): Promise<CheckoutError | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined);
      const end = (error?: CheckoutError) => {
        if (this.#following.get(member) !== end) return;
        this.#following.delete(member);
        member.cursor = this.cursor;
        if (this.#following.size === 0) this.#stream?.abort();
        resolve(error);
      };
      this.#following.set(member, end);
      signal.addEventListener('abort', () => end());
      // Members that begin in one turn open one stream.
      if (this.#isOpening) return;
      this.#isOpening = true;
      queueMicrotask(() => {
        this.#isOpening = false;
        void this.#open();
      });
    });
  }

  async #open(): Promise<void> {
    this.#stream?.abort();
    const topics = [...this.#following.keys()].map(({ topic }) => topic);
    if (!topics[0]) return;
    const stream = new AbortController();
    this.#stream = stream;
    const { signal } = stream;
    const kinds = [...new Set(topics.flatMap(({ kinds }) => kinds))].sort();
    const variables = { after: this.cursor, kinds };
    const end = (error?: CheckoutError) => {
      if (signal.aborted) return;
      for (const each of [...this.#following.values()]) each(error);
    };
    const error = await follow<{ shown?: (() => void)[] }>({
      endpoint: this.#endpoint,
      token: this.#token ?? '',
      transport: this.#transport,
      query: subscriptionOf(topics),
      variables,
      signal,
      read: async () => ({ shown: await this.#poll(signal) }),
      onUpdate: (update) => {
        if (update.shown) for (const show of update.shown) show();
        else {
          this.cursor = update.cursor;
          for (const member of [...this.#following.keys()]) member.onUpdate(update);
        }
      },
      onConnection: (connection, transport) => {
        // The cursor has expired, and a stream without one lacks the updates in between: the state is read again.
        if (variables.after === undefined) {
          this.cursor = undefined;
          return end();
        }
        if (connection === 'live') this.acceptToken();
        for (const member of [...this.#following.keys()]) member.onConnection(connection, transport);
      },
    });
    // A new token may lack scopes: the members read again, and those whose reading is refused leave the stream.
    const isNarrow = error?.reason === 'FORBIDDEN' && this.#narrow !== this.#token;
    if (isNarrow) {
      this.#narrow = this.#token;
      this.cursor = undefined;
    }
    end(isNarrow ? undefined : error);
  }

  /** Polls the members. One that leaves meanwhile shows nothing, and its refusal ends no other. */
  #poll(signal: AbortSignal): Promise<(() => void)[]> {
    return Promise.all(
      [...this.#following].map(async ([member, end]) => {
        const isGone = () => this.#following.get(member) !== end;
        const show = await member.poll(signal).catch((error) => {
          if (!isGone()) throw error;
        });
        return () => isGone() || show?.();
      }),
    );
  }
}
