import { html, type TemplateResult } from 'lit';

/** The size of the drawing in its own units, as its `viewBox` has it. */
const WIDTH = 120;
const HEIGHT = 32;
/** The room for the width of the line. */
const EDGE = 2;

/** The path of a line through values at equal distances. Equal values lie in the middle. */
export function linePath(values: readonly number[]): string {
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  const step = WIDTH / Math.max(1, values.length - 1);
  return values
    .map((value, index) => {
      const part = range ? (value - least) / range : 0.5;
      const y = HEIGHT - EDGE - part * (HEIGHT - 2 * EDGE);
      return `${index ? 'L' : 'M'}${round(index * step)} ${round(y)}`;
    })
    .join('');
}

/** Draws the line of a history. The element says the same in words. */
export function sparkline(values: readonly number[]): TemplateResult {
  const line = linePath(values);
  return html`<svg viewBox="0 0 120 32" preserveAspectRatio="none" aria-hidden="true">
    <path class="area" d="${line}V${HEIGHT}H0Z" /><path class="line" d=${line} />
  </svg>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
