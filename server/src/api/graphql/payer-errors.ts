import { type Caller, isPayer } from '../../kernel/caller.ts';
import { RateLimitError, UpstreamError } from '../../kernel/errors.ts';

/** The limit in the words that a payer reads. */
const LIMIT_OF_PAYERS = 'payments at this moment';

/**
 * Calls `work`, and rewords errors about the service behind a facade for a payer: how many requests that service takes,
 * whether it accepts the merchant's key and what it has answered concern only the merchant.
 */
export function withWordsFor<Result>(caller: Caller | null, work: () => Result): Result {
  if (!caller || !isPayer(caller)) return work();
  try {
    const result = work();
    if (!(result instanceof Promise)) return result;
    return result.then(withoutErrorsOfService, (error: unknown) => {
      throw inWordsForPayers(error);
    }) as Result;
  } catch (error) {
    throw inWordsForPayers(error);
  }
}

/** The values of a batch are errors where single keys have failed. */
function withoutErrorsOfService(value: unknown): unknown {
  return Array.isArray(value) ? value.map(inWordsForPayers) : value;
}

function inWordsForPayers(error: unknown): unknown {
  if (error instanceof RateLimitError && error.isOfService)
    return new RateLimitError(LIMIT_OF_PAYERS, error.retryAfterSeconds);
  if (error instanceof UpstreamError)
    return new UpstreamError(
      error.code,
      error.retryable ? 'This cannot be answered now: try again' : 'This cannot be done now',
      error,
    );
  return error;
}
