import type { Tenant } from '../kernel/tenant.ts';

/** The answer to a request for an address. */
export type LtcAddress =
  | { status: 'ready'; address: string }
  /** There is no address yet: the request is retried under the same id. */
  | { status: 'pending' };

/** An output of the chain that pays an address. */
export interface LtcOutput {
  /** The transaction, 64 hex digits, and the place of the output in it: unique for good. */
  txid: string;
  vout: number;
  litoshi: number;
  /** The time at which the network first saw it. */
  seenAt: Date;
  /** The blocks that have it, itself included; 0 while none has. */
  confirmations: number;
}

/** Everything that the network sees for an address at one moment. An output that a reorganisation has taken is not there. */
export interface LtcReport {
  /** Grows with each change of the outputs: of two reports the larger is the newer. */
  revision: number;
  outputs: LtcOutput[];
}

/**
 * The Litecoin network, through a node or a custodian. The service looks there when it is notified, so that a notification which
 * is lost, repeated, late or forged changes nothing.
 */
export interface LitecoinRail {
  /** Gives the address of an id of this server: two calls with one id give one address, and no two ids share one. */
  addressFor(request: { id: string; tenant: Tenant }): Promise<LtcAddress>;
  /** Reports the outputs at the address of an id. */
  reportOf(id: string): Promise<LtcReport>;
}
