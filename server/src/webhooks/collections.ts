import type { Collection } from '../state/commit/commit.ts';
import { insertAttempts, type MadeAttempt } from './attempt-store.ts';
import type { WebhookRedelivery } from './bulk.ts';
import { redeliveryTable } from './bulk-store.ts';
import { endpointTable } from './endpoint-store.ts';
import type { WebhookEndpoint } from './endpoints.ts';
import type { WebhookDelivery } from './model.ts';
import {
  deliveryTable,
  insertDeliveries,
  insertReceived,
  type Neighbours,
  type NewDelivery,
  type ReceivedWebhook,
  receivedTable,
  selectNeighbours,
  selectReceivedBodies,
  updateDeliveries,
} from './store.ts';

/** The key of the endpoints: a tenant has one record. */
export const ENDPOINT = endpointTable.keyOf({});

export const endpoints: Collection<WebhookEndpoint> = endpointTable;

/** Deliveries that change. The outbox and the relay insert new ones. */
export const deliveries: Collection<WebhookDelivery> = {
  ...deliveryTable,
  saveEach: updateDeliveries,
};

/** Attempts: each is written once, and no decision reads them. */
export const attempts: Collection<MadeAttempt> = {
  name: 'webhook_attempt',
  loadEach: () => Promise.reject(new Error('attempts are write-only')),
  keyOf: ({ webhookId, number }) => `${webhookId} ${number}`,
  saveEach: insertAttempts,
};

/** The neighbors of a delivery, derived from the deliveries; read only. */
export const neighbours: Collection<Neighbours> = {
  name: 'webhook_neighbours',
  loadEach: selectNeighbours,
  keyOf: (row) => row.webhookId,
  saveEach: () => Promise.reject(new Error('neighbours are read only')),
};

/** Redeliveries of many deliveries. */
export const redeliveries: Collection<WebhookRedelivery> = redeliveryTable;

/** Webhooks of another service that are relayed to a payment's own URL. */
export const relayedDeliveries: Collection<NewDelivery> = {
  name: 'webhook_delivery passed on',
  loadEach: () => Promise.reject(new Error('relayed deliveries are write-only')),
  keyOf: (delivery) => delivery.webhookId,
  saveEach: insertDeliveries,
};

/** Received webhooks, by id. */
export const received: Collection<ReceivedWebhook> = {
  ...receivedTable,
  saveEach: insertReceived,
};

/** Received webhooks, by the hash of the body. */
export const receivedBodies: Collection<ReceivedWebhook> = {
  name: 'received_webhook by body',
  loadEach: selectReceivedBodies,
  keyOf: ({ bodyHash }) => bodyHash,
  // `received` saves the row.
  saveEach: async () => undefined,
};
