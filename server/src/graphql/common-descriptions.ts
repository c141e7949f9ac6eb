import { DESCRIPTION_OF } from './member-descriptions.ts';

// What types and members of all slices have in common, said once. A slice's own description comes first.

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

/** The types by the end of their name. */
const TYPES: readonly Rule[] = [
  [/^(.+)Connection$/, (node) => `A page of ${pluralOf(node)}, and the length of the whole list.`],
  [/^(.+)Edge$/, (node) => `One of the ${pluralOf(node)} of a page, with its place in the list.`],
  [
    /Result$/,
    'The success object of a mutation, or one of the errors that a caller can correct or must know.',
  ],
  [/Success$/, 'The mutation is done, and this is the state after it.'],
  [/Update$/, 'A change, with the state right after it.'],
  [
    /Filter$/,
    'Only what fulfils all the members that are given. Of two dates the first instant is in, the second is not.',
  ],
  [/Input$/, 'A member that is null counts as left out.'],
];

/** The members by `Type.member`, or with its type for any. The first that fits is taken. */
const MEMBERS: readonly Rule[] = [
  [/Filter\.customer$/, 'Of this customer, by the name given at creation.'],
  [/Filter\.(status|method)$/, 'Of any of these; an empty list finds nothing. UNKNOWN is refused.'],
  [/Connection\.edges$/, 'The items of the page, each with its place in the list.'],
  [/Connection\.nodes$/, 'The items of the page without their places.'],
  [
    /Connection\.pageInfo$/,
    'Whether the list goes on at either end of the page, and the cursors of both ends.',
  ],
  [/Connection\.totalCount$/, 'Items of the whole list with its filter, not of the page alone.'],
  [/Edge\.cursor$/, 'The item’s place, for `after` and `before`; opaque, and of this list alone.'],
  [/Edge\.node$/, 'The item as it is now.'],
  [/^PageInfo\.startCursor$/, 'The place of the first item, for `before`; null of an empty page.'],
  [/^PageInfo\.endCursor$/, 'The place of the last item, for `after`; null of an empty page.'],
  [/^PageInfo\.hasNextPage$/, 'Whether there are more items behind the page.'],
  [/^PageInfo\.hasPreviousPage$/, 'Whether there are more items before the page.'],
  [/Update\.occurredAt$/, 'When it changed; of a first state, when it had last changed as far as is known.'],
  [/Update\.previousStatus$/, 'The status before; null of a first state, and of the first event.'],
  [/Update\.\w+$/, 'As it was right after this change; a lookup may show a later state.'],
  [/Error\.code$/, 'For programs: one word for each reason, which stays the same.'],
  [/Error\.message$/, 'A sentence in English for the developer, not for a payer.'],
  [/Success\.deleted$/, 'Always true: what was not there is a NotFoundError.'],
  [/Success\.expiresAt$/, 'From then on the token grants nothing.'],
  [/(Success|Result)\.\w+$/, 'Its state after the mutation.'],
  [/\.amountCents$/, 'The whole amount in cents of BRL; it never changes.'],
  [/\.currency$/, 'The currency of all its amounts.'],
  [/\.createdAt$/, 'When it was made, by the clock of the service that keeps it.'],
  [/\.refundedAt$/, 'When the payer had the whole amount back; null before.'],
  [/\.paidAt$/, 'When it was paid; null before.'],
  [/\.status$/, 'Its state now; the values say which may follow.'],
  [
    /\.description$/,
    'The merchant’s words for what is sold, which the payer reads; null where none were given.',
  ],
  [/\.cancelUrl$/, 'Where the payer goes who gives up; http or https, at most 500 characters.'],
  [/\.successUrl$/, 'Where the payer goes after paying. Reaching it proves nothing.'],
  [/Input\.customer$/, 'Who pays, as the merchant knows them: kept with the payment, and not verified.'],
  [/\.productId$/, '24 hex digits; null where no product was named.'],
  [/\.subaccountId$/, 'sacc_ and 32 hex digits.'],
  [/\.orderCode$/, 'PSC-…, as createCardPayment has given it.'],
  [
    /\.(paymentId|chargeId|disputeId|deliveryId|storeProductId)$/,
    'As the service has given it; of one’s own account and environment.',
  ],
];

/** The arguments, by `Type.field(argument)`. */
const ARGUMENTS: readonly Rule[] = [
  [
    /^Subscription\..*\(after\)$/,
    'The cursor of the last update seen, or an updatesCursor: all changes since, and no first state.',
  ],
  [/^Mutation\..*\(input\)$/, 'All that it takes. A wrong member is named in a ValidationError.'],
  [
    /^Subscription\..*\(filter\)$/,
    `Only changes after which the resource fulfils it, as in the list. Left out, or without members: every change. ${OTHER_CHANGES}`,
  ],
  [
    /^Subscription\..*\(status\)$/,
    'Only changes after which it is in any of these states; an empty list selects none. UNKNOWN is refused.',
  ],
  [/\(filter\)$/, 'Left out, or without members: the whole list.'],
  [/\(status\)$/, 'Those in any of these states; an empty list finds nothing.'],
  [/^Query\.node\(id\)$/, 'An `id` of any answer.'],
  [/^Query\.nodes\(ids\)$/, 'Each an `id` of any answer; at most 100.'],
  [/\(orderCode\)$/, 'PSC-…, as createCardPayment has given it.'],
  [/\(subaccountId\)$/, 'sacc_ and 32 hex digits.'],
  [/\(reference\)$/, 'Any of those five forms.'],
  [/\(withdrawalId\)$/, '24 hex digits, as requestPayout has given it.'],
  [/\(paymentId\)$/, 'psp_…, as createPayment has given it.'],
  [/\(chargeId\)$/, 'psc_… or psplit_…, as createCharge has given it.'],
  [/\(disputeId\)$/, 'dsp_…, as a list or a webhook shows it.'],
  [/\(subscriptionId\)$/, 'psa_sub_…, as createSubscription has given it.'],
  [/\(refundId\)$/, 'ref_…, as the refund was answered; or ref_idem_ and the idempotencyKey.'],
  [/\((productId|deliveryId)\)$/, '24 hex digits, in upper or lower case.'],
  [/\(storeProductId\)$/, 'As the list of the store shows it.'],
  [/\(webhookId\)$/, 'The X-Webhook-Id header of the delivery.'],
  [/^Mutation\.revokeToken\(token\)$/, 'The token itself, whole.'],
];

/** The description that all slices share; undefined where there is none. */
export function commonDescription({ type, member, argument }: Described): string | undefined {
  if (argument !== undefined) return firstOf(ARGUMENTS, `${type}.${member}(${argument})`);
  const place = member === undefined ? type : `${type}.${member}`;
  return DESCRIPTION_OF[place] ?? firstOf(member === undefined ? TYPES : MEMBERS, place);
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
