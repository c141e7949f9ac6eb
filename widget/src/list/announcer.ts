import type { BoardTexts } from '../board/board-texts.ts';
import type { CheckoutConnection } from '../checkout-state.ts';
import type { ListTexts } from './locales/texts.ts';

/** Changes within this time are announced in one sentence. */
const ANNOUNCE_MS = 1_000;

/** Announcements for screen readers: the changes of the last second, and whether the connection holds. */
export class Announcer<R extends { id: string }, T extends ListTexts> {
  /** The last announcement. */
  sentence = '';

  readonly #texts: BoardTexts<T>;
  readonly #spoken: (row: R, texts: BoardTexts<T>) => Record<string, string>;
  readonly #onSentence: () => void;
  #changes = new Map<string, { kind: 'new' | 'changed'; row: R }>();
  #connection: CheckoutConnection | 'stale' = 'live';
  #announcedConnection: CheckoutConnection | 'stale' = 'live';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    texts: BoardTexts<T>,
    { spoken }: { spoken(row: R, texts: BoardTexts<T>): Record<string, string> },
    onSentence: () => void,
  ) {
    this.#texts = texts;
    this.#spoken = spoken;
    this.#onSentence = onSentence;
  }

  addChange(kind: 'new' | 'changed', row: R): void {
    const before = this.#changes.get(row.id);
    this.#changes.set(row.id, { kind: before?.kind ?? kind, row });
    this.#schedule();
  }

  setConnection(connection: CheckoutConnection | 'stale'): void {
    this.#connection = connection;
    if (connection !== this.#announcedConnection) this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#announce();
    }, ANNOUNCE_MS);
  }

  #announce(): void {
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    const connection = this.#connection;
    const sentences: string[] = [];
    // A socket that was replaced is live again by now, so the loss is not announced.
    if (
      ['live', 'offline', 'reconnecting', 'stale'].includes(connection) &&
      connection !== this.#announcedConnection
    ) {
      sentences.push(this.#texts.text(connection as 'live'));
      this.#announcedConnection = connection;
    }
    const [one] = changes;
    if (one && changes.length === 1) {
      const values = this.#spoken(one.row, this.#texts);
      sentences.push(this.#texts.text(one.kind === 'new' ? 'announceNew' : 'announceChange', values));
    } else if (one) {
      const added = changes.filter(({ kind }) => kind === 'new').length;
      sentences.push(this.#texts.text('announceMany', { added, changed: changes.length - added }));
    }
    if (sentences.length === 0) return;
    this.sentence = sentences.join(' ');
    this.#onSentence();
  }
}
