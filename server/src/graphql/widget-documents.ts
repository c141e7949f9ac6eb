// Made from the operations in widget/src and widget/released; `npm run regenerate` writes it.

/** The documents of the widget of this version and of the released ones, which are trusted without a manifest. */
export const WIDGET_DOCUMENTS: readonly string[] = [
  'mutation StartCheckout($input:StartCheckoutInput!){startCheckout(input:$input){...on StartCheckoutSuccess{cardPayment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderCode checkoutUrl failureReason}paymentToken}...on UserError{message code}...on RateLimitError{retryAfterSeconds}}}',
  'mutation StartCheckout($input:StartCheckoutInput!){startCheckout(input:$input){...on StartCheckoutSuccess{cardPayment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned orderCode checkoutUrl failureReason}paymentToken}...on UserError{message code}...on RateLimitError{retryAfterSeconds}}}',
  'mutation StartPixCheckout($input:StartCheckoutInput!){startPixCheckout(input:$input){...on StartPixCheckoutSuccess{payment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}}paymentToken}...on UserError{message code}...on RateLimitError{retryAfterSeconds}}}',
  'mutation StartPixCheckout($input:StartCheckoutInput!){startPixCheckout(input:$input){...on StartPixCheckoutSuccess{payment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}}paymentToken}...on UserError{message code}...on RateLimitError{retryAfterSeconds}}}',
  'query CardPayment($orderCode:String!){cardPayment(orderCode:$orderCode){__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderCode checkoutUrl failureReason}}',
  'query CardPayment($orderCode:String!){cardPayment(orderCode:$orderCode){__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned orderCode checkoutUrl failureReason}}',
  'query CardPaymentDelivered($orderCode:String!){cardPayment(orderCode:$orderCode){delivered{kind status content}}}',
  'query Payment($paymentId:String!){payment(paymentId:$paymentId){__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}}}',
  'query Payment($paymentId:String!){payment(paymentId:$paymentId){__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}}}',
  'query PaymentDelivered($paymentId:String!){payment(paymentId:$paymentId){delivered{kind status content}}}',
  'query Payouts($first:Int,$after:String,$last:Int,$before:String,$filter:PayoutFilter){payouts(first:$first,after:$after,last:$last,before:$before,filter:$filter){totalCount nodes{id withdrawalId code method amountCents feeCents destination status final deniedReason requestedAt processedAt version}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}',
  'query PayoutsPoll($first:Int,$ids:[ID!]!){payouts(first:$first){nodes{id withdrawalId code method amountCents feeCents destination status final deniedReason requestedAt processedAt version}}nodes(ids:$ids){...on Payout{id withdrawalId code method amountCents feeCents destination status final deniedReason requestedAt processedAt version}}}',
  'query PayoutsStart($first:Int,$after:String,$last:Int,$before:String,$filter:PayoutFilter){updatesCursor payouts(first:$first,after:$after,last:$last,before:$before,filter:$filter){totalCount nodes{id withdrawalId code method amountCents feeCents destination status final deniedReason requestedAt processedAt version}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}',
  'subscription CardPaymentUpdates($orderCode:String!,$after:String){cardPaymentUpdates(orderCode:$orderCode,after:$after){cursor cardPayment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderCode checkoutUrl failureReason}}}',
  'subscription CardPaymentUpdates($orderCode:String!,$after:String){cardPaymentUpdates(orderCode:$orderCode,after:$after){cursor cardPayment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned orderCode checkoutUrl failureReason}}}',
  'subscription PaymentUpdates($paymentId:String!,$after:String){paymentUpdates(paymentId:$paymentId,after:$after){cursor payment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}}}}',
  'subscription PaymentUpdates($paymentId:String!,$after:String){paymentUpdates(paymentId:$paymentId,after:$after){cursor payment{__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}}}}',
  'subscription PayoutUpdates($after:String){allPayoutUpdates(after:$after){cursor previousStatus payout{id withdrawalId code method amountCents feeCents destination status final deniedReason requestedAt processedAt version}}}',
  '{updatesCursor}',
  '{viewer{checkoutMethods}}',
];

/** The documents of @psa/checkout/server, which are trusted of an API key without a manifest. */
export const BACKEND_DOCUMENTS: readonly string[] = [
  'mutation($input:CreateCheckoutTokenInput!){createCheckoutToken(input:$input){... on CheckoutTokenSuccess{token expiresAt expiresInSeconds}... on UserError { code message } ... on ValidationError { fields { path message } }}}',
  'mutation($input:CreateDashboardTokenInput!){createDashboardToken(input:$input){... on DashboardTokenSuccess{token expiresAt expiresInSeconds}... on UserError { code message } ... on ValidationError { fields { path message } }}}',
  'query($after:String,$from:DateTime!,$to:DateTime){page:cardPayments(first:100,after:$after,status:[PAID],filter:{paidAfter:$from,paidBefore:$to}){nodes{id:orderCode externalId amountCents paidAt metadata}pageInfo{hasNextPage endCursor}}}',
  'query($after:String,$from:DateTime!,$to:DateTime){page:payments(first:100,after:$after,filter:{status:[PAID],paidAfter:$from,paidBefore:$to}){nodes{id:paymentId externalId amountCents paidAt metadata}pageInfo{hasNextPage endCursor}}}',
  'subscription($after:String){allCardPaymentUpdates(after:$after){cursor occurredAt previousStatus resource:cardPayment{orderCode externalId metadata status amountCents version}}}',
  'subscription($after:String){allChargeUpdates(after:$after){cursor occurredAt previousStatus resource:charge{chargeId status amountCents version}}}',
  'subscription($after:String){allDisputeUpdates(after:$after){cursor occurredAt previousStatus resource:dispute{disputeId status amountCents}}}',
  'subscription($after:String){allPaymentUpdates(after:$after){cursor occurredAt previousStatus resource:payment{paymentId externalId metadata status amountCents version}}}',
  'subscription($after:String){allPayoutUpdates(after:$after){cursor occurredAt previousStatus resource:payout{id withdrawalId code status amountCents version}}}',
  'subscription($after:String){allRefundUpdates(after:$after){cursor occurredAt previousStatus resource:refund{refundId status amountCents}}}',
  'subscription($after:String){allSubaccountPayoutUpdates(after:$after){cursor occurredAt previousStatus resource:subaccountPayout{code status amountCents}}}',
  'subscription($after:String){allSubaccountUpdates(after:$after){cursor occurredAt entry{id kind amountCents balanceAfterCents refId createdAt} resource:subaccount{subaccountId externalId balanceCents}}}',
  'subscription($after:String){allSubscriptionUpdates(after:$after){cursor occurredAt previousStatus resource:subscription{subscriptionId status amountCents version}}}',
  'subscription($after:String){allWebhookDeliveryUpdates(after:$after){cursor occurredAt previousStatus resource:delivery{webhookId event url status nextAttemptAt}}}',
];
