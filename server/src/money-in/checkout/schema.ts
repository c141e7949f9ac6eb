import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { deprecatedSince } from '../../api/graphql/deprecations.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { callerOf, seesCustomer } from '../../kernel/caller.ts';
import { knownLanguage } from '../../kernel/language.ts';
import type { OrderStatus } from '../../kernel/orders.ts';
import { maskTaxId } from '../../kernel/tax-id.ts';
import { EXTERNAL_ID_FORM } from '../../kernel/text.ts';
import type { Customer } from './model.ts';

type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

const CheckoutLanguageEnum = builder.enumType('CheckoutLanguage', {
  description: 'The languages of the hosted pages.',
  values: {
    PT_BR: { value: 'pt-BR', description: 'Portuguese, as in Brazil.' },
    EN: { value: 'en', description: 'English.' },
    ES: { value: 'es', description: 'Spanish.' },
  } as const,
});

/** The field of a type whose hosted page has a language. */
export function languageField<Shape extends { language?: string | null }>(
  builderOfFields:
    | PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>
    | PothosSchemaTypes.InterfaceFieldBuilder<Types, Shape>,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<
    Types,
    { language?: string | null }
  >;
  return t.field({
    type: CheckoutLanguageEnum,
    nullable: true,
    description: 'The language of the hosted page, as it was given; null where none was.',
    resolve: ({ language }) => knownLanguage(language),
  });
}

/** The members of a payment that belong to its order. */
interface OfOrder {
  externalId?: string | null;
  orderStatus?: OrderStatus | null;
}

/** The fields of a payment that show its order, and the status of that. */
export function orderFields<Shape extends OfOrder>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<Types, OfOrder>;
  const orderId = ({ externalId = null }: OfOrder, _: unknown, context: Context) =>
    seesCustomer(callerOf(context)) ? externalId : null;
  return {
    orderId: t.string({
      nullable: true,
      description:
        'The number of your order, of whose payments one is kept; null if none was given, and to a browser’s checkout or payment token.',
      resolve: orderId,
    }),
    externalId: t.string({
      nullable: true,
      description: 'The number of your order.',
      deprecationReason: deprecatedSince('0.2.0', 'Use orderId, which is the same.'),
      resolve: orderId,
    }),
    orderPaid: t.boolean({
      description:
        'Whether another payment has paid the order of this one, which was open, had expired or was returned. Nobody can pay this one any more: an open one stays PENDING until it expires, and money that comes for it is returned. Of those that had expired, the 20 newest show it, and so do the 20 newest of those that were returned.',
      resolve: ({ orderStatus }) => orderStatus != null,
    }),
    orderRefunded: t.boolean({
      description:
        'Whether the payment that has paid the order was refunded in full since; orderPaid stays true.',
      resolve: ({ orderStatus }) => orderStatus === 'refunded',
    }),
  };
}

export const CustomerRef = builder.objectRef<Customer>('Customer').implement({
  description: 'The payer as described by the merchant. Nothing of it is verified.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'The name of the payer, as given.' }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail address, as given.' }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: 'The merchant’s own identifier of the customer.',
    }),
    taxId: t.string({
      nullable: true,
      description:
        'The CPF or CNPJ, masked: ***.456.789-** or **.***.678/0001-**. In remote mode it is that of this server’s own request; of a card payment the upstream service does not receive it.',
      resolve: ({ taxId }) => (taxId === undefined ? null : maskTaxId(taxId)),
    }),
  }),
});

// ── Inputs ──────────────────────────────────────────────────────────────────────────────────────

const CustomerInput = builder.inputType('CustomerInput', {
  fields: (t) => ({
    name: t.string({ description: 'The name of the payer, at most 200 characters.' }),
    email: t.string({ description: 'An e-mail address, at most 254 characters, which a filter can find.' }),
    externalId: t.string({
      description: 'Your own identifier of the customer, at most 200 characters, which a filter can find.',
    }),
    taxId: t.string({
      description:
        'A CPF (11 digits) or a CNPJ (14 digits and letters), with or without punctuation. Every answer shows it masked. In remote mode that of a card payment stays on this server.',
    }),
  }),
});

