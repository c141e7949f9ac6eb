import { builder } from '../../api/graphql/builder.ts';
import { centsFields, periodFields } from '../../api/graphql/filters.ts';
import { WalletEntryKindEnum } from './enums-schema.ts';
import type { WalletEntryFilter } from './statement.ts';

export const WalletEntryFilterInput = builder.inputType('WalletEntryFilter', {
  description: 'Conditions that an entry has to fulfill all at once.',
  fields: (t) =>
    ({
      kind: t.field({
        type: [WalletEntryKindEnum],
        description: 'Selects entries of any of these kinds.',
      }),
      ...periodFields(t, 'created', 'entries made'),
      reference: t.string({
        description:
          'Selects entries of the payment, charge, refund, dispute, payout or transfer with this id or code; of a payment or charge those of its refunds and disputes, too.',
      }),
      subaccountId: t.string({ description: 'Selects entries that moved money of this subaccount.' }),
      ...centsFields(t, 'entries, in or out,'),
    }) satisfies { [Member in keyof WalletEntryFilter]-?: unknown },
});
