import type { DeliveredTexts } from './texts.ts';

/** The texts of the chunk of delivered content. */
export const texts: DeliveredTexts = {
  delivered: 'O que você comprou',
  deliveredPending: 'Um item está sem estoque: a loja vai enviar.',
  deliveredCode: 'Seu código',
  deliveredText: 'Seu conteúdo',
  deliveredLink: 'Abrir o conteúdo',
  deliveredCopy: 'Copiar',
  deliveredCopied: 'Copiado',
  deliveredSaved: 'Copiado. Guarde em um lugar seguro.',
  deliveredSelected: 'Está selecionado: copie.',
};
