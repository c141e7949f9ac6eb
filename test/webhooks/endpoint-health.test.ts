import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../server/src/kernel/clock.ts';
import { decideHealth, HEALTHY, isHeld } from '../../server/src/webhooks/endpoint-health.ts';
import { furtherOf } from '../../server/src/webhooks/endpoint-store.ts';
import {
  accountEndpointId,
  type FurtherEndpoint,
  noEndpoints,
  type WebhookEndpoint,
} from '../../server/src/webhooks/endpoints.ts';

const TENANT = { accountId: 'acc_1', environment: 'live' } as const;
const NOW = new Date('2026-03-02T12:00:00.000Z');
const OWN = `whe_${'1'.repeat(24)}`;
const URL_OF = 'https://estoque.example/psa';

const endpoint = (health: Partial<FurtherEndpoint> = {}): WebhookEndpoint => ({
  ...noEndpoints('whsec_account'),
  url: 'https://loja.example/hook',
  further: [
    {
      ...{ endpointId: OWN, url: `${URL_OF}?token=segredo`, enabled: true, events: ['*'], createdAt: NOW },
      ...{ secret: 'whsec_own', previousSecrets: [], ...HEALTHY, ...health },
    },
  ],
});
const delivery = { endpointId: OWN, url: `${URL_OF}?token=segredo` };
const attempted = (before: WebhookEndpoint, delivered: boolean, now: Date, to = delivery) =>
  decideHealth(TENANT, before, to, { delivered, now });

test('An endpoint that was stored without events is sent all of them', () => {
  expect(furtherOf(endpoint({ events: [] }).further)).toEqual(endpoint().further);
});

describe('the health of an endpoint', () => {
  test.each([
    [19, 5 * DAY_MS, true],
    [18, 50 * DAY_MS, false],
    [1_000, 5 * DAY_MS - 1, false],
  ])('After %s failures, one more behind %s ms disables it: %s', (failedAttempts, ms, isDisabled) => {
    const before = endpoint({ failingSince: NOW, failedAttempts });
    const change = attempted(before, false, plusMs(NOW, ms))!;
    expect(isHeld(change.endpoint, OWN)).toBe(isDisabled);
    expect(change.disabled).toEqual(
      isDisabled
        ? {
            ...{ endpointId: OWN, url: 'https://estoque.example/***', failingSince: NOW },
            ...{ failedAttempts: failedAttempts + 1, disabledAt: plusMs(NOW, ms) },
          }
        : null,
    );
  });

  test('A success ends its failures and enables it again, and changes nothing where there are none', () => {
    const disabled = endpoint({ failingSince: NOW, failedAttempts: 40, disabledAt: NOW });
    const again = attempted(disabled, false, plusMs(NOW, DAY_MS))!;
    expect(again).toMatchObject({ disabled: null, isEnabledAgain: false });
    expect(again.endpoint.further[0]).toMatchObject({ failedAttempts: 41, disabledAt: NOW });
    const change = attempted(disabled, true, NOW)!;
    expect(change).toMatchObject({ disabled: null, isEnabledAgain: true });
    expect(change.endpoint).toEqual(endpoint());
    expect(attempted(endpoint(), true, NOW)).toBeNull();
    expect(attempted(endpoint(), false, NOW, { ...delivery, url: URL_OF })).toBeNull();
    expect(
      attempted(endpoint(), false, NOW, { ...delivery, endpointId: `whe_${'2'.repeat(24)}` }),
    ).toBeNull();
  });

  test('The URL of the account is shown as failing, and is never disabled', () => {
    const to = { endpointId: accountEndpointId(TENANT), url: 'https://loja.example/hook' };
    const failing = attempted(endpoint(), false, NOW, to)!;
    expect(failing).toMatchObject({ disabled: null, endpoint: { failingSince: NOW } });
    const later = plusMs(NOW, 90 * DAY_MS);
    expect(attempted(failing.endpoint, false, later, to)).toBeNull();
    expect(attempted(failing.endpoint, true, later, to)!.endpoint.failingSince).toBeNull();
    expect(isHeld(failing.endpoint, to.endpointId)).toBe(false);
  });
});
