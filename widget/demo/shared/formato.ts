// How the pages write money and time: Brazilian Portuguese, in the reader's time zone.

const reais = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });
const curto = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  notation: 'compact',
  maximumFractionDigits: 1,
});
const ltc = new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 8 });
const hora = new Intl.DateTimeFormat('pt-BR', { hour: '2-digit', minute: '2-digit' });
const horaDoDia = new Intl.DateTimeFormat('pt-BR', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dia = new Intl.DateTimeFormat('pt-BR', { day: '2-digit', month: 'short' });
const completo = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'full', timeStyle: 'medium' });
const relativo = new Intl.RelativeTimeFormat('pt-BR', { numeric: 'auto', style: 'short' });

export const emReais = (cents: number) => reais.format(cents / 100);
export const emPoucosReais = (cents: number) => curto.format(cents / 100);
export const emLtc = (amount: string | number) => `${ltc.format(Number(amount))} LTC`;
export const porExtenso = (instant: Date) => completo.format(instant);
export const comSegundos = (instant: Date) => horaDoDia.format(instant);

/** The hour today; the day as well on any other. */
export function horario(instant: Date, now: Date): string {
  const sameDay = instant.toDateString() === now.toDateString();
  return sameDay ? hora.format(instant) : `${dia.format(instant)} ${hora.format(instant)}`;
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** “há 2 min.”, “em 3 h”. */
export function haQuanto(instant: Date, now: Date): string {
  const seconds = Math.round((instant.getTime() - now.getTime()) / 1_000);
  const size = Math.abs(seconds);
  if (size < 10) return 'agora';
  const [unit, length] = STEPS.find(([, length]) => size >= length) ?? (['second', 1] as const);
  return relativo.format(Math.trunc(seconds / length), unit);
}

/** “1.234,56”, “1234,56” and “1234.56” in cents; null for what is no amount. */
export function centavosDe(text: string): number | null {
  const plain = text.replace(/[R$\s]/g, '');
  const comma = /^(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{1,2}))?$/.exec(plain);
  const point = /^(\d+)\.(\d{1,2})$/.exec(plain);
  const [, whole, fraction = ''] = comma ?? point ?? [];
  if (whole === undefined) return null;
  const cents = Number(whole.replaceAll('.', '')) * 100 + Number(fraction.padEnd(2, '0'));
  return Number.isSafeInteger(cents) ? cents : null;
}
