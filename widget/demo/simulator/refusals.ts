import type { Refusal } from '../shared/post-json.ts';
import { refusalText } from '../shared/refusals.ts';

/** The reasons for which a control finds nothing to do, by its path. */
const CONFLICTS: readonly [path: RegExp, text: string][] = [
  [/^transfers\/.*\/return$/, 'Esta transferência não é um PIX, ainda não chegou ou já voltou.'],
  [/^transfers\/.*\/delay$/, 'Esta transferência já terminou, ou termina nessa hora ou depois.'],
  [/^transfers\//, 'Esta transferência já terminou.'],
  [/^card-payments\//, 'Esta venda não está paga, ou já foi estornada.'],
  [/^disputes$/, 'Nada deste pagamento pode ser contestado.'],
  [/^disputes\//, 'Esta disputa já foi decidida.'],
  [/^test-payments\//, 'Este pagamento de teste já está pago.'],
  [/^pix\/pay$/, 'Este pagamento não tem código: o banco não deu um.'],
  [/^pix\/returns$/, 'O banco ainda não conhece este pagamento.'],
  [/^ltc\//, 'A rede não tem essa saída neste endereço.'],
  [/^subscriptions\//, 'A assinatura já passou desse passo, ou ainda não chegou a ele.'],
  [/^clock$/, 'Nada espera por uma hora.'],
];

/** Says in the language of the page why a control was not applied. */
export function controlRefusalText(path: string, refusal: Refusal): string {
  const conflict = refusal.status === 409 && CONFLICTS.find(([pattern]) => pattern.test(path));
  return conflict ? conflict[1] : refusalText(refusal);
}
