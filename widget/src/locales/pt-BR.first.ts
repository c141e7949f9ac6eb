import type { FirstTexts } from './texts.ts';

export const first: FirstTexts = {
  pay: 'Pagar com cartão',
  payPix: 'Pagar com PIX',
  card: 'Cartão',
  pix: 'PIX',
  creating: 'Preparando o pagamento…',
  loading: 'Buscando seu pagamento…',
  error: 'Não foi possível continuar',
  network: 'Não conseguimos conectar. Tentar de novo não cobra duas vezes.',
  retry: 'Tentar de novo',
  cancel: 'Voltar',
  contact: 'Este pagamento não pôde ser aberto. Fale com a loja.',
  shopConfirms: 'A loja vai confirmar o pagamento',
};
