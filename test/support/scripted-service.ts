import {
  type Upstream,
  type UpstreamAnswer,
  UpstreamFault,
  type UpstreamRequest,
} from '../../server/src/upstream/upstream.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

type ScriptedAnswer = Pick<UpstreamAnswer, 'status' | 'body'> & Partial<UpstreamAnswer>;
/** Returns the answer to a request, or an error to throw. */
export type Script = (request: UpstreamRequest) => ScriptedAnswer | Error | Promise<ScriptedAnswer | Error>;

/** A service whose answers a test scripts by endpoint; nothing goes over a network. */
export interface ScriptedService {
  readonly upstream: Upstream;
  readonly requests: UpstreamRequest[];
  /** The method and the path of each request in order, without the query string: `GET /v1/wallet`. */
  readonly requestLines: string[];
  /** Scripts the later answers of a method and a prefix of the path; of several matches the last one answers. */
  on(method: string, path: string, script: Script): void;
}

export function createScriptedService(): ScriptedService {
  const scripts: { method: string; path: string; script: Script }[] = [];
  const requestLines: string[] = [];
  const upstream = scriptedUpstream(async (request) => {
    requestLines.push(`${request.method} ${request.path.split('?')[0]}`);
    const matching = scripts.findLast(
      ({ method, path }) => method === request.method && request.path.startsWith(path),
    );
    const answer = await matching?.script(request);
    if (!answer || answer instanceof Error || answer.status < 500) return answer;
    return new UpstreamFault('server_error', 'maybe', String(answer.status));
  });
  return {
    upstream,
    requests: upstream.requests,
    requestLines,
    on: (method, path, script) => void scripts.push({ method, path, script }),
  };
}

export const ok = (body: unknown): ScriptedAnswer => ({ status: 200, body });
export const refused = (status: number, error: string): ScriptedAnswer => ({ status, body: { error } });
export const timeout = () => new UpstreamFault('timeout', 'maybe');
