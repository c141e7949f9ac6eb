import type { Cents } from '../kernel/money.ts';

// Texts for the payer, in Brazilian Portuguese.

const createFormats = () => ({
  reais: new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }),
  instant: new Intl.DateTimeFormat('pt-BR', {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone: 'America/Sao_Paulo',
  }),
  day: new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeZone: 'America/Sao_Paulo' }),
  time: new Intl.DateTimeFormat('pt-BR', {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'America/Sao_Paulo',
  }),
});
/** Created by the first page: loading the tables of a locale takes 10 ms, which no start has to wait for. */
let created: ReturnType<typeof createFormats> | undefined;
function formats() {
  created ??= createFormats();
  return created;
}

export const money = (cents: Cents) => formats().reais.format(cents / 100);
export const instant = (date: Date) => formats().instant.format(date);
export const timeOfDay = (date: Date) => `${formats().time.format(date)} de Brasília`;
/** The whole seconds until an instant, 0 where it has passed. */
export const secondsLeft = (until: Date, now: Date) =>
  Math.max(0, Math.ceil((until.getTime() - now.getTime()) / 1000));
const twoDigits = (number: number) => String(number).padStart(2, '0');
/** Minutes and seconds; from an hour on with the hours before them. */
export const minutes = (seconds: number) => {
  const [hours, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}:${twoDigits(rest)}` : rest}:${twoDigits(seconds % 60)}`;
};
export const dayOfYear = (date: Date) => formats().day.format(date);
export const initial = (name: string) => [...name.trim()][0]?.toLocaleUpperCase('pt-BR') ?? '•';
