/** The server's refusal of a request; status 0 if it did not answer. */
export interface Refusal {
  status: number;
  code: string | null;
  fields: { path: string; message: string }[];
  withdrawableCents?: number;
  retryAfterSeconds?: number;
}

export type PostResult<Body> = { ok: true; body: Body } | { ok: false; refusal: Refusal };

/** The codes of answers that say for good that nothing was done, with the statuses of failures. */
const UNDONE: readonly (string | null)[] = ['NOT_OFFERED', 'UPSTREAM_REFUSED'];

/** Whether an answer was lost: the change may have been made. */
export const isLost = ({ status, code }: Refusal) =>
  status === 0 || (status >= 500 && !UNDONE.includes(code));

/** A dialog stays open until the answer, so there must be an end to waiting for it. */
const TIMEOUT_MS = 30_000;

/** Posts JSON to one of the server's own routes. Never rejects. */
export function postJson<Body>(path: string, input: unknown = {}): Promise<PostResult<Body>> {
  return postBody(path, 'application/json', JSON.stringify(input));
}

/** Posts a body of any type, within `timeoutMs`. Never rejects. */
export async function postBody<Body>(
  path: string,
  contentType: string,
  content: BodyInit,
  timeoutMs = TIMEOUT_MS,
): Promise<PostResult<Body>> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body: content,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = await response.json();
    if (response.ok) return { ok: true, body };
    const retryAfterSeconds = Number(response.headers.get('retry-after'));
    return {
      ok: false,
      refusal: {
        status: response.status,
        code: null,
        fields: [],
        ...body,
        ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
      },
    };
  } catch {
    return {
      ok: false,
      refusal: { status: 0, code: null, fields: [] },
    };
  }
}
