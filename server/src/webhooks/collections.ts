import type { Collection } from '../commit/commit.ts';
import type { WebhookDelivery, WebhookEndpoint } from './model.ts';
import {
  insertAttempts,
  insertDeliveries,
  insertReceived,
  type Neighbours,
  type NewDelivery,
  type ReceivedWebhook,
  type StoredAttempt,
  saveEndpoint,
  selectDeliveries,
  selectEndpoint,
  selectNeighbours,
  selectReceived,
  updateDeliveries,
} from './store.ts';

/** A tenant has one. */
export const ENDPOINT = 'endpoint';

export const endpoints: Collection<WebhookEndpoint> = {
  name: 'webhook_endpoint',
  async load(sql, tenant) {
    const endpoint = await selectEndpoint(sql, tenant);
    return endpoint ? [endpoint] : [];
  },
  keyOf: () => ENDPOINT,
  save: (sql, tenant, [endpoint]) => saveEndpoint(sql, tenant, endpoint!),
};

/** Made by the outbox, or passed on; here they change. */
export const deliveries: Collection<WebhookDelivery> = {
  name: 'webhook_delivery',
  load: selectDeliveries,
  keyOf: (delivery) => delivery.webhookId,
  save: (sql, _tenant, rows) => updateDeliveries(sql, rows),
};

/** Written once each, and read by nobody who decides. */
export const attempts: Collection<StoredAttempt> = {
  name: 'webhook_attempt',
  load: () => Promise.reject(new Error('an attempt is written only')),
  keyOf: ({ webhookId, number }) => `${webhookId} ${number}`,
  save: (sql, _tenant, rows) => insertAttempts(sql, rows),
};

/** Follows from the deliveries; read only. */
export const neighbours: Collection<Neighbours> = {
  name: 'webhook_neighbours',
  load: selectNeighbours,
  keyOf: (row) => row.webhookId,
  save: () => Promise.reject(new Error('neighbours are read only')),
};

/** Deliveries of another service's webhooks that are passed on. */
export const passedOn: Collection<NewDelivery> = {
  name: 'webhook_delivery passed on',
  load: () => Promise.reject(new Error('what is passed on is written only')),
  keyOf: (delivery) => delivery.webhookId,
  save: insertDeliveries,
};

/** Webhooks that were received before, by id. */
export const received: Collection<ReceivedWebhook> = {
  name: 'received_webhook',
  load: (sql, tenant, ids) => selectReceived(sql, tenant, 'webhook_id', ids),
  keyOf: ({ webhookId }) => webhookId,
  save: insertReceived,
};

/** The same by what it says. */
export const receivedBodies: Collection<ReceivedWebhook> = {
  name: 'received_webhook by body',
  load: (sql, tenant, hashes) => selectReceived(sql, tenant, 'body_hash', hashes),
  keyOf: ({ bodyHash }) => bodyHash,
  // Its row is saved by id.
  save: async () => undefined,
};
