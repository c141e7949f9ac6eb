import { newKey } from '../../src/board/page-request.ts';
import { isLost, type PostResult, postJson } from './post-json.ts';

const PREFIX = 'psa-request ';

/** A request that was sent, and whose outcome is not known. */
interface Sent<Input> {
  idempotencyKey: string;
  input: Input;
}

/** The JSON of what the storage of the tab does not take, by its name. */
const unstored = new Map<string, string>();

/**
 * A request that is done once: from its sending until its outcome is known its input is kept by this tab, over a reload, and the
 * next request of its name is sent with its idempotency key. Other tabs do not know it: what is kept may name a payee, and goes
 * with the tab. Without a storage it is kept for as long as the page is open.
 */
export class KeptRequest<Input> {
  readonly #name: string;
  #sent: Sent<Input> | null;

  /** `name` says of whom the request is, such as a subaccount: one of the same name is never done beside it. */
  constructor(name: string) {
    this.#name = PREFIX + name;
    this.#sent = find<Sent<Input>>(this.#name);
  }

  /** The input of the request whose outcome is not known; null if there is none. */
  get lost(): Input | null {
    return this.#sent?.input ?? null;
  }

  /** Posts a body, made from an input that is kept meanwhile. Never rejects. */
  async post<Body>(path: string, input: Input, body: object): Promise<PostResult<Body>> {
    const sent: Sent<Input> = { idempotencyKey: this.#sent?.idempotencyKey ?? newKey(), input };
    store(this.#name, sent);
    const { idempotencyKey } = sent;
    const result = await postJson<Body>(path, { ...body, idempotencyKey });
    if (!result.ok && isLost(result.refusal)) this.#sent = sent;
    // A conflict shows that the lost request was done. Another refusal says nothing of it.
    else if (result.ok || result.refusal.code === 'IDEMPOTENCY_CONFLICT') this.#sent = null;
    // Meanwhile the user may have dropped it, or another account signed in.
    if (find<Sent<Input>>(this.#name)?.idempotencyKey === idempotencyKey) store(this.#name, this.#sent);
    return result;
  }

  /** Forgets the lost request: the next one is another one. */
  drop(): void {
    this.#sent = null;
    store(this.#name, null);
  }
}

/** Posts an input once: where the answer was lost, the same input has the same key, whatever was posted since. Never rejects. */
export const postOnce = <Body>(path: string, input: object): Promise<PostResult<Body>> =>
  new KeptRequest<null>(JSON.stringify([path, input])).post<Body>(path, null, input);

/** Finds the inputs of the requests whose outcome is not known, of names that begin with `prefix`. */
export function lostOf<Input>(prefix: string): Input[] {
  const names = [...unstored.keys()];
  try {
    names.push(...Object.keys(sessionStorage));
  } catch {
    // There is no storage.
  }
  return [...new Set(names)]
    .filter((name) => name.startsWith(PREFIX + prefix))
    .flatMap((name) => find<Sent<Input>>(name)?.input ?? []);
}

const OWNER = 'psa-console-owner';

/** Drops the requests that this tab has kept of another owner than this one. Returns whether there was another. */
export function keepOnlyOf(owner: string): boolean {
  const before = find<string>(OWNER);
  const isAnother = before !== null && before !== owner;
  if (isAnother) forgetAll();
  store(OWNER, owner);
  return isAnother;
}

/** Drops all requests that this tab has kept. */
export function forgetAll(): void {
  unstored.clear();
  try {
    sessionStorage.clear();
  } catch {
    // There is no storage.
  }
}

function find<Value>(name: string): Value | null {
  try {
    return JSON.parse(unstored.get(name) ?? sessionStorage.getItem(name)!);
  } catch {
    return null;
  }
}

function store(name: string, value: unknown): void {
  unstored.delete(name);
  try {
    if (value) sessionStorage.setItem(name, JSON.stringify(value));
    else sessionStorage.removeItem(name);
  } catch {
    // The storage is full, or there is none.
    if (value) unstored.set(name, JSON.stringify(value));
  }
}
