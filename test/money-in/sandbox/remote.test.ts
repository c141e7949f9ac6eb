import { describe, expect, test } from 'vitest';
import { describeRemote } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

describe('test payments', () => {
  describeRemote((start) => {
    describePort(start);

    test('No payer is played in front of another service', async () => {
      const live = await start();
      const { sandbox, tenant } = live.inSandbox();
      const input = { id: `psa_${'0'.repeat(32)}` };
      await expect(sandbox.simulatePayment(tenant, input)).rejects.toMatchObject({ code: 'NOT_OFFERED' });
      await expect(live.sandbox.simulatePayment(live.tenant, input)).rejects.toMatchObject({
        code: 'ONLY_IN_SANDBOX',
      });
    });
  });
});
