import { withoutExtra } from '../../kernel/list-range.ts';
import { isCents } from '../../kernel/money.ts';
import type { Intents, RequestKind } from '../../upstream/intents/operations.ts';
import type { Intent } from '../../upstream/intents/transitions.ts';
import { REQUEST_OPERATIONS, type RequestInDoubt, type RequestsInDoubtService } from '../model.ts';

/** The requests to the service behind this server whose outcome is unknown. */
export function createRequestsInDoubt({
  intents,
  kinds,
}: {
  intents: Intents;
  /** The kinds of requests, by name. */
  kinds: Readonly<Record<string, RequestKind>>;
}): RequestsInDoubtService {
  return {
    async list(tenant, range, operations) {
      const page = { ...range, limit: range.limit + 1 };
      const { items, more } = withoutExtra(await intents.unresolved(tenant, page, operations), range);
      const listed = items.map(({ position, intent }) => ({
        position,
        request: toUnresolved(intent, kinds),
      }));
      return { items: listed, more };
    },
  };
}

function toUnresolved(intent: Intent, kinds: Readonly<Record<string, RequestKind>>): RequestInDoubt {
  const { id, key, operation, summary, createdAt, lookups, lookedUpAt, finding } = intent;
  const name = operation.split(':', 1)[0]!;
  const payoutId = kinds[name]?.idOf?.(intent) ?? null;
  const { amountCents, valueCents } = summary as { amountCents?: unknown; valueCents?: unknown };
  const amount = amountCents ?? valueCents;
  return {
    id,
    operation: REQUEST_OPERATIONS.find((each) => each === name) ?? 'unknown',
    // A generated key means nothing to a caller.
    idempotencyKey: key.startsWith('psa-') ? null : key,
    amountCents: isCents(amount) ? amount : null,
    requestedAt: createdAt,
    lookups,
    lookedUpAt,
    finding,
    payoutId: name === 'requestPayout' ? payoutId : null,
    subaccountPayoutId: name === 'requestSubaccountPayout' ? payoutId : null,
  };
}
