import { notOffered } from '../../../upstream/responses.ts';
import type { ReturnService } from '../model.ts';

/**
 * Returns in front of another service, whose document has no list of them: a payment shows its own returns.
 */
export function createRemoteReturns(): ReturnService {
  const refuse = () => Promise.reject(notOffered('Listing returned money'));
  return { list: refuse, listPage: refuse, count: refuse };
}
