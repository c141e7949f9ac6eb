import {
  type Upstream,
  type UpstreamAnswer,
  UpstreamFault,
  type UpstreamRequest,
} from '../../server/src/upstream/upstream.ts';

/** Returns the answer to a request, or an error to throw; undefined is 404. */
export type Script = (request: UpstreamRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
type ScriptedAnswer = Partial<UpstreamAnswer> | Error | undefined;

/** A service whose answers a test scripts, without HTTP and without a budget. */
export interface ScriptedUpstream extends Upstream {
  /** The method and the path of each request in order: `GET /v1/wallet`. */
  readonly requestLines: string[];
  readonly requests: UpstreamRequest[];
  script: Script;
}

export function scriptedUpstream(script: Script = () => undefined): ScriptedUpstream {
  async function send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    scripted.requestLines.push(`${request.method} ${request.path}`);
    scripted.requests.push(request);
    const answer = (await scripted.script(request)) ?? { status: 404, body: { error: 'Not found' } };
    if (answer instanceof Error) throw answer;
    // The body is copied, as an answer over a network would be.
    const { status = 200, body = null, headers = {} } = answer;
    return { status, body: JSON.parse(JSON.stringify(body)), headers };
  }
  const scripted: ScriptedUpstream = {
    requestLines: [],
    requests: [],
    script,
    send,
    get: (request) => send({ ...request, method: 'GET' }),
    state: () => {
      throw new Error('a scripted service has no state');
    },
    budget: () => {
      throw new Error('a scripted service has no budget');
    },
    close: async () => undefined,
  };
  return scripted;
}

/** The fault of a request that the service may have carried out. */
export const lost = () => new UpstreamFault('reset', 'maybe');
/** The fault of a request that the service certainly has not received. */
export const unreachable = () => new UpstreamFault('unreachable', 'no');
