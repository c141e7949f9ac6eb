import { builder, UNKNOWN } from '../../api/graphql/builder.ts';

export const WalletEntryKindEnum = builder.enumType('WalletEntryKind', {
  description: 'The reason for which a figure of the wallet moved.',
  values: {
    CARD_PAYMENT: { value: 'card_payment', description: 'A card sale, which is pending until its release.' },
    CARD_RELEASE: { value: 'card_release', description: 'A card sale that goes to the balance.' },
    CHARGE: { value: 'charge', description: 'The account’s own part of a charge that was paid.' },
    CREDIT: { value: 'credit', description: 'Money that arrived in any other way.' },
    DISPUTE_HOLD: { value: 'dispute_hold', description: 'An amount that a dispute blocks.' },
    DISPUTE_RELEASE: {
      value: 'dispute_release',
      description: 'A blocked amount that is free again: the dispute was won, or forgiven.',
    },
    LTC_CREDIT: {
      value: 'ltc_credit',
      description: 'LTC that came for a payment and did not pay it, credited by the operator.',
    },
    OBSERVED: {
      value: 'observed',
      description:
        'A change of the upstream service’s wallet that no resource which was seen explains; the opposite once one does.',
    },
    PAYMENT: { value: 'payment', description: 'A payment by PIX or LTC.' },
    PAYOUT: { value: 'payout', description: 'The amount of a payout, the fee included.' },
    PAYOUT_RETURN: {
      value: 'payout_return',
      description: 'The amount of a payout that was denied or came back, the fee included.',
    },
    REFUND: { value: 'refund', description: 'The amount of a refund.' },
    REFUND_FAILURE: { value: 'refund_failure', description: 'The amount of a refund that has failed.' },
    SPLIT: { value: 'split', description: 'A subaccount’s part of a charge that was paid.' },
    SUBACCOUNT_MARKUP: {
      value: 'subaccount_markup',
      description: 'The account’s own fee of a subaccount’s payout that has arrived.',
    },
    SUBACCOUNT_PAYOUT: {
      value: 'subaccount_payout',
      description: 'The amount of a subaccount’s payout, both fees included.',
    },
    SUBACCOUNT_PAYOUT_RETURN: {
      value: 'subaccount_payout_return',
      description: 'The amount of a subaccount’s payout that has failed or came back.',
    },
    SUBACCOUNT_TRANSFER: {
      value: 'subaccount_transfer',
      description: 'A transfer from the main account to a subaccount.',
    },
    TEST_PAYMENT: { value: 'test_payment', description: 'A test payment of the sandbox.' },
    UNKNOWN,
  } as const,
});
