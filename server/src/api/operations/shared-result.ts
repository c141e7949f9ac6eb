import type { OpenSubscription } from '../../kernel/open-subscription.ts';
import { messageOf } from '../graphql/errors.ts';
import { bufferOf, type EventChunk, nextEvent } from './event-chunk.ts';
import type { OperationResult } from './update-plans.ts';

/** The result of one update, as the bytes that are sent to all subscribers of a transport. */
export interface SerializedResult {
  /** The part of a WebSocket message after its id and type: `"payload":…}`. */
  readonly rest: Buffer;
  /** The whole event of an event stream. */
  readonly chunk: EventChunk;
  /**
   * Counts a client that has not read the result. Each `hold` is followed by one `sent`. Returns false if too much is unread:
   * the caller then ends its subscription.
   */
  hold(): boolean;
  sent(): void;
}

/** Serializes a result, for each transport when its first subscriber is sent the result. */
export class SharedResult implements SerializedResult {
  /** Zero if it is too long. */
  readonly bytes: number;
  /** Whether each subscription ends with an error in place of this result. */
  readonly isTooLong: boolean;
  readonly #json: string;
  readonly #cursor: string | null;
  readonly #opened: OpenSubscription;
  #rest: Buffer | undefined;
  #chunk: EventChunk | undefined;
  /** The clients that have not read it: all of them hold the same bytes, which are counted once. */
  #holders = 0;

  constructor(
    { data, errors }: OperationResult,
    item: object,
    { opened, onFault }: { opened: OpenSubscription; onFault: (fault: unknown) => void },
  ) {
    const dataText = typeof data === 'string' ? data : JSON.stringify(data ?? null);
    const messages = errors?.map((error) => messageOf(error, onFault)) ?? [];
    const json =
      messages.length > 0
        ? `{"errors":${JSON.stringify(messages)},"data":${dataText}}`
        : `{"data":${dataText}}`;
    const bytes = Buffer.byteLength(json);
    this.isTooLong = bytes > opened.updateBytes;
    this.#json = this.isTooLong ? '' : json;
    this.bytes = this.isTooLong ? 0 : bytes;
    this.#cursor = cursorOf(item);
    this.#opened = opened;
  }

  get rest(): Buffer {
    this.#rest ??= bufferOf('"payload":', this.#json, this.bytes, '}');
    return this.#rest;
  }

  get chunk(): EventChunk {
    this.#chunk ??= nextEvent(this.#json, this.#cursor, this.bytes);
    return this.#chunk;
  }

  hold(): boolean {
    this.#holders += 1;
    return this.#opened.hold(this.#holders === 1 ? this.bytes : 0);
  }

  sent(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#opened.sent(this.bytes);
  }
}

/** The cursor of an update; every update has one. */
function cursorOf(item: object): string | null {
  const { cursor } = item as { cursor?: unknown };
  return typeof cursor === 'string' ? cursor : null;
}
