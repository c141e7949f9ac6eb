import { describe, expect, test } from 'vitest';
import { describeRemote } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

describe('disputes', () => {
  describeRemote((start) => {
    describePort(start);

    test('No evidence is sent to a service whose form of it is unknown', async () => {
      const { disputes, tenant, service } = await start();
      const id = await service.controls.openDispute(service.tenant, { amountCents: 300 });
      await expect(disputes.submitEvidence(tenant, id, { text: 'x' })).rejects.toMatchObject({
        code: 'NOT_OFFERED',
      });
      expect(await service.controls.listDisputes(service.tenant, { limit: 1 })).toMatchObject([
        { status: 'open', evidence: [] },
      ]);
      expect(await disputes.ofResources(tenant, 'payment', ['psa_1', 'psa_2'])).toEqual([null, null]);
    });
  });
});
