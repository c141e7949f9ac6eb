// The descriptions that types and members of all slices share. A slice's own description takes precedence.

/** The place that is described. */
export interface Described {
  /** The type, or the type of the member. */
  type: string;
  /** The name of a field, a member or a value. */
  member?: string | undefined;
  argument?: string | undefined;
}

type Rule = [pattern: RegExp, text: string | ((name: string) => string)];

/** Describes the changes that the filter of a subscription does not select. */
export const OTHER_CHANGES =
  'Other changes are skipped. A subscription with another filter may resume from the same cursor.';

/** The types by the suffix of their name, and the library's own types. */
const TYPES: readonly Rule[] = [
  [/^Node$/, 'An object that Query.node finds by its `id`.'],
  [
    /^PageInfo$/,
    'Information about a page of a list: the cursors of its ends, and whether the list continues there.',
  ],
  [/^(.+)Connection$/, (node) => `A page of ${pluralOf(node)}, with the cursors of its ends.`],
  [/^(.+)Edge$/, (node) => `An item of a page of ${pluralOf(node)}, with its cursor.`],
  [
    /Result$/,
    'The success object of a mutation, or one of the errors that a caller can correct or must know.',
  ],
  [/Success$/, 'The mutation succeeded; the fields show the state after it.'],
  [/Update$/, 'A change, with the state right after it.'],
  [
    /Filter$/,
    'Conditions that all have to be fulfilled. Of two dates the first is inclusive, the second exclusive.',
  ],
  [/Input$/, 'An input object, in which a member that is null counts as omitted.'],
];

/** The members by `Type.member`, or by member for any type. The first match is used. */
const MEMBERS: readonly Rule[] = [
  [/Filter\.customer$/, 'Selects payments of this customer, as named at creation.'],
  [
    /Filter\.(status|method)$/,
    'Selects resources with any of these values; an empty list finds nothing. UNKNOWN is refused.',
  ],
  [/Connection\.edges$/, 'The items of the page, each with its cursor.'],
  [/Connection\.nodes$/, 'The items of the page, without their cursors.'],
  [/Connection\.pageInfo$/, 'The cursors of both ends of the page, and whether the list continues there.'],
  [
    /Connection\.totalCount$/,
    'The number of items in the whole list with its filter, not in the page alone.',
  ],
  [
    /Edge\.cursor$/,
    'The cursor of the item, for `after` and `before`; opaque, and valid in this list alone.',
  ],
  [/Edge\.node$/, 'The item in its current state.'],
  [/^PageInfo\.startCursor$/, 'The cursor of the first item, for `before`; null for an empty page.'],
  [/^PageInfo\.endCursor$/, 'The cursor of the last item, for `after`; null for an empty page.'],
  [/^PageInfo\.hasNextPage$/, 'Whether the list has more items after the page.'],
  [/^PageInfo\.hasPreviousPage$/, 'Whether the list has more items before the page.'],
  [
    /Update\.occurredAt$/,
    'The time of the change; in a first state, the time of the last change that is known.',
  ],
  [/Update\.previousStatus$/, 'The status before the change; null in a first state, and in the first event.'],
  [/Update\.\w+$/, 'The resource right after this change; a lookup may show a later state.'],
  [/Error\.code$/, 'The reason as one word for programs, which stays the same.'],
  [/Error\.message$/, 'A sentence in English for the developer, not for a payer.'],
  [/Success\.deleted$/, 'Always true: a resource that does not exist is a NotFoundError.'],
  [/Success\.expiresAt$/, 'The time from which the token grants nothing.'],
  [/(Success|Result)\.\w+$/, 'The resource in its state after the mutation.'],
  [/\.amountCents$/, 'The whole amount in cents of BRL; it never changes.'],
  [/\.currency$/, 'The currency of all amounts of the resource.'],
  [/\.createdAt$/, 'The time of creation, by the clock of the service that stores the resource.'],
  [/\.refundedAt$/, 'The time at which the payer had the whole amount back; null before.'],
  [/\.paidAt$/, 'The time of the payment; null before.'],
  [/\.status$/, 'The current status; the values describe which may follow.'],
  [
    /\.description$/,
    'The merchant’s description of what is sold, shown to the payer; null if none was given.',
  ],
  [/\.cancelUrl$/, 'The URL to which a payer who gives up is sent; http or https, at most 500 characters.'],
  [/\.successUrl$/, 'The URL to which the payer is sent after paying. Reaching it proves nothing.'],
  [/Input\.customer$/, 'The customer as the merchant knows them; stored with the payment, and not verified.'],
  [/\.productId$/, 'The identifier of the product, 24 hex digits; null if no product was named.'],
  [/\.subaccountId$/, 'The identifier of a subaccount: sacc_ and 32 hex digits.'],
  [/\.orderCode$/, 'The payment’s orderCode, PSC-…, as returned by createCardPayment.'],
  [
    /\.(paymentId|chargeId|disputeId|deliveryId|storeProductId)$/,
    'The identifier as the service gave it, of a resource of the same account and environment.',
  ],
];

