import { details } from '../../list/locales/pt-BR.details.ts';
import type { DetailTexts } from './texts.ts';

/** The texts of the chunk of a payout's details. */
export const texts: DetailTexts = {
  ...details,
  title: 'Saque de {amount}',
  inDoubt: 'Ainda não se sabe se este saque foi feito. Não peça outro por enquanto.',
  method: 'Forma de saque',
  destinationKind: 'Tipo do destino',
  CPF: 'CPF',
  CNPJ: 'CNPJ',
  EMAIL: 'E-mail',
  PHONE: 'Telefone',
  RANDOM: 'Chave aleatória',
  LTC_ADDRESS: 'Endereço de Litecoin',
  TRON_ADDRESS: 'Endereço na TRON',
  ERC20_ADDRESS: 'Endereço na Ethereum',
  serviceFee: 'Tarifa',
  net: 'Valor líquido',
  debitedLtc: 'Debitado do saldo em LTC',
  withdrawalId: 'Número do saque',
  externalId: 'Seu número',
  endToEndId: 'Identificador do PIX (E2E)',
  stepRequested: 'Solicitado',
  stepKnown: 'Até lá se sabe se foi feito',
};
