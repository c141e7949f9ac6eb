import { shared } from '../../board/locales/es.ts';

export const list = {
  ...shared,
  filter: 'Filtrar',
  moreFilters: 'Más filtros',
  moreFailed: 'No fue posible cargar más.',
  atLeast: 'al menos {amount}',
  exportFile: 'Exportar',
  exporting: 'Exportando…',
  exportFailed: 'No fue posible exportar. Intenta otra vez en un minuto.',
  close: 'Cerrar',
  history: 'Historial (Brasilia)',
  search: 'Buscar',
  amountBrl: 'Importe (R$)',
  apply: 'Filtrar',
  clear: 'Limpiar',
  invalidSearch: 'Escribe un código entero, sin espacios ni acentos.',
  invalidNumber: 'Escribe hasta 100 caracteres, sin caracteres invisibles.',
  invalidAmount: 'Escribe un importe, como {example}.',
  invalidDate: 'Escribe la fecha entera: día, mes y año.',
  invalidPeriod: 'El último día viene antes del primero.',
  filterRefused: 'Este filtro no está disponible aquí.',
};
