import { shared } from '../../board/locales/pt-BR.ts';

export const list = {
  ...shared,
  filter: 'Filtrar',
  moreFilters: 'Mais filtros',
  moreFailed: 'Não foi possível carregar mais.',
  atLeast: 'pelo menos {amount}',
  exportFile: 'Exportar',
  exporting: 'Exportando…',
  exportFailed: 'Não foi possível exportar. Tente de novo em um minuto.',
};
