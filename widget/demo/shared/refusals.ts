// The words of the pages for a refusal: those of the server are English, and for developers.
import type { Refusal } from './post-json.ts';

export const UNFIT = 'O pedido não foi aceito: confira os dados.';

const NOT_OFFERED = 'Esta conta não tem esta função.';
const FORBIDDEN = 'Esta conta não permite isso.';
const CONFLICT = 'Já houve outro pedido daqui. Recarregue a página e confira antes de repetir.';

const TEXTS: Readonly<Record<string, string>> = {
  BAD_USER_INPUT: UNFIT,
  NOT_FOUND: 'Não foi encontrado: talvez não exista mais.',
  UNAUTHENTICATED: FORBIDDEN,
  FORBIDDEN,
  CARD_PAYMENTS_NOT_CONFIGURED: NOT_OFFERED,
  PAYMENTS_NOT_CONFIGURED: NOT_OFFERED,
  NOT_OFFERED,
  NOT_IN_SANDBOX: 'Isso não existe no ambiente de teste.',
  ONLY_IN_SANDBOX: 'Isso só existe no ambiente de teste.',
  LIMIT_REACHED: 'O limite da conta foi atingido.',
  IDEMPOTENCY_CONFLICT: CONFLICT,
  INSUFFICIENT_FUNDS: 'O saldo disponível não basta para isso.',
  NOT_REFUNDABLE: 'Este pagamento não pode mais ser estornado.',
  DISPUTE_STATE: 'Esta disputa não permite mais isso: foi decidida, o prazo acabou, ou já teve 10 envios.',
  ORDER_PAID: 'Este pedido já está pago.',
  ORDER_REFUNDED: 'Este pedido foi pago e estornado.',
  UPSTREAM_REFUSED: 'O serviço de pagamentos recusou o pedido. Nada foi feito.',
  RECORDS_BEHIND: 'Os dados ainda estão chegando. Tente de novo em instantes.',
};

/** Says in the language of the pages why a request was refused. */
export function refusalText({ status, code, retryAfterSeconds = 60 }: Refusal): string {
  if (code === 'RATE_LIMITED' || status === 429)
    return `Muitos pedidos em pouco tempo. Espere ${Math.ceil(retryAfterSeconds / 60)} min.`;
  const text = TEXTS[code ?? ''];
  if (text) return text;
  if (status === 0 || status >= 500) return 'Sem resposta. Tente de novo em instantes.';
  return status === 404 ? TEXTS.NOT_FOUND! : 'O pedido não foi aceito.';
}
