/** The body of `GET /simulator/state`. */
export interface Snapshot {
  clock: { now: string; offsetMs: number; nextDueAt: string | null };
  accounts: { id: string; name: string }[];
  tenant: { accountId: string; environment: Environment };
  wallet: {
    balanceCents: number;
    withdrawableCents: number;
    pendingReleaseCents: number;
    receivableCents: number;
    disputeBlockedCents: number;
    cryptoBalanceLitoshi: number;
  };
  transfers: {
    id: string;
    method: string;
    destination: string;
    amountCents: number;
    status: 'in_verification' | 'queued' | 'sent';
    until: string | null;
  }[];
  returnableTransfers: { id: string; method: string; destination: string; amountCents: number }[];
  cardPayments: {
    orderCode: string;
    amountCents: number;
    description: string | null;
    paidAt: string | null;
  }[];
  disputes: {
    id: string;
    amountCents: number;
    status: string;
    resourceId: string | null;
    evidence: number;
    evidenceDueAt: string;
    createdAt: string;
  }[];
  testPayments: { id: string; valueCents: number; createdAt: string }[];
  pixPayments: PixPayment[];
  ltcPayments: LtcPayment[];
  storeProducts: number;
  subscriptions: Subscription[];
}
export interface LtcPayment {
  id: string;
  status: 'pending' | 'paid' | 'expired' | 'refunded' | 'failed';
  amountCents: number;
  description: string | null;
  address: string | null;
  litoshi: number;
  receivedLitoshi: number;
  confirmations: number;
  requiredConfirmations: number;
  createdAt: string;
  expiresAt: string;
  paidAt: string | null;
  paidLate: boolean;
  outputs: { txid: string; litoshi: number; confirmations: number }[];
}
/** The answer to `POST /simulator/ltc/{address}`. */
export interface LtcAtAddress {
  status: LtcPayment['status'];
  receivedLitoshi: number;
  confirmations: number;
}
export interface Subscription {
  id: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  amountCents: number;
  interval: string;
  description: string | null;
  payer: string | null;
  isAuthorisable: boolean;
  createdAt: string;
  expiresAt: string;
  nextDueAt: string | null;
  cycle: { number: number; status: string; attempts: number; nextAttemptAt: string | null } | null;
}
export interface PixPayment {
  id: string;
  status: 'pending' | 'paid' | 'expired' | 'refunded' | 'failed';
  amountCents: number;
  description: string | null;
  payer: string | null;
  copyPaste: string | null;
  createdAt: string;
  expiresAt: string;
  paidAt: string | null;
  paidLate: boolean;
  refundedCents: number;
  returnedCredits: { amountCents: number; cause: string; returnedAt: string | null }[];
  refusesReturns: boolean;
}
/** The answer to `POST /simulator/pix/pay`. */
export interface PaidPix {
  amountCents: number;
  /** Null if the service has accepted it. */
  cause: string | null;
}
export type Environment = 'live' | 'sandbox';
