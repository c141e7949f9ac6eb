import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { createClient } from '../../support/graphql.ts';
import type { Instance } from './instance.ts';

const SECOND = 1_000;
const PATIENCE_MS = [3 * SECOND, 8 * SECOND, 25 * SECOND];

// biome-ignore lint/suspicious/noExplicitAny: as JSON comes
export type Data = any;
/** Alters an answer on its way to the client, as a faulty facade would: the checker has to find it. */
export type AnswerTamper = (data: Data, operation: string) => Data;

/** The members of a refusal that a client reads. */
export const ERRORS = `
  ... on UserError { __typename code message }
  ... on RateLimitError { retryAfterSeconds }
  ... on UpstreamError { retryable moneyMayHaveMoved lookupReference }`;

/** Sends an operation. Null without an answer: the instance was killed, or the client's patience has ended. */
export type Ask = (
  instance: Instance,
  operation: string,
  query: string,
  variables: object,
  /** The credential; by default the merchant's key. */
  token?: string,
) => Promise<{ data: Data; errors: readonly Data[] } | null>;

export function createAsk({
  clock,
  random,
  tamper,
}: {
  clock: ManualClock;
  random: Random;
  tamper?: AnswerTamper | undefined;
}): Ask {
  return async (instance, operation, query, variables, token) => {
    const askedAt = clock.now();
    let giveUp: () => void = () => undefined;
    const impatience = new Promise<null>((resolve) => {
      giveUp = clock.schedule(plusMs(askedAt, random.pick(PATIENCE_MS)), () => resolve(null));
    });
    const client = token === undefined ? instance.client : createClient(`${instance.url}/graphql`, token);
    const sent = client.send(query, variables as Record<string, unknown>).then(
      ({ body }) => body,
      () => null,
    );
    const body = await Promise.race([sent, impatience, instance.killed.then(() => null)]);
    giveUp();
    if (!body) return null;
    const data = body.data ?? null;
    const altered = tamper && data ? tamper(data, operation) : data;
    return { data: altered, errors: body.errors ?? [] };
  };
}
