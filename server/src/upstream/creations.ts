import { UpstreamError } from '../kernel/errors.ts';
import { unreadable } from './responses.ts';

// One rule for the answers to all creations. An answer is of the request where it fits what was asked, and where what it names belongs
// to nobody else. Any other leaves money in doubt, and is no sale.

/** The contradiction of an answer that names what another request has been answered with, or what was there before. */
export const OF_ANOTHER = 'what belongs to another request';

/**
 * Builds the error of an answer that is not of its request: of money an unknown outcome, for the service has done something; of a sale an error, for
 * nobody has seen its code or its page.
 */
export function disbelieved(contradiction: string, { movesMoney }: { movesMoney: boolean }): Error {
  if (movesMoney) return unreadable(contradiction);
  return new UpstreamError(
    `The answer of the payments service is not what was requested: it has ${contradiction}`,
    {
      retryable: false,
      moneyMayHaveMoved: false,
    },
  );
}

/** Builds the entry in the log of such an answer. `inWords`: the purpose of the request, as `creating charges`. */
export function faultOf(contradiction: string, inWords: string): Error {
  return new Error(`The payments service was asked for ${inWords}, and has answered with ${contradiction}`);
}
