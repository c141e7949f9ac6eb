import type { TokenSnapshot } from './model.ts';

/**
 * The webhook of a checkout token that was paused for its declined cards; null for what the merchant does. The token
 * itself is not in it.
 */
export function tokenWebhook({ tokenId, pause }: TokenSnapshot) {
  if (pause?.reason !== 'declines') return null;
  return {
    event: 'checkout_token.paused',
    tokenId,
    reason: pause.reason,
    pausedAt: pause.pausedAt.toISOString(),
    pausedUntil: pause.pausedUntil?.toISOString() ?? null,
  };
}
