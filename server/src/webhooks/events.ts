import type { DisabledEndpoint } from './endpoint-health.ts';
import { deliveryFromJson, type WebhookDelivery, type WebhookDeliveryStatus } from './model.ts';

/** A change of a delivery's status. An attempt after which it is still pending makes none. */
export interface WebhookDeliveryEvent {
  resource: 'webhook_delivery';
  resourceId: string;
  kind: `webhook_delivery.${WebhookDeliveryStatus}`;
  previousStatus: WebhookDeliveryStatus | null;
  snapshot: WebhookDelivery;
}

declare module '../state/events/event.ts' {
  interface EventTypes {
    webhook_delivery: Pick<WebhookDeliveryEvent, 'kind' | 'previousStatus' | 'snapshot'>;
    webhook_endpoint: {
      kind: 'webhook_endpoint.disabled';
      previousStatus: null;
      snapshot: DisabledEndpoint;
    };
  }
}

/** The event of a delivery whose status has changed; none if it is the same. */
export function statusEvents(
  delivery: WebhookDelivery,
  previousStatus: WebhookDeliveryStatus | null,
): WebhookDeliveryEvent[] {
  const { webhookId, status } = delivery;
  if (status === previousStatus) return [];
  return [
    {
      resource: 'webhook_delivery',
      resourceId: webhookId,
      kind: `webhook_delivery.${status}`,
      previousStatus,
      snapshot: withoutBody(delivery),
    },
  ];
}

/** The event of an endpoint that was disabled. */
export function disabledEvents(snapshot: DisabledEndpoint) {
  const resource = 'webhook_endpoint' as const;
  return [
    {
      ...{ resource, resourceId: snapshot.endpointId, kind: 'webhook_endpoint.disabled' as const },
      ...{ previousStatus: null, snapshot },
    },
  ];
}

/** A delivery without its body, which a new one has, and which no event shows. */
function withoutBody({
  webhookId,
  event,
  endpointId,
  url,
  status,
  attempts,
  failures,
  nextAttemptAt,
  responseStatus,
  responseClass,
  resource,
  resourceId,
  subjectType,
  subjectId,
  createdAt,
}: WebhookDelivery): WebhookDelivery {
  return {
    ...{
      webhookId,
      event,
      endpointId,
      url,
      status,
      attempts,
      failures,
      nextAttemptAt,
      responseStatus,
      responseClass,
    },
    ...{ resource, resourceId, subjectType, subjectId, createdAt },
  };
}

export const webhookSnapshots = { webhook_delivery: deliveryFromJson, webhook_endpoint: disabledFromJson };

function disabledFromJson(json: unknown): DisabledEndpoint {
  const stored = json as DisabledEndpoint;
  return {
    ...stored,
    failingSince: new Date(stored.failingSince),
    disabledAt: new Date(stored.disabledAt),
  };
}
