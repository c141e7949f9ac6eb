/**
 * The resources that the prefix of an id tells (the document's section 2.1), and the argument that takes it. The one place
 * that knows each prefix: an id of another resource must not be answered with "not found", which reads as "never sold".
 */
const RESOURCES = {
  cardPayment: {
    prefix: /^PSC-/,
    noun: 'a card payment',
    argument: 'orderCode',
    collection: 'card-payments',
  },
  subscription: {
    prefix: /^psa_sub_/,
    noun: 'a subscription',
    argument: 'subscriptionId',
    collection: 'subscriptions',
  },
  payment: { prefix: /^psa_/, noun: 'a payment', argument: 'paymentId', collection: 'payments' },
  charge: { prefix: /^(?:psc|psplit)_/, noun: 'a charge', argument: 'chargeId', collection: 'charges' },
  subaccountPayout: {
    prefix: /^(?:saq_|TURBO-|SUB-)/,
    noun: 'a payout of a subaccount',
    argument: 'reference',
    collection: 'subaccounts/{id}/payouts',
  },
  subaccount: { prefix: /^sacc_/, noun: 'a subaccount', argument: 'subaccountId', collection: 'subaccounts' },
  payout: { prefix: /^SAQ-/, noun: 'a payout', argument: 'code', collection: 'payouts' },
  refund: { prefix: /^ref_/, noun: 'a refund', argument: 'refundId', collection: 'refunds' },
  dispute: { prefix: /^dsp_/, noun: 'a dispute', argument: 'disputeId', collection: 'disputes' },
} as const satisfies Record<string, { prefix: RegExp; noun: string; argument: string; collection: string }>;

export type ResourceName = keyof typeof RESOURCES;

const PREFIXES = Object.entries(RESOURCES).map(([name, { prefix }]) => ({
  name: name as ResourceName,
  prefix,
}));

/** The resource whose id an argument takes, by the argument's name; null for an argument whose ids have no prefix. */
const TAKEN: Readonly<Record<string, ResourceName | null>> = {
  ...Object.fromEntries(
    Object.entries(RESOURCES).map(([name, { argument }]) => [argument, name as ResourceName]),
  ),
  withdrawalId: null,
  productId: null,
  deliveryId: null,
  storeProductId: null,
  webhookId: null,
  redeliveryId: null,
  endpointId: null,
  fileId: null,
};

/** An id that was given to an argument for ids of another resource. */
export interface ForeignId {
  /** The resource that the argument takes; null if its ids have no prefix. */
  taken: ResourceName | null;
  meant: ResourceName;
}

/** Finds the resource that an id belongs to, where an argument does not take it; null if it takes it, or may take it. */
export function findForeignId(argument: string, value: unknown): ForeignId | null {
  const taken = TAKEN[argument];
  if (taken === undefined || typeof value !== 'string') return null;
  const meant = resourceOf(value);
  return meant === null || meant === taken ? null : { taken, meant };
}

/** The resource of an id, by its prefix; null for a text without one. */
export function resourceOf(id: string): ResourceName | null {
  return PREFIXES.find(({ prefix }) => prefix.test(id))?.name ?? null;
}

/** The resource whose ids follow a path of REST, such as `/v1/payments`; null for one whose ids have no prefix. */
export function resourceAt(path: string): ResourceName | null {
  const found = Object.entries(RESOURCES).find(([, { collection }]) => path === `/v1/${collection}`);
  return found ? (found[0] as ResourceName) : null;
}

export function isIdArgument(name: string): boolean {
  return TAKEN[name] !== undefined;
}

export function describeResource(name: ResourceName): { noun: string; argument: string; collection: string } {
  return RESOURCES[name];
}

/** The words of the refusal of such an id; `operation` is the one that takes it. */
export function foreignIdMessage(meant: ResourceName, operation: string): string {
  return `is the id of ${RESOURCES[meant].noun}: use ${operation}`;
}
