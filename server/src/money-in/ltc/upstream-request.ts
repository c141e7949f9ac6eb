import type { LtcRequest } from './model.ts';

/** The members of a request that the service shows. Null: not shown. */
export interface UpstreamLtcRequest {
  address: string | null;
  litoshi: number | null;
  receivedLitoshi: number | null;
  confirmations: number | null;
  requiredConfirmations: number | null;
}

/**
 * Merges what the service shows of a request into the known request: the address and the quote stay as they
 * were first shown, and the received amount is as the service shows it now. Null until both are known.
 */
export function mergeUpstreamLtc(
  known: LtcRequest | null,
  claim: UpstreamLtcRequest | null,
): LtcRequest | null {
  const address = known?.address ?? claim?.address ?? null;
  const litoshi = known?.litoshi ?? claim?.litoshi ?? null;
  if (address === null || litoshi === null) return known;
  return {
    address,
    litoshi,
    receivedLitoshi: claim?.receivedLitoshi ?? known?.receivedLitoshi ?? null,
    confirmations: claim?.confirmations ?? known?.confirmations ?? 0,
    requiredConfirmations: known?.requiredConfirmations ?? claim?.requiredConfirmations ?? null,
  };
}
