import { details } from '../../list/locales/pt-BR.details.ts';
import type { DetailTexts } from './texts.ts';

/** The texts of the chunk of the details. */
export const texts: DetailTexts = {
  ...details,
  disputeOf: 'Disputa de {amount}',
  blockedAmount: 'Bloqueado do saldo',
  reason: 'Motivo',
  payer: 'Pagador',
  saleCode: 'Reclamação',
  disputeNumber: 'Número da disputa',
  files: 'Arquivos',
  opened: 'Disputa aberta',
  submitted: 'Defesa enviada',
  acceptedByYou: 'Reclamação aceita por você',
  story: 'O que aconteceu',
  chooseFiles: 'Escolher arquivos',
  filesHint: 'Até {count} em PDF, PNG ou JPEG, de até 5 MB cada.',
  filesFull: 'A disputa tem os 3 arquivos que pode ter.',
  remove: 'Remover {name}',
  sendDefence: 'Enviar defesa',
  sending: 'Enviando…',
  submitFailed: 'A defesa não foi enviada. Tente de novo.',
  nothingWritten: 'Escreva o que aconteceu, ou escolha um arquivo.',
  wrongType: '{name} não é um PDF, PNG ou JPEG.',
  tooLarge: '{name} tem mais de 5 MB.',
  tooMany: '{name} não cabe: a disputa tem até 3 arquivos.',
  accept: 'Aceitar a reclamação',
  acceptPrice:
    'Aceitar custa {amount}: a disputa é perdida na hora, e o valor bloqueado não volta ao saldo. Não é possível desfazer.',
  acceptNow: 'Aceitar e perder {amount}',
  acceptFailed: 'A reclamação não foi aceita. Tente de novo.',
  keep: 'Voltar',
};
