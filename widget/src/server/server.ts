// The entry @psa/checkout/server: for the backend of a shop, on Node or any runtime with `fetch` and Web Crypto.
export type { FollowAccountOptions, FollowOptions, FollowProgram } from './follow.ts';
// biome-ignore lint/performance/noBarrelFile: an entry of the package
export { follow } from './follow.ts';
export type {
  CheckoutInput,
  DashboardScope,
  MintedToken,
  NodeResponse,
  TokenHandler,
  TokenHandlerOptions,
} from './mint.ts';
export { mintCheckout, tokenHandler } from './mint.ts';
export { PsaError, type PsaServerOptions } from './request.ts';
export type { FollowSalesOptions, Sale, SaleRefund, SalesOptions } from './sales.ts';
export { followSales, refundOf, saleOf, sales } from './sales.ts';
export type {
  AccountKind,
  AccountResources,
  AccountUpdate,
  FollowedEntry,
  FollowedResources,
  FollowedUpdate,
  Topic,
} from './topics.ts';
export type { VerifyOptions, Webhook, WebhookRequest } from './webhook.ts';
export { verifyWebhook, WebhookError } from './webhook.ts';
export type * from './webhook-events.generated.ts';
