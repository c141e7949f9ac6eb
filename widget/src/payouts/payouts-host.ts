import type { ReactiveControllerHost } from 'lit';
import type { Transport } from '../follow/transport.ts';
import type { Payout } from './operations.ts';
import type { PayoutView } from './payout-list.ts';

export type PayoutsPhase = 'idle' | 'loading' | 'ready' | 'error';

export interface PayoutsHost extends ReactiveControllerHost, HTMLElement {
  endpoint?: string | undefined;
  token?: string | undefined;
  transport: 'auto' | Transport;
  pageSize: number;
  /** Whether it was rendered, as Lit says. */
  readonly hasUpdated: boolean;
  readonly phase: PayoutsPhase;
  readonly view: PayoutView;
  /** Returns a new token when the old one has expired. */
  renewToken?: (() => Promise<string> | string) | undefined;
  /** Whether the shown rows must keep their order. */
  readonly freezeOrder: boolean;
  onPayoutChange(kind: 'new' | 'changed', payout: Payout, statusChanged: boolean): void;
}

const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 100;

export function pageSizeOf({ pageSize }: PayoutsHost): number {
  return Math.min(MAX_PAGE_SIZE, Math.max(1, Math.floor(pageSize) || DEFAULT_PAGE_SIZE));
}

/** The whole address of the endpoint; undefined if there is none. */
export function endpointOf({ endpoint }: PayoutsHost): string | undefined {
  return endpoint && URL.canParse(endpoint, document.baseURI)
    ? new URL(endpoint, document.baseURI).href
    : undefined;
}
