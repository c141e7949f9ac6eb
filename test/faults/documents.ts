import { OPTIONAL_WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';

// Operations that take money out under a key. `done` is the resource, or the reason for a refusal.

export const WITHDRAW = `mutation ($input: RequestPayoutInput!) {
  done: requestPayout(input: $input) { ... on RequestPayoutSuccess { payout { withdrawalId } } ... on UserError { code message } }
}`;
export const OPEN = `mutation ($input: CreateSubaccountInput!) {
  done: createSubaccount(input: $input) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } ... on UserError { code message } }
}`;
export const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { subaccountId } } ... on UserError { code message } }
}`;
export const PAY_OUT = `mutation ($input: RequestSubaccountPayoutInput!) {
  done: requestSubaccountPayout(input: $input) { ... on RequestSubaccountPayoutSuccess { subaccountPayout { payoutId } } ... on UserError { code message } }
}`;

export const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) {
  configureWebhook(input: $input) { ... on ConfigureWebhookSuccess { url } ... on UserError { message } }
}`;
/** The optional events that have a webhook each, beside those of payments. */
export const OPTED_INTO = OPTIONAL_WEBHOOK_EVENTS.filter((event) =>
  /^(subscription|dispute)\./.test(event),
).map((event) => event.replace('.', '_').toUpperCase());
