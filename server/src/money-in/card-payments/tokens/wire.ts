import { z } from 'zod';
import { instant } from '../../../kernel/instant.ts';
import { webhookEvent } from '../../../kernel/webhook-event.ts';
import type { TokenSnapshot } from './model.ts';

/** The events, with the members of each. */
export const tokenWebhooks = {
  'checkout_token.paused': webhookEvent('checkout_token.paused', {
    summary: 'Many cards were declined with a checkout token: its payers wait longer after a declined card',
    optional: null,
    resource: 'checkout_token',
    members: {
      tokenId: z.string(),
      reason: z.literal('declines'),
      pausedAt: instant,
      pausedUntil: instant.nullable().meta({ description: 'Null: until you resume it' }),
    },
    named: 'alike',
  }),
};

/**
 * The webhook of a checkout token that was paused for its declined cards; null for a pause or a resumption by the
 * merchant. It does not contain the token itself.
 */
export function tokenWebhook({ tokenId, pause }: TokenSnapshot) {
  if (pause?.reason !== 'declines') return null;
  return {
    event: 'checkout_token.paused' as const,
    tokenId,
    reason: pause.reason,
    pausedAt: pause.pausedAt.toISOString(),
    pausedUntil: pause.pausedUntil?.toISOString() ?? null,
  };
}
