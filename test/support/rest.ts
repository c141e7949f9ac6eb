import { captureErrors } from './log-capture.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
type Body = any;

export interface RestAnswer {
  status: number;
  headers: Headers;
  body: Body;
}

/** A client of the REST interface with one credential, or with none. */
export interface RestClient {
  get(path: string): Promise<RestAnswer>;
  post(path: string, body?: unknown): Promise<RestAnswer>;
  delete(path: string): Promise<RestAnswer>;
  /** Sends any other request, with the options of `fetch`. */
  send(path: string, init?: RequestInit): Promise<RestAnswer>;
}

/** Creates a client whose paths leave out the `/v1` that all of them begin with. */
export function createRestClient(baseUrl: string, credential: string | null): RestClient {
  async function send(path: string, { headers, ...init }: RequestInit = {}): Promise<RestAnswer> {
    const answer = await fetch(`${baseUrl}/v1${path}`, {
      ...init,
      headers: { ...(credential === null ? {} : { authorization: `Bearer ${credential}` }), ...headers },
    });
    const text = await answer.text();
    const body = text === '' ? undefined : JSON.parse(text);
    captureErrors(body);
    return { status: answer.status, headers: answer.headers, body };
  }
  return {
    send,
    get: (path) => send(path),
    post: (path, body) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    delete: (path) => send(path, { method: 'DELETE' }),
  };
}
