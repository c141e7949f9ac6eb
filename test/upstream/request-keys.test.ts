import { describe, expect, test } from 'vitest';
import { PreconditionError } from '../../server/src/kernel/errors.ts';
import type { RequestKind } from '../../server/src/upstream/intents/operations.ts';
import { createRequestKeys } from '../../server/src/upstream/intents/request-keys.ts';
import type { Intent } from '../../server/src/upstream/intents/transitions.ts';

const TENANT = { accountId: 'a', environment: 'live' } as const;
const lookUp: RequestKind['lookUp'] = async () => 'unclear';

/** The record of one request in a state. */
function keysWith(intent: Pick<Intent, 'state' | 'resourceId'> | null) {
  return createRequestKeys({
    intents: { find: async () => intent && ({ ...intent, behindSince: null } as Intent) },
    kinds: { createPayment: { lookUp }, transferToSubaccount: { lookUp, movesMoney: true } },
  });
}

describe('the key of a request to another service', () => {
  test.each([
    ['was done', { state: 'done', resourceId: 'psa_1' }, 'psa_1'],
    ['was certainly not done', { state: 'absent', resourceId: null }, null],
    ['was never sent', null, null],
  ] as const)('A request that %s has what it has made', async (_, intent, made) => {
    expect(await keysWith(intent).resourceOf(TENANT, 'createPayment', 'k')).toBe(made);
  });

  test.each(['sending', 'in_doubt'] as const)(
    'A request that is %s is an error, and never null',
    async (state) => {
      const keys = keysWith({ state, resourceId: null });
      await expect(keys.resourceOf(TENANT, 'createPayment', 'k')).rejects.toMatchObject({
        ...{ code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false },
      });
      await expect(keys.resourceOf(TENANT, 'transferToSubaccount', 'k')).rejects.toMatchObject({
        ...{ code: 'OUTCOME_UNKNOWN', retryable: false, moneyMayHaveMoved: true },
      });
    },
  );

  test('A key that restored records may lack is an error', async () => {
    const behind = new PreconditionError('RECORDS_BEHIND', 'It is not known whether this was requested');
    const keys = createRequestKeys({ intents: { find: () => Promise.reject(behind) }, kinds: {} });
    await expect(keys.resourceOf(TENANT, 'createPayment', 'k')).rejects.toBe(behind);
  });
});
