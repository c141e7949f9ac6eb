// What the pages ask of the server beside GraphQL.

/** A refusal, or no answer at all (status 0). */
export interface Recusa {
  status: number;
  code: string | null;
  error: string;
  fields: { path: string; message: string }[];
  withdrawableCents?: number;
  retryAfterSeconds?: number;
}

export type Resposta<Body> = { ok: true; body: Body } | { ok: false; recusa: Recusa };

/** Posts JSON to a route of ours. Never rejects. */
export async function enviar<Body>(path: string, input: unknown = {}): Promise<Resposta<Body>> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    const body = await response.json();
    if (response.ok) return { ok: true, body };
    const retryAfterSeconds = Number(response.headers.get('retry-after'));
    return {
      ok: false,
      recusa: {
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
      recusa: { status: 0, code: null, error: 'O servidor não respondeu.', fields: [] },
    };
  }
}
