import { type PostResult, postJson } from '../demo/shared/post-json.ts';
import { isLost } from './write.ts';

/** A request that was sent, and whose answer has not come. */
interface Sent<Input> {
  idempotencyKey: string;
  input: Input;
}

/**
 * A request of this tab that is done once: from its sending until its outcome is known it is kept over a reload, and repeated
 * with its idempotency key. A browser without storage keeps it for as long as the page is open.
 */
export class KeptRequest<Input> {
  readonly #name: string;
  #key = newKey();
  #isDoubtful = false;

  constructor(name: string) {
    this.#name = `psa-console-${name}`;
  }

  /** Whether a request was sent whose outcome is not known. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** Finds the input of a request whose answer a page before has not got. The next one has its key. */
  restore(): Input | null {
    try {
      const { idempotencyKey, input } = JSON.parse(sessionStorage.getItem(this.#name)!) as Sent<Input>;
      this.#key = idempotencyKey;
      this.#isDoubtful = true;
      return input;
    } catch {
      return null;
    }
  }

  /** Posts a body, made from an input that is kept meanwhile. Never rejects. */
  async post<Body>(path: string, input: Input, body: object): Promise<PostResult<Body>> {
    const sent: Sent<Input> = { idempotencyKey: this.#key, input };
    this.#store(JSON.stringify(sent));
    const result = await postJson<Body>(path, { ...body, idempotencyKey: this.#key });
    this.#isDoubtful ||= !result.ok && isLost(result.refusal);
    // A refusal of this request says nothing of one before it under the same key.
    if (!this.#isDoubtful) this.#store(null);
    if (result.ok || result.refusal.code === 'IDEMPOTENCY_CONFLICT') this.#end();
    return result;
  }

  #end(): void {
    this.#key = newKey();
    this.#isDoubtful = false;
    this.#store(null);
  }

  #store(text: string | null): void {
    try {
      if (text === null) sessionStorage.removeItem(this.#name);
      else sessionStorage.setItem(this.#name, text);
    } catch {
      // The storage is full, or there is none.
    }
  }
}

const OWNER = 'psa-console-owner';

/** Drops what this tab has kept of another owner than this one. Returns whether there was another. */
export function keepOnlyOf(owner: string): boolean {
  try {
    const before = sessionStorage.getItem(OWNER);
    const isAnother = before !== null && before !== owner;
    if (isAnother) sessionStorage.clear();
    sessionStorage.setItem(OWNER, owner);
    return isAnother;
  } catch {
    return false;
  }
}

/** A random key. With its hyphens it would read as a random PIX key, which logs hide. */
const newKey = (): string => crypto.randomUUID().replaceAll('-', '');
