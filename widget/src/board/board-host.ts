import type { ReactiveControllerHost } from 'lit';
import type { Transport } from '../follow/transport.ts';

export type BoardPhase = 'idle' | 'loading' | 'ready' | 'error';

/** An element that shows a part of an account, by a dashboard token. */
export interface BoardHost extends ReactiveControllerHost, HTMLElement {
  endpoint?: string | undefined;
  token?: string | undefined;
  transport: 'auto' | Transport;
  /** Whether it was rendered, as Lit says. */
  readonly hasUpdated: boolean;
  readonly phase: BoardPhase;
  /** Returns a new token when the old one has expired. */
  renewToken?: (() => Promise<string> | string) | undefined;
}

/** The whole address of the endpoint; undefined if there is none. */
export function endpointOf({ endpoint }: BoardHost): string | undefined {
  return endpoint && URL.canParse(endpoint, document.baseURI)
    ? new URL(endpoint, document.baseURI).href
    : undefined;
}
