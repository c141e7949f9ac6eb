import { type Upstream, UpstreamFault, type UpstreamRequest } from '../../server/src/upstream/upstream.ts';

type Reported = { status: number; body: unknown };
/** The answer to a request, or an error to throw. */
export type Script = (request: UpstreamRequest) => Reported | Error | Promise<Reported | Error>;

/** A service that says what a test has written; nothing goes over a network. */
export interface ScriptedService {
  readonly upstream: Upstream;
  readonly asked: UpstreamRequest[];
  /** `GET /v1/wallet`, without the query string, in the order asked. */
  readonly paths: string[];
  /** From now on, for a method and the beginning of a path; the last that fits holds. */
  on(method: string, path: string, script: Script): void;
}

export function createScriptedService(): ScriptedService {
  const scripts: { method: string; path: string; script: Script }[] = [];
  const asked: UpstreamRequest[] = [];
  const paths: string[] = [];

  async function send(request: UpstreamRequest) {
    asked.push(request);
    paths.push(`${request.method} ${request.path.split('?')[0]}`);
    const found = scripts.findLast(
      ({ method, path }) => method === request.method && request.path.startsWith(path),
    );
    const reported = (await found?.script(request)) ?? refused(404, 'Not found');
    if (reported instanceof Error) throw reported;
    if (reported.status >= 500) throw new UpstreamFault('server_error', 'maybe', String(reported.status));
    return { ...reported, headers: {} };
  }

  return {
    upstream: {
      send,
      get: (request) => send({ ...request, method: 'GET' }),
      state: () => {
        throw new Error('a scripted service has no state');
      },
      close: async () => undefined,
    },
    asked,
    paths,
    on: (method, path, script) => void scripts.push({ method, path, script }),
  };
}

export const ok = (body: unknown): Reported => ({ status: 200, body });
export const refused = (status: number, error: string): Reported => ({ status, body: { error } });
export const timeout = () => new UpstreamFault('timeout', 'maybe');
