import type { Tenant } from '../kernel/tenant.ts';

/** The answer to a request for an address. */
export type LtcAddress =
  | { status: 'ready'; address: string }
  /** There is no address yet: the request is retried under the same id. */
  | { status: 'pending' };

/** An output of the chain that pays an address. */
export interface LtcOutput {
  /** The hash of the transaction, 64 hex digits. With the place of the output in it, it is unique. */
  txid: string;
  vout: number;
  litoshi: number;
  /** The time at which the network first saw it. */
  seenAt: Date;
  /** The number of blocks from the output's own block on; 0 while it is in none. */
  confirmations: number;
}

/**
 * Everything that the network sees for an address at one moment. An output that a reorganization has removed
 * is missing.
 */
export interface LtcReport {
  /**
   * A number that grows with each change of the outputs: of two reports the one with the larger number is the
   * newer.
   */
  revision: number;
  outputs: LtcOutput[];
}

/**
 * The Litecoin network, through a node or a custodian. The service reads it when it is notified: a
 * notification that is lost, repeated, late or forged changes nothing.
 */
export interface LitecoinRail {
  /**
   * Returns the address for an id of this server: two calls with one id return one address, and no two ids
   * share one.
   */
  addressFor(request: { id: string; tenant: Tenant }): Promise<LtcAddress>;
  /** Reports the outputs at the address of an id. */
  reportOf(id: string): Promise<LtcReport>;
}
