import { expect, test } from 'vitest';
import { statusOf } from '../../../server/src/api/http/rest.ts';
import { CODE_ROWS } from '../../../server/src/kernel/error-codes.ts';
import { refusalText } from '../../../widget/demo/shared/refusals.ts';
import { controlRefusalText } from '../../../widget/demo/simulator/refusals.ts';

const refusal = (status: number, code: string | null = null) => ({
  ...{ status, code, fields: [], retryAfterSeconds: 90 },
  error: 'Nothing in English is for a merchant',
});

test.each(CODE_ROWS)('A refusal by %s is a Portuguese sentence', (code) => {
  expect(refusalText(refusal(statusOf(code), code))).toMatch(
    /(não|já|só |foi|conta|confira|Muitos pedidos|Tente de novo).*\.$/,
  );
});

test('A refusal without a code, and no answer, are Portuguese sentences too', () => {
  expect(refusalText(refusal(0))).toBe('Sem resposta. Tente de novo em instantes.');
  expect(refusalText(refusal(502))).toBe('Sem resposta. Tente de novo em instantes.');
  expect(refusalText(refusal(404))).toBe('Não foi encontrado: talvez não exista mais.');
  expect(refusalText(refusal(403))).toBe('O pedido não foi aceito.');
  expect(refusalText(refusal(429))).toBe('Muitos pedidos em pouco tempo. Espere 2 min.');
});

test.each([
  ['transfers/saq_1/settle', 'Esta transferência já terminou.'],
  ['transfers/saq_1/return', 'Esta transferência não é um PIX, ainda não chegou ou já voltou.'],
  ['transfers/saq_1/delay', 'Esta transferência já terminou, ou termina nessa hora ou depois.'],
  ['card-payments/PSC-1/refund', 'Esta venda não está paga, ou já foi estornada.'],
  ['disputes', 'Nada deste pagamento pode ser contestado.'],
  ['disputes/dsp_1/close', 'Esta disputa já foi decidida.'],
  ['test-payments/psa_1/settle', 'Este pagamento de teste já está pago.'],
  ['pix/pay', 'Este pagamento não tem código: o banco não deu um.'],
  ['pix/returns', 'O banco ainda não conhece este pagamento.'],
  ['ltc/ltc1q', 'A rede não tem essa saída neste endereço.'],
  ['subscriptions/psa_sub_1/debit', 'A assinatura já passou desse passo, ou ainda não chegou a ele.'],
  ['clock', 'Nada espera por uma hora.'],
])('A control of the simulator that finds nothing to do, %s, says so in Portuguese', (path, text) => {
  expect(controlRefusalText(path, refusal(409))).toBe(text);
  expect(controlRefusalText(path, refusal(404, 'NOT_FOUND'))).toBe(
    'Não foi encontrado: talvez não exista mais.',
  );
});
