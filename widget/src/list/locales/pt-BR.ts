import { shared } from '../../board/locales/pt-BR.ts';

export const list = {
  ...shared,
  filter: 'Filtrar',
  moreFilters: 'Mais filtros',
  moreFailed: 'Não foi possível carregar mais.',
};