const ORDER_ID = `The number of your order, ${EXTERNAL_ID_FORM}. Of all payments of one number at most one is kept, whichever device, token or request started it: while one is paid no other takes a card, and a second that is paid all the same is returned to its payer; a new one is refused with ORDER_PAID or ORDER_REFUNDED. In remote mode no second is returned, and a page that is open there still takes a card.`;

const LANGUAGE_OF_PAGE =
  'The language of the hosted page. A `?lang=` in the address of the page has precedence; `<psa-checkout>` appends one. If omitted, the page has the payer’s own, by Accept-Language. In remote mode this server appends the language to the checkoutUrl that API keys and dashboard tokens read.';

export const StartCheckoutInput = builder.inputType('StartCheckoutInput', {
  description:
    'Values of a payment that a browser starts with a checkout token. attemptId has at least 128 random bits and belongs to the token; the same one gives the same payment, so a double click pays once. A further start of a single-use token whose payment is open gives that payment, so that a second device joins the first. A retry of the attempt, after an expiry or a failure, appends .2, .3, …: of payments of one attempt only one is kept; the money of a second is returned.',
  fields: (t) => ({
    attemptId: t.string({
      required: true,
      description:
        'The page’s own identifier of this attempt, kept over a reload: the same one never starts a second payment.',
    }),
    ...amountInputs(t, 'The amount in cents that the payer chose; for a token with a range.'),
    customer: t.field({ type: CustomerInput }),
  }),
});

/** The input field that describes what the payer buys. */
export function descriptionInput(t: InputFields) {
  return t.string({ description: 'The description that the checkout shows; at most 200 characters.' });
}

/** The field of an input for data of the merchant. `restriction`: a sentence of the input's own. */
export function metadataInput(t: InputFields, restriction?: string) {
  const description = 'Serialized JSON, at most 2048 characters; returned byte for byte.';
  return t.string({ description: restriction ? `${description} ${restriction}` : description });
}

/** The field of an input that chooses the language of the hosted page. */
export function languageInput(t: InputFields) {
  return t.field({ type: CheckoutLanguageEnum, description: LANGUAGE_OF_PAGE });
}

/** The input fields that the payer's page shows. `successUrl`: its description, if it differs. */
export function payerInputs(t: InputFields, { successUrl }: { successUrl?: string } = {}) {
  return {
    description: descriptionInput(t),
    customer: t.field({ type: CustomerInput }),
    metadata: metadataInput(t),
    successUrl: t.field({ type: 'Url', ...(successUrl && { description: successUrl }) }),
    cancelUrl: t.field({ type: 'Url' }),
    language: languageInput(t),
  };
}

/** The fields of an input that describes a payment of an order. */
export function paymentInputs(t: InputFields, options?: { successUrl?: string }) {
  return {
    ...payerInputs(t, options),
    callbackUrl: t.field({
      type: 'Url',
      description: 'The public https URL that receives the webhook; at most 500 characters.',
    }),
    ...orderInputs(t),
  };
}

/** The input fields of the number of an order, under both of its names. `restriction`: a sentence of the input's own. */
export function orderInputs(t: InputFields, restriction?: string) {
  return {
    orderId: t.string({ description: restriction ? `${ORDER_ID} ${restriction}` : ORDER_ID }),
    externalId: t.string({
      deprecationReason: deprecatedSince('0.2.0', 'Use orderId, which is the same.'),
      description: 'The number of your order.',
    }),
  };
}

/** The input fields of an amount, under both of its names. */
export function amountInputs(t: InputFields, description: string) {
  return {
    amountCents: t.field({ type: 'Cents', description }),
    valueCents: t.field({
      type: 'Cents',
      deprecationReason: deprecatedSince('0.2.0', 'Use amountCents, which is the same.'),
      description: 'The amount in cents.',
    }),
  };
}
