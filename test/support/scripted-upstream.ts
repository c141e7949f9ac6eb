import {
  type Upstream,
  type UpstreamAnswer,
  UpstreamFault,
  type UpstreamRequest,
} from '../../server/src/upstream/upstream.ts';

/** A script's answer to a request, or the error that it throws; undefined is 404. */
export type Script = (request: UpstreamRequest) => Said | Promise<Said>;
type Said = Partial<UpstreamAnswer> | Error | undefined;

/** A service that says what a test wants, without HTTP and without a budget. */
export interface ScriptedUpstream extends Upstream {
  /** The request, as `GET /v1/wallet`. */
  readonly asked: string[];
  readonly requests: UpstreamRequest[];
  script: Script;
}

export function scriptedUpstream(script: Script = () => undefined): ScriptedUpstream {
  async function send(request: UpstreamRequest): Promise<UpstreamAnswer> {
    scripted.asked.push(`${request.method} ${request.path}`);
    scripted.requests.push(request);
    const said = (await scripted.script(request)) ?? { status: 404, body: { error: 'Not found' } };
    if (said instanceof Error) throw said;
    // As it comes off the wire: nobody else's object.
    const { status = 200, body = null, headers = {} } = said;
    return { status, body: JSON.parse(JSON.stringify(body)), headers };
  }
  const scripted: ScriptedUpstream = {
    asked: [],
    requests: [],
    script,
    send,
    get: (request) => send({ ...request, method: 'GET' }),
    state: () => {
      throw new Error('not asked for');
    },
    close: async () => undefined,
  };
  return scripted;
}

/** Nobody knows whether it was done. */
export const lost = () => new UpstreamFault('reset', 'maybe');
/** It certainly was not. */
export const unreachable = () => new UpstreamFault('unreachable', 'no');
