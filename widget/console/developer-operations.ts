// The documents of the page for developers; operations.check.ts checks them and their types against schema.graphql.
import type { Connection } from './paged-list.ts';

export interface Endpoint {
  endpointId: string;
  ofAccount: boolean;
  url: string;
  enabled: boolean;
  /** The names of the events, or `*` alone. */
  events: readonly string[];
  status: 'ENABLED' | 'DISABLED' | 'DISABLED_BY_FAILURES';
  failingSince: string | null;
  previousSecretValidUntil: string | null;
}

export interface EventType {
  name: string;
  summary: string;
  optional: boolean;
}

export interface Endpoints {
  webhookEndpoints: readonly Endpoint[];
  webhookEvents: readonly EventType[];
}

export const ENDPOINTS =
  'query ConsoleEndpoints{webhookEndpoints{endpointId ofAccount url enabled events status failingSince previousSecretValidUntil}webhookEvents{name summary optional}}' as const;

export interface Delivery {
  webhookId: string;
  event: string;
  status: 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD' | 'CANCELED';
  url: string;
  createdAt: string;
  nextAttemptAt: string | null;
}

export interface DeliveryFilter {
  status?: Delivery['status'][];
  endpointId?: string;
  reference?: string;
}

export interface Deliveries {
  webhookDeliveries: Connection<Delivery>;
}

export const DELIVERIES =
  'query ConsoleDeliveries($after:String,$filter:WebhookDeliveryFilter){webhookDeliveries(first:20,after:$after,filter:$filter){totalCount nodes{webhookId event status url createdAt nextAttemptAt}pageInfo{hasNextPage endCursor}}}' as const;

export interface Exchange {
  payload: string | null;
  attempts: readonly {
    number: number;
    at: string;
    responseStatus: number | null;
    error: string | null;
    durationMs: number;
    responseBody: string | null;
    responseBodyTruncated: boolean;
  }[];
}

export interface OneDelivery {
  webhookDelivery: Exchange;
}

export const DELIVERY =
  'query ConsoleDelivery($id:String!){webhookDelivery(webhookId:$id){payload attempts{number at responseStatus error durationMs responseBody responseBodyTruncated}}}' as const;
