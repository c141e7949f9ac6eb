import type { Types } from '../../api/graphql/mutations.ts';
import { ltcText } from '../../kernel/money.ts';
import type { Wallet } from './model.ts';

/** The fields of the figures of a wallet, now and at each moment of its statement. */
export function figuresOf<Shape extends Wallet>(
  builderOfFields: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
) {
  const t = builderOfFields as unknown as PothosSchemaTypes.ObjectFieldBuilder<Types, Wallet>;
  return {
    balanceCents: t.expose('balanceCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The gross balance in cents, including what disputes block and what belongs to subaccounts.',
    }),
    disputeBlockedCents: t.expose('disputeBlockedCents', {
      type: 'Cents',
      nullable: true,
      description: 'The amount in cents held by open or lost disputes; always 0 in sandbox.',
    }),
    withdrawableCents: t.expose('withdrawableCents', {
      type: 'Cents',
      nullable: true,
      description: 'The most in cents that requestPayout accepts: balance - disputeBlocked - subaccounts.',
    }),
    pendingReleaseCents: t.expose('pendingReleaseCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents of card sales that await release; in sandbox, of test payments still pending.',
    }),
    receivableCents: t.expose('receivableCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents that the account owes, from refunds of money that it had withdrawn. Incoming money covers it first, and only the rest is in the balance.',
    }),
    subaccountsBalanceCents: t.expose('subaccountsBalanceCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents that belongs to subaccounts. Null if it could not be computed; withdrawableCents then does not subtract it, while the debit still checks it.',
    }),
    assignableCents: t.expose('assignableCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The largest amount in cents that transferToSubaccount accepts. Null if subaccountsBalanceCents is null.',
    }),
    cryptoBalanceLtc: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The balance in LTC, from which payouts by LTC are made; null if it is not known.',
      resolve: ({ cryptoBalanceLitoshi }) =>
        cryptoBalanceLitoshi === null ? null : ltcText(cryptoBalanceLitoshi),
    }),
  };
}
