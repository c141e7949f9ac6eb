import { expect, test } from 'vitest';
import { objectId } from '../../server/src/kernel/ids.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { recordsOf } from '../../server/src/state/db/each-tenant.ts';
import { openStreams } from '../../server/src/state/events/log.ts';
import { endpointTable } from '../../server/src/webhooks/endpoint-store.ts';
import { newWebhookId } from '../../server/src/webhooks/model.ts';
import { insertDeliveries, selectForAttempts } from '../../server/src/webhooks/store.ts';
import { openAccount } from '../support/core.ts';
import { openFreshDatabase } from '../support/database.ts';

test('Attempts that are made together read their deliveries at once, each with its own secret, and none of another tenant', async () => {
  const database = await openFreshDatabase();
  const { sql } = database;
  const [one, other] = [await openAccount(database), await openAccount(database)] as [Tenant, Tenant];
  await openStreams(sql, [one, other]);
  const at = new Date('2026-11-30T08:00:00.000Z');
  const resourceId = objectId();
  const delivery = (webhookId: string, eventVersion: number) => ({
    ...{
      webhookId,
      eventVersion,
      body: `{"n":${eventVersion}}`,
      event: 'payment.paid',
      url: 'https://shop.example/hook',
      resource: 'payment',
      resourceId,
    },
    ...{ status: 'pending' as const, attempts: 0, failures: 0, nextAttemptAt: at, createdAt: at },
    ...{ resourceVersion: 1, occurredAt: at, headers: null },
    ...{ endpointId: null, subjectType: null, subjectId: null, responseStatus: null, responseClass: null },
  });
  const secret = (text: string) => ({
    ...{ url: null, enabled: true, secret: text, secretShown: true },
    ...{ previousSecrets: [], optionalEvents: [], failingSince: null, further: [] },
  });
  await endpointTable.saveEach(sql, [
    { tenant: one, record: secret(`whsec_${'1'.repeat(32)}`) },
    { tenant: other, record: secret(`whsec_${'2'.repeat(32)}`) },
  ]);
  const [first, second, theirs] = [newWebhookId(), newWebhookId(), newWebhookId()];
  await insertDeliveries(sql, [
    ...recordsOf(one, [delivery(first, 1), delivery(second, 2)]),
    ...recordsOf(other, [delivery(theirs, 3)]),
  ]);
  const keys = [
    { tenant: other, key: theirs },
    { tenant: one, key: second },
    { tenant: one, key: theirs },
    { tenant: one, key: first },
  ];
  expect(
    (await selectForAttempts(sql, keys)).map(
      (found) => found && [found.body, found.secrets?.secret, found.isBehindAnother],
    ),
  ).toEqual([
    // The same resource and URL at another tenant is no reason to wait.
    ['{"n":3}', `whsec_${'2'.repeat(32)}`, false],
    ['{"n":2}', `whsec_${'1'.repeat(32)}`, true],
    null,
    ['{"n":1}', `whsec_${'1'.repeat(32)}`, false],
  ]);
  await database.close();
});
