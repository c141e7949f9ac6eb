// The months of the statement, in the time of Brasília, which has no summer time any more.

export interface Month {
  /** The year and the month, such as 2026-03. */
  name: string;
  label: string;
  /** The first instant, and that of the next month. */
  startsAt: string;
  endsAt: string;
}

/** The number of months that are offered: this one, and those of a year before. */
const OFFERED = 13;

const parts = new Intl.DateTimeFormat('en-CA', {
  year: 'numeric',
  month: '2-digit',
  timeZone: 'America/Sao_Paulo',
});
const label = new Intl.DateTimeFormat('pt-BR', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The newest months at `now`, the newest first. */
export function monthsUntil(now: Date): Month[] {
  const [year = 0, month = 0] = parts.format(now).split('-').map(Number);
  return Array.from({ length: OFFERED }, (_, back) => {
    const first = new Date(Date.UTC(year, month - 1 - back));
    const next = new Date(Date.UTC(year, month - back));
    return {
      name: first.toISOString().slice(0, 7),
      label: label.format(first),
      startsAt: startOf(first),
      endsAt: startOf(next),
    };
  });
}

const startOf = (first: Date) => `${first.toISOString().slice(0, 10)}T00:00:00-03:00`;
