import { notOffered } from '../../upstream/responses.ts';
import type { RefundService } from '../model.ts';

/**
 * Refunds in front of another service: the document shows no operation for them, so none is requested and none is known.
 * The status of a card payment shows one that the service has made.
 */
export function createRemoteRefunds(): RefundService {
  const refuse = (what: string) => {
    throw notOffered(what);
  };
  return {
    request: async () => refuse('Refunding'),
    find: async () => refuse('Looking a refund up'),
    findMany: async (_, refundIds) => refundIds.map(() => null),
    ofResources: async (_, __, ids) => ids.map(() => null),
    list: async () => refuse('Listing refunds'),
    count: async () => refuse('Listing refunds'),
    assertAnnounced: () => refuse('Following refunds'),
  };
}
