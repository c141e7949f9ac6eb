import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import { methodOf, PAYOUT_METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';

interface MethodValue {
  value: PayoutMethod | 'unknown';
  description: string;
}

export const PayoutMethodEnum = builder.enumType('PayoutMethod', {
  description: 'The method by which a payout is sent.',
  values: Object.fromEntries<MethodValue>([
    ...PAYOUT_METHODS.map((method): [string, MethodValue] => {
      const { name, ...described } = methodOf(method).graphql;
      return [name, { value: method, ...described }];
    }),
    ['UNKNOWN', UNKNOWN],
  ]),
});

export const PixKeyTypeEnum = builder.enumType('PixKeyType', {
  description: 'The kinds of PIX keys that a request can name.',
  values: {
    CPF: { value: 'cpf', description: 'The tax number of a person: 11 digits.' },
    CNPJ: { value: 'cnpj', description: 'The tax number of a company.' },
    PHONE: { value: 'phone', description: 'A phone, with +55 or without.' },
    EMAIL: { value: 'email', description: 'An e-mail address.' },
    RANDOM: { value: 'random', description: 'A random key (EVP).' },
  } as const,
});

export const DestinationKindEnum = builder.enumType('DestinationKind', {
  description: 'The kinds of destinations: those of PIX keys, and the addresses of each chain.',
  values: {
    CPF: { value: 'cpf', description: 'The tax number of a person.' },
    CNPJ: { value: 'cnpj', description: 'The tax number of a company.' },
    PHONE: { value: 'phone', description: 'A phone, with +55.' },
    EMAIL: { value: 'email', description: 'An e-mail address.' },
    RANDOM: { value: 'random', description: 'A random key (EVP).' },
    LTC_ADDRESS: { value: 'ltc_address', description: 'An address of Litecoin.' },
    TRON_ADDRESS: { value: 'tron_address', description: 'An address on TRON.' },
    ERC20_ADDRESS: { value: 'erc20_address', description: 'An address on Ethereum.' },
    UNKNOWN,
  } as const,
});

/** The description of the field `destinationKind` of a payout. */
export const DESTINATION_KIND =
  'The kind of the destination, as it was taken. Null if the upstream service does not show it, and shows the key masked in a way that does not either.';

export const PayoutStatusEnum = builder.enumType('PayoutStatus', {
  description: 'The states of a payout of the main account.',
  values: {
    PENDING: {
      value: 'pending',
      description: 'The payout is requested, debited and queued; pendente in REST.',
    },
    PROCESSING: {
      value: 'processing',
      description:
        'A turbo payout has left, and the bank has not confirmed it: the money MAY have left. A webhook reports it to an account that has opted into WITHDRAWAL_PROCESSING.',
    },
    COMPLETED: { value: 'completed', description: 'The payout has arrived; concluido in REST.' },
    DENIED: {
      value: 'denied',
      description: 'The payout was denied, and the amount is back in the balance; negado in REST.',
    },
    RETURNED: {
      value: 'returned',
      description:
        'The payout had arrived and has come back: the whole amount is in the balance again; concluido with returnedAt in REST. A webhook reports it to an account that has opted into WITHDRAWAL_RETURNED.',
    },
    UNKNOWN,
  } as const,
});
