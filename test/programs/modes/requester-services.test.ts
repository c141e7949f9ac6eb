import { expect, test } from 'vitest';
import type { PaymentsService } from '../../../server/src/api/graphql/services.ts';
import { createServicesFor } from '../../../server/src/programs/modes/requester-services.ts';

test('A service is created at its first use, once for each requester', () => {
  const created: string[] = [];
  const factory = (name: string) => (requester: { subject: { token: string } | null }) => {
    created.push(`${name} of ${requester.subject?.token}`);
    return { name };
  };
  const names = ['payouts', 'wallet', 'webhooks'];
  const servicesFor = createServicesFor(
    Object.fromEntries(names.map((name) => [name, factory(name)])) as unknown as Parameters<
      typeof createServicesFor
    >[0],
  );
  const [one, other] = ['one', 'other'].map((token) =>
    servicesFor({ priority: 'payer', subject: { token, network: null }, onRead: () => undefined }),
  ) as [PaymentsService, PaymentsService];
  expect(created).toEqual([]);
  expect(one.wallet).toBe(one.wallet);
  expect(one.payouts).toEqual({ name: 'payouts' });
  expect(other.wallet).not.toBe(one.wallet);
  expect(created).toEqual(['wallet of one', 'payouts of one', 'wallet of other']);
});
