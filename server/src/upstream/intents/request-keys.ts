import type { RequestKeys } from '../../kernel/request-keys.ts';
import { type Intents, type RequestKind, unknownOutcome } from './operations.ts';
import { isOpen } from './transitions.ts';

/**
 * Finds what the requests with a key have made, in this server's own record of them: the service shows no keys. A request
 * whose outcome is unknown is an error, so that nobody takes it for one that was never made.
 */
export function createRequestKeys({
  intents,
  kinds,
}: {
  intents: Pick<Intents, 'find'>;
  kinds: Readonly<Record<string, RequestKind>>;
}): RequestKeys {
  return {
    async resourceOf(tenant, operation, key) {
      const intent = await intents.find(tenant, operation, key);
      if (intent && isOpen(intent)) {
        const safeToRepeat = !kinds[operation]?.movesMoney;
        throw unknownOutcome({ safeToRepeat, lookupReference: () => null }, intent, true);
      }
      return intent?.state === 'done' ? intent.resourceId : null;
    },
  };
}