/** The arguments, by `Type.field(argument)`. */
const ARGUMENTS: readonly Rule[] = [
  [
    /^Subscription\..*\(after\)$/,
    'The cursor of the last update seen, or an updatesCursor: all changes since, and no first state.',
  ],
  [/^Mutation\..*\(input\)$/, 'The values for the mutation. A ValidationError names each wrong member.'],
  [
    /^Subscription\..*\(filter\)$/,
    `Selects changes after which the resource fulfils the conditions, as in the list. If omitted or empty, every change is sent. ${OTHER_CHANGES}`,
  ],
  [
    /^Subscription\..*\(status\)$/,
    'Selects changes after which the resource is in any of these states; an empty list selects none. UNKNOWN is refused.',
  ],
  [/\(filter\)$/, 'The conditions of the list. If omitted or empty, the whole list is returned.'],
  [/\(groupBy\)$/, 'Divides the totals by each of these; without any there are no groups.'],
  [/\(status\)$/, 'Selects resources in any of these states; an empty list finds nothing.'],
  [/^Query\.node\(id\)$/, 'The `id` of an object in any answer.'],
  [/^Query\.nodes\(ids\)$/, 'The `id` of each object, as in any answer; at most 100.'],
  [/\(orderCode\)$/, 'The payment’s orderCode, PSC-…, as returned by createCardPayment.'],
  [/\(subaccountId\)$/, 'The identifier of a subaccount: sacc_ and 32 hex digits.'],
  [/\(reference\)$/, 'A reference in any of those five forms.'],
  [/\(withdrawalId\)$/, '24 hex digits, as requestPayout has given it.'],
  [/\(paymentId\)$/, 'The payment’s identifier, psa_…, as returned by createPayment.'],
  [/\(chargeId\)$/, 'The charge’s identifier, psc_… or psplit_…, as returned by createCharge.'],
  [/\(disputeId\)$/, 'The dispute’s identifier, dsp_…, as a list or a webhook shows it.'],
  [/\(subscriptionId\)$/, 'The subscription’s identifier, psa_sub_…, as returned by createSubscription.'],
  [/\(refundId\)$/, 'The refund’s identifier, ref_…, as answered; or ref_idem_ and the idempotencyKey.'],
  [/\((productId|deliveryId)\)$/, 'The identifier: 24 hex digits, in upper or lower case.'],
  [/\(storeProductId\)$/, 'The identifier that the list of the store shows.'],
  [/\(webhookId\)$/, 'The X-Webhook-Id header of the delivery.'],
  [/\(redeliveryId\)$/, 'The redelivery’s identifier, whr_…, as returned by redeliverWebhooks.'],
  [/\(tokenId\)$/, 'The identifier of a token: tok_ and 24 hex digits.'],
];

/** Every rule, for a test that checks that each one is used. */
export const RULES: readonly Rule[] = [...TYPES, ...MEMBERS, ...ARGUMENTS];

/** The description that all slices share; undefined if there is none. */
export function commonDescription({ type, member, argument }: Described): string | undefined {
  if (argument !== undefined) return firstOf(ARGUMENTS, `${type}.${member}(${argument})`);
  const place = member === undefined ? type : `${type}.${member}`;
  return firstOf(member === undefined ? TYPES : MEMBERS, place);
}

function firstOf(rules: readonly Rule[], place: string): string | undefined {
  for (const [pattern, text] of rules) {
    const found = pattern.exec(place);
    if (found) return typeof text === 'string' ? text : text(found[1]!);
  }
  return undefined;
}

/** The plural of a type's name in words. */
function pluralOf(type: string): string {
  const words = type
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .replace(/\bpix\b/, 'PIX');
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : `${words}s`;
}
