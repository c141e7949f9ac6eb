import { shared } from '../../board/locales/en.ts';

export const list = {
  ...shared,
  filter: 'Filter',
  moreFilters: 'More filters',
  all: 'All',
  newOne: '1 new',
  newMany: '{count} new',
  moreFailed: 'Could not load more.',
  search: 'Search',
  amountBrl: 'Amount (R$)',
  apply: 'Apply',
  clear: 'Clear',
  invalidSearch: 'Write a whole code, without spaces or accents.',
  invalidNumber: 'Write up to 100 characters, none of them invisible.',
  invalidAmount: 'Write an amount, such as {example}.',
  invalidDate: 'Write the whole date: day, month and year.',
  invalidPeriod: 'The last day comes before the first.',
  filterRefused: 'This filter is not available here.',
};
