import { details } from '../../list/locales/pt-BR.details.ts';
import type { DetailTexts } from './texts.ts';

/** The texts of the chunk of an entry's details. */
export const texts: DetailTexts = {
  ...details,
  serviceFee: 'Tarifa',
  moved: 'Também mudou',
  unexplained: 'Sem motivo informado',
  code: 'Código',
  sale: 'Venda',
  dispute: 'Disputa',
  subaccount: 'Subconta',
  saleCode: 'Código da venda',
  withdrawalId: 'Número do saque',
  destination: 'Destino',
  reason: 'Motivo',
  description: 'Descrição',
  orderId: 'Pedido',
  payer: 'Cliente',
  email: 'E-mail',
  name: 'Nome',
  walletAfter: 'Carteira depois do lançamento',
  pendingAfter: 'A liberar',
  blockedAfter: 'Em disputa',
  subaccountsAfter: 'Em subcontas',
  receivableAfter: 'A descontar',
  ltcAfter: 'Litecoin',
};
