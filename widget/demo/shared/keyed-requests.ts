import { type PostResult, postJson } from './post-json.ts';

/** Requests that are each done once: one that is repeated after an answer was lost has the key of the first. */
export class KeyedRequests {
  /** The keys of the requests that the server may have received without an answer, by their content. */
  readonly #doubtful = new Map<string, string>();

  /**
   * Posts an input with its idempotency key, whatever was requested since it was lost. `apart` is sent with it and remembered
   * nowhere. Never rejects.
   */
  async post<Body>(path: string, input: object, apart: object = {}): Promise<PostResult<Body>> {
    const content = JSON.stringify([path, input]);
    // Without hyphens: with them it would read as a random PIX key in a log.
    const idempotencyKey = this.#doubtful.get(content) ?? crypto.randomUUID().replaceAll('-', '');
    const result = await postJson<Body>(path, { ...input, ...apart, idempotencyKey });
    const isUnknown = !result.ok && (result.refusal.status === 0 || result.refusal.status >= 500);
    if (isUnknown) this.#doubtful.set(content, idempotencyKey);
    // Another refusal says nothing of the lost request.
    else if (result.ok || result.refusal.code === 'IDEMPOTENCY_CONFLICT') this.#doubtful.delete(content);
    return result;
  }
}
