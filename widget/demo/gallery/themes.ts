/** The themes of the galleries, whose rules are in themes.css. */
export const THEMES: Record<string, [title: string, summary: string]> = {
  default: ['Padrão', 'Como o elemento vem, sem uma linha de CSS.'],
  market: ['Armazém', 'Uma loja de bairro: papel, barro e botões redondos.'],
  night: ['Noturno', 'Um produto de software: preto, cal e cantos curtos.'],
  custody: ['Custódia', 'Um banco: azul-marinho, serifa e linhas retas.'],
};
