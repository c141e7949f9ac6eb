/** The descriptions that the schemas of the slices leave open, by type, `Type.member` or `Type.VALUE`: mostly what stands in several of them. */
export const DESCRIPTION_OF: Readonly<Record<string, string>> = {
  // ── The service ──
  Node: 'An object that Query.node finds by its `id`.',
  PageInfo:
    'Information about a page of a list: the cursors of its ends, and whether the list continues there.',
  Currency: 'The currency of all amounts. There is only one.',
  'Currency.BRL': 'Brazilian real.',
  'Environment.LIVE': 'Real money, by keys that begin with ps_live_.',
  'Environment.SANDBOX': 'No money, by keys that begin with ps_test_.',
  CredentialKind: 'The kind of credential that a caller has presented, which limits what it may do.',
  'Query.viewer': 'The caller: its credential, its permissions and its rate limit.',
  'Viewer.environment': 'The environment of the credential, to which all answers belong.',
  'Viewer.rateLimit': 'The caller’s own rate limit, with this request counted.',
  'RateLimit.limit': 'The number of root fields that the caller may request in a minute.',
  'RateLimit.remaining': 'The number of root fields that are left in this minute.',
  'RateLimit.resetAt': 'The time at which the whole limit is available again.',
  'DashboardScope.PAYOUTS': 'Reads payouts of the main account, and follows them.',
  'DashboardScope.SUBACCOUNTS': 'Reads subaccounts with their statements and payouts, and follows them.',
  'DashboardScope.WALLET': 'Reads the wallet, and follows it.',
  'DashboardScope.WEBHOOKS': 'Reads the deliveries of webhooks, without their bodies, and follows them.',

  // ── Errors ──
  ErrorCode:
    'The reason for which a mutation was refused. New reasons come with new releases: treat an unknown one by its type.',
  FieldError: 'One wrong member of the input.',
  NotFoundError:
    'The resource that the input names does not exist, or belongs to another account or environment.',
  PermissionError: 'The credential is not allowed to do this.',
  RateLimitError: 'The caller did too much in too short a time; nothing was done.',
  'RateLimitError.retryAfterSeconds': 'The seconds after which a retry may succeed.',
  ValidationError: 'Members of the input are wrong; nothing was done.',
  'ValidationError.fields': 'Every wrong member, not the first alone.',
  'FieldError.message': 'A sentence in English that says what the member must be.',
  'InsufficientFundsError.balanceCents':
    'The gross balance in cents at that moment; for a subaccount, its balance. Null if it is not shown.',
  'InsufficientFundsError.disputeBlockedCents':
    'The part of the balance that disputes hold, in cents. Null if it is not shown.',
  'InsufficientFundsError.requestedCents': 'The amount in cents that would have been needed.',
  'InsufficientFundsError.subaccountsBalanceCents':
    'The part of the balance that belongs to subaccounts, in cents. Null if it is not shown.',
  'InsufficientFundsError.withdrawableCents': 'The amount in cents that was available.',
  'UpstreamError.lookupReference': 'The reference by which to look up the outcome; null if there is none.',
  'UpstreamError.moneyMayHaveMoved':
    'Whether money may have moved: look it up before anything is done again.',
  'UpstreamError.retryable':
    'Whether the same request may be sent again, with the same idempotencyKey if it has one.',

  // ── What is received ──
  CardPaymentStatus: 'The states of a card payment.',
  'Query.cardPayment': 'The card payment with this orderCode.',
  PaymentMethod: 'The method by which a payer pays.',
  'Payment.method': 'The method by which the payer pays; it never changes.',
  'CreatePaymentInput.method': 'The method by which the payer pays; PIX if omitted.',
  ReturnCause: 'The reason for which money was sent back to its payer at once.',
  CheckoutMethod: 'The method by which a checkout token lets a payer pay.',
  'CentsRangeInput.maxCents': 'The largest amount in cents that the payer may choose, itself included.',
  'CentsRangeInput.minCents': 'The smallest amount in cents that the payer may choose, itself included.',
  'ChargeSplitInput.share': 'A fixed amount, or a percentage of what is left after the fee.',
  'ChargeSplitShareInput.amountCents': 'The amount in cents; at least 1.',
  'CheckoutAmountInput.fixedCents': 'The exact amount in cents.',
  'CheckoutAmountInput.productId': 'The price of this product as it is when the payer starts; 24 hex digits.',
  'CheckoutAmountInput.range': 'The range in which the payer chooses, both bounds included.',
  'CreateCheckoutTokenInput.amount': 'The amount that the payer pays, which no page can change.',
  'CheckoutTokenSuccess.expiresAt':
    'The time from which the token starts no payment; null if it never expires.',
  'CheckoutTokenUpdate.tokenId': 'The identifier of the token in lists and logs; it grants nothing.',
  'StartCheckoutInput.attemptId':
    'The page’s own identifier of this attempt, kept over a reload: the same one never starts a second payment.',
  Customer: 'The payer as described by the merchant. Nothing of it is verified.',
  'Customer.email': 'The e-mail address, as given.',
  'Customer.externalId': 'The merchant’s own identifier of the customer.',
  'Customer.name': 'The name of the payer, as given.',
  'CustomerInput.email': 'An e-mail address, at most 254 characters, which a filter can find.',
  'CustomerInput.externalId':
    'Your own identifier of the customer, at most 200 characters, which a filter can find.',
  'CustomerInput.name': 'The name of the payer, at most 200 characters.',
  RefundStatus: 'The states of a refund.',
  'Refund.completedAt':
    'The time at which the payer had the money, or at which the refund had failed; null before.',
  'SimulatePaymentInput.outcome': 'The outcome of the payment; PAID if omitted.',
  SimulatedOutcome: 'The outcome that a payment with a test key is given.',

  // ── Disputes ──
  'Query.dispute': 'The dispute with this disputeId.',
  DisputeStatus: 'The states of a dispute.',
  DisputeReason: 'The reason for which a payer’s bank claims the money back, in the terms of the PIX rules.',
  'DisputeReason.FRAUD': 'The payer claims to have been deceived, or not to have paid.',
  'DisputeReason.OPERATIONAL_ERROR': 'The payer’s bank made a mistake, such as sending twice.',
  'Dispute.evidenceDueAt':
    'The time until which evidence is accepted. Null if none is, or if the upstream service does not report it.',
  'Dispute.reason': 'The reason that the payer’s bank gives.',
  'DisputeEvidence.documents': 'The documents with their addresses, as submitted.',
  'DisputeEvidence.submittedAt':
    'The time at which the service received the submission; null if the upstream service does not report it.',
  'DisputeEvidence.text': 'The merchant’s statement, as submitted.',
  EvidenceDocument: 'A document at an address of the merchant.',
  'EvidenceDocument.description':
    'The merchant’s description of what the document shows; null if none was given.',
  'EvidenceDocument.url': 'The https URL of the document, which the banks open.',

  // ── Content, products, the store ──
  DeliveryKind: 'The kind of content of a delivery.',
  'DeliveryKind.LINK': 'One https address for all payers.',
  'DeliveryKind.TEXT': 'One text for all payers.',
  'Delivery.kind': 'The kind of content; it never changes.',
  DeliveredStatus: 'The state of the content that a payer receives.',
  'DeliveredStatus.DELIVERED': 'The payer’s page shows it.',
  'DeliveredContent.deliveredAt':
    'The time at which the payer first received the content; null unless DELIVERED.',
  'DeliveredContent.kind': 'The kind of content that the payer receives.',
  'CreateDeliveryInput.content': 'A text, a link, or codes: one for each payer.',
  'CreateDeliveryInput.productId':
    'The identifier of the product with which the content is sold; 24 hex digits.',
  'DeleteDeliverySuccess.deliveryId': 'The deliveryId that the deleted delivery had.',
  'DeleteProductSuccess.productId': 'The productId that the deleted product had.',
  'Delivery.productId':
    'The identifier of the product, 24 hex digits, also after the product was deleted. Null if the upstream service does not report it.',
  'Query.product': 'The product with this productId, in upper or lower case.',
  'Product.name': 'The name, which the payer reads if a payment has no description of its own.',
  'Product.priceCents': 'The price in cents of BRL. Null if the upstream service does not report it.',
  'Query.storeProduct': 'The product of the store with this storeProductId.',
  'StoreProduct.available': 'Whether the store sells it now; null if the store does not report it.',
  'StoreProduct.imageUrl': 'The URL of an image, at the store’s own address; null if there is none.',
  'StoreProduct.name': 'The name of the product, as the store writes it.',
  'StoreProduct.storeProductId': 'The identifier that the store gives the product.',

  // ── What is paid out ──
  'Query.wallet': 'All balances of the account in this environment, at one moment.',
  'Wallet.cryptoBalanceLtc':
    'The balance in LTC, from which payouts by LTC are made; null if it is not known.',
  'Wallet.sandbox': 'Whether this is the sandbox’s wallet, in which there is no money.',
  PayoutMethod: 'The method by which a payout is sent.',
  'Payout.method': 'The method by which the payout is sent; it never changes.',
  'Payout.requestedAt': 'The time of the request; null if the upstream service does not report it.',
  'RequestPayoutInput.method':
    'The method by which the payout is sent. It decides the fee, the limit and the form of the destination.',
  PayoutStatus: 'The states of a payout of the main account.',
  'Query.subaccount': 'The subaccount with this subaccountId.',
  'Subaccount.balanceCents': 'The balance that may be paid out, in cents of BRL.',
  'Subaccount.externalId':
    'Your own identifier of the subaccount, which no other subaccount has; null if none was given.',
  'Subaccount.name': 'The name as given when the subaccount was opened.',
  StatementEntry: 'One movement of a subaccount’s balance. An entry never changes, and is never removed.',
  'StatementEntry.balanceAfterCents':
    'The subaccount’s balance right after the entry, in cents; null if the upstream service does not report it.',
  'StatementEntry.kind': 'The reason for which the balance moved.',
  StatementEntryKind: 'The reason for which a subaccount’s balance moved.',
  'StatementEntryKind.PAYOUT': 'The amount of a payout, the fees included.',
  SubaccountPayoutStatus: 'The states of a payout of a subaccount.',
  'SubaccountPayout.completedAt': 'The time at which the bank had sent it; null unless COMPLETED.',
  'SubaccountPayout.failureReason': 'The bank’s reason for the failure; null unless FAILED.',
  'SubaccountPayout.guidance': 'The next step for the caller, so that nobody pays twice.',
  'SubaccountPayout.recipientBankName':
    'The name of the receiver’s bank, according to the PIX key; null if it is not known.',
  'SubaccountPayout.recipientName':
    'The name of the receiver, according to the PIX key; null if it is not known.',
  'SubaccountPayout.reversedAt': 'The time at which the amount was back in the subaccount; null before.',
  'SubaccountPayout.subaccount': 'The subaccount that was debited, in its current state.',

  // ── Subscriptions of payers ──
  PixSubscriptionStatus: 'The states of a recurring PIX.',
  PixSubscriptionInterval: 'The length of a cycle.',
  'PixSubscriptionInterval.WEEKLY': 'Seven days.',
  'PixSubscriptionInterval.MONTHLY': 'One month.',
  'PixSubscriptionInterval.QUARTERLY': 'Three months.',
  'PixSubscriptionInterval.SEMIANNUAL': 'Six months.',
  'PixSubscriptionInterval.YEARLY': 'Twelve months.',
  'PixSubscription.interval': 'The length of a cycle; it never changes.',
  'PixSubscription.canceledAt': 'The time from which no cycle is debited; null unless CANCELED.',
  'CreateSubscriptionInput.interval': 'The length of a cycle; cycles are counted from the first payment.',
  SubscriptionCancelReason: 'The reason for the end of a subscription, named after the party that ended it.',
  'SubscriptionCancelReason.MERCHANT': 'The account ended it, by cancelSubscription.',
  SubscriptionCycleStatus: 'The states of a cycle.',

  // ── Tokens, doubts, webhooks ──
  'TokenPause.pausedAt': 'The time since which the token starts no payment.',
  'TokenPause.reason': 'The reason for the pause.',
  TokenPauseReason: 'The reason for which a checkout token starts no payment for a while.',
  'ResumeTokenSuccess.tokenId': 'The token that starts payments again.',
  'RevokeTokenSuccess.revoked': 'Always true, also for a token that had been revoked or had expired before.',
  UnresolvedOperation: 'The operation that was requested of the upstream service.',
  'UnresolvedRequest.amountCents': 'The amount in cents of BRL; null for a request without an amount.',
  'UnresolvedRequest.lookedUpAt':
    'The time at which the upstream service last answered a lookup; null before the first.',
  'UnresolvedRequest.operation': 'The operation that was requested.',
  'UnresolvedRequest.requestedAt': 'The time at which the request was first sent.',
  WebhookDeliveryStatus: 'The state of a webhook delivery.',
  'WebhookDeliveryStatus.DELIVERED': 'An attempt was answered with a status of 2xx.',
  'WebhookDelivery.nextAttemptAt': 'The time of the next attempt; null unless PENDING.',
  WebhookAttempt: 'One request of a delivery to its URL.',
  'WebhookAttempt.at': 'The time at which it was sent.',
  'WebhookAttempt.durationMs': 'The milliseconds until the answer, or until the attempt was given up.',
  'ConfigureWebhookSuccess.url': 'The URL that receives events from now on.',
};
