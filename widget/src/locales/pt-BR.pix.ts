import type { PixTexts } from './texts.ts';

/** The texts of the PIX chunk. */
export const texts: PixTexts = {
  pendingHint:
    'No app do banco, escolha PIX e leia o QR code, ou copie o código. Esta tela se atualiza sozinha.',
  phoneHint: 'Copie o código e cole no app do banco: PIX, Copia e Cola. Esta tela se atualiza sozinha.',
  preparing: 'O banco está gerando o código…',
  copy: 'Copiar código',
  copied: 'Copiado',
  openBank: 'Agora abra o app do banco: PIX, Copia e Cola.',
  selected: 'O código está selecionado: copie e cole no app do banco.',
  code: 'Código PIX Copia e Cola',
  qr: 'QR code do PIX: {amount} para {payee}',
  showQr: 'Mostrar o QR code',
  payee: 'Recebedor',
  lastMinutes: 'Menos de 5 minutos para pagar.',
  lastMinute: 'Menos de 1 minuto para pagar.',
  returned: 'Recebemos {amount} e devolvemos.',
  returning: 'Recebemos {amount} e estamos devolvendo.',
  expiredHint: 'Se você acabou de pagar, o pagamento ainda é reconhecido aqui. Se não, gere um novo código.',
  renew: 'Gerar novo código',
  failed: 'O banco não gerou o código',
  failedHint: 'Gere um novo código em instantes.',
  refundedHint: 'O valor volta para a conta que pagou.',
};
