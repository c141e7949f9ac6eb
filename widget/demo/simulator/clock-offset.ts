/** Says by how much the simulated clock is ahead, such as `Adiantado 14 dias.` */
export function clockOffsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'Na hora certa.';
  const minutes = Math.round(offsetMs / 60_000);
  const days = Math.floor(minutes / 1_440);
  const hours = Math.floor((minutes % 1_440) / 60);
  const parts = [
    days ? `${days} ${days === 1 ? 'dia' : 'dias'}` : '',
    hours ? `${hours} h` : '',
    minutes % 60 ? `${minutes % 60} min` : '',
  ].filter((part) => part !== '');
  return `Adiantado ${parts.join(' ') || 'menos de um minuto'}.`;
}
