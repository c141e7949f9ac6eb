import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { deprecatedSince } from '../../api/graphql/deprecations.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import type { Types } from '../../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionOf, pagesBeside, rangeOf } from '../../api/graphql/paging.ts';
import { callerOf, seesCustomer } from '../../kernel/caller.ts';
import { qrCode } from '../../kernel/qr-code.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { isFinalSale, SALE_IS_FINAL } from '../receiving/sale-schema.ts';
import { isPayable, type PixReads, type PixResource, type ReturnedCredit, txidOf } from './model.ts';

export const ReturnCauseEnum = builder.enumType('ReturnCause', {
  description: 'The reason for which money was sent back to its payer at once.',
  values: {
    ALREADY_PAID: { value: 'already_paid', description: 'The payment had been paid before.' },
    AMOUNT_MISMATCH: { value: 'amount_mismatch', description: 'The amount is not that of the payment.' },
    CANCELED: { value: 'canceled', description: 'The merchant had canceled the payment.' },
    NOT_PAYABLE: {
      value: 'not_payable',
      description: 'The payment has failed, or the money was sent back before a backup was restored.',
    },
    PAID_ELSEWHERE: {
      value: 'paid_elsewhere',
      description: 'Another payment of the same checkout attempt or order was paid first.',
    },
    UNKNOWN,
  } as const,
});

export const QrCode = builder.objectRef<{ path: string; size: number }>('QrCode').implement({
  description:
    'The modules of a QR code as one SVG path: `<path d>` in a viewBox of -4 -4 size+8 size+8, which includes the quiet zone. Draw it dark on white, also on a dark page.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'The dark modules as a path, for the attribute `d`.' }),
    size: t.exposeInt('size', { description: 'The number of modules on a side.' }),
  }),
});

export const PixCode = builder.objectRef<{ copyPaste: string; txid: string | null }>('PixCode').implement({
  description: 'The code of a PIX payment.',
  fields: (t) => ({
    copyPaste: t.exposeString('copyPaste', {
      description: 'The text of PIX Copia e Cola: the BR Code, with its CRC.',
    }),
    qr: t.field({
      type: QrCode,
      nullable: true,
      description: 'The same code as a QR code; null if the upstream service’s code is too long to draw.',
      resolve: ({ copyPaste }) => qrCode(copyPaste),
    }),
    txid: t.exposeString('txid', {
      nullable: true,
      description:
        'The bank’s identifier of the code, 26 to 35 letters and digits; null if the upstream service does not report it.',
    }),
  }),
});

export const ReturnedCreditRef = builder.objectRef<ReturnedCredit>('ReturnedCredit').implement({
  description: 'Money that arrived for a payment and is sent back. It never reaches the balance.',
  fields: (t) => ({
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    cause: t.field({
      type: ReturnCauseEnum,
      description: 'The reason for which the money is sent back.',
      resolve: ({ cause }) => cause,
    }),
    endToEndId: t.exposeString('endToEndId', {
      description: 'The bank’s identifier of the PIX that arrived.',
    }),
    receivedAt: t.expose('receivedAt', {
      type: 'DateTime',
      description: 'The time at which the payer sent the money.',
    }),
    returnedAt: t.expose('returnedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the return; null while the bank is sending the money back.',
    }),
  }),
});

// ── The fields of all resources that a PIX code pays ────────────────────────────────────────────

/** The differences between the types of two families. */
interface FieldOptions<R extends PixResource> {
  idOf(resource: R): string;
  /** The resource in a description, as `payment`. */
  name: string;
  /** The subscription that reports changes of the resource. */
  updates: string;
  /** Whether a browser's token reads resources of this family, with some members null. */
  isShownToPayers: boolean;
}

/** Creates the fields that the types of all families share, besides those of a sale. */
export function pixFields<R extends PixResource>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, R>,
  { idOf, name, updates, isShownToPayers }: FieldOptions<R>,
) {
  // The fields read the shared members alone.
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<Types, PixResource>;
  const idOfAny = idOf as (resource: PixResource) => string;
  const hidden = isShownToPayers ? '; null to a browser’s checkout or payment token' : '';
  const seen = <Value>(value: Value, context: Context) => (seesCustomer(callerOf(context)) ? value : null);
  return {
    feeCents: t.field({
      type: 'Cents',
      nullable: true,
      deprecationReason: deprecatedSince('0.2.0', 'Use serviceFeeCents, which is the same.'),
      description: 'The service’s fee in cents.',
      resolve: ({ feeCents }, _, context) => seen(feeCents, context),
    }),
    pix: t.field({
      type: PixCode,
      nullable: true,
      description: `The code to pay. Null until the bank has issued it, which ${updates} reports, and once the ${name} can no longer be paid.`,
      resolve: (resource) =>
        isPayable(resource)
          ? {
              copyPaste: resource.brCode!,
              txid: resource.txid === undefined ? txidOf(idOfAny(resource)) : resource.txid,
            }
          : null,
    }),
    checkoutUrl: t.field({
      type: 'Url',
      nullable: true,
      description: 'The URL of the hosted page that shows the payer how to pay.',
      resolve: (resource, _, context) => context.checkoutUrl(idOfAny(resource), resource),
    }),
    endToEndId: t.string({
      nullable: true,
      description: `The bank’s identifier of the PIX by which the ${name} was paid${hidden}.`,
      resolve: ({ endToEndId }, _, context) => seen(endToEndId, context),
    }),
    returnedCredits: t.field({
      type: [ReturnedCreditRef],
      description:
        'Credits that were returned at once: a second payment, another amount, a payment of an order that was already paid, or of one that was canceled. At most the last 20, oldest first.',
      resolve: ({ returnedCredits }) => [...returnedCredits],
    }),
    ...finalFields(t, SALE_IS_FINAL, isFinalSale),
  };
}

// ── Lists ───────────────────────────────────────────────────────────────────────────────────────

export const listDescription = (of: string) => `The ${of}, newest first. ${BOTH_WAYS}`;

/** Reads a page of a family's list as a connection. @throws ValidationError */
export async function listedPix<R extends PixResource, Filter>(
  context: Context,
  {
    tenant,
    list,
    reads,
    args,
    filter,
  }: {
    tenant: Tenant;
    /** The name of the list, to which its cursors belong. */
    list: string;
    reads: Pick<PixReads<R, Filter>, 'list' | 'count'>;
    args: Parameters<typeof rangeOf>[1];
    filter: Filter;
  },
) {
  const cursors = context.listCursors(list);
  const range = rangeOf(cursors, args);
  const { items, more } = await reads.list(tenant, { ...range, ...filter });
  return connectionOf(
    cursors,
    items.map(({ position, resource }) => ({ position, node: resource })),
    { ...pagesBeside(range, more), total: () => reads.count(tenant, filter) },
  );
}
