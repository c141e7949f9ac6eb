import type { DeliveredTexts } from './texts.ts';

/** The texts of the chunk of delivered content. */
export const texts: DeliveredTexts = {
  delivered: 'O que você comprou',
  deliveredPending:
    'O seu código ainda não está disponível. Volte a esta página: ele aparece aqui assim que a loja repuser o estoque.',
  deliveredCode: 'Seu código',
  deliveredText: 'Seu conteúdo',
  deliveredLink: 'Abrir o conteúdo',
  deliveredCopy: 'Copiar',
  deliveredCopied: 'Copiado',
  deliveredSaved: 'Copiado. Guarde em um lugar seguro.',
  deliveredSelected: 'Está selecionado: copie.',
};
