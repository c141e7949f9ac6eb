/** Set for a run that only shows that everything runs: `quick` in place of `full`, with figures that mean nothing. */
export const QUICK = process.argv.includes('--quick');
export const size = (full: number, quick: number) => (QUICK ? quick : full);

/** One figure, and the floor or a peer's figure that was measured in turns with it. */
export interface Row {
  name: string;
  /** The peers that were measured. */
  against?: string;
  unit: string;
  ours: number;
  /** Null for a figure without a floor. */
  floor: number | null;
  /**
   * The median of the rounds' ratios: if the target is a minimum, how many times as fast ours is; else how many times
   * as expensive.
   */
  ratio: number | null;
  target?: Target;
  /** Further figures, such as `p99 12 ms`. */
  beside: string;
  /** One line: what was measured and against what. */
  explanation: string;
}

/** The target of the ratio, or of the figure if there is no ratio. */
export type Target = { atLeast: number } | { atMost: number };

/**
 * The target of a write whose floor sends its statements, except those of the queue. Everything else may take as long
 * as these statements.
 */
export const AT_LEAST_HALF_OF_FLOOR: Target = { atLeast: 0.5 };

/** Null without a target. */
export function isMet({ ratio, ours, target }: Row): boolean | null {
  if (!target) return null;
  const reached = ratio ?? ours;
  return 'atLeast' in target ? reached >= target.atLeast : reached <= target.atMost;
}

/** The names of the rows that miss their target. */
export function missedTargets(rows: readonly Row[]): string[] {
  return rows.filter((row) => isMet(row) === false).map(({ name }) => name);
}

export function targetText({ target, ratio, unit }: Row): string {
  if (!target) return '';
  const [sign, number] = 'atLeast' in target ? ['≥', target.atLeast] : ['≤', target.atMost];
  return `${sign} ${ratio === null ? `${number} ${unit}` : number}`;
}

/** `18,200 /s against 22,000 /s`, or the one figure alone. */
export function figuresText({ ours, floor, unit }: Row): string {
  return floor === null ? `${figure(ours)} ${unit}` : `${figure(ours)} against ${figure(floor)} ${unit}`;
}

export function ratioText({ ratio }: Row): string {
  return ratio === null ? '' : ratio.toFixed(2);
}

export function table(rows: readonly Row[]): string {
  const lines = [
    ['', 'against', 'ratio', 'target', '', 'figures'],
    ...rows.map((row) => {
      const met = isMet(row);
      return [
        row.name,
        row.against ?? '',
        ratioText(row),
        targetText(row),
        met === null ? '' : met ? '✓' : '✗',
        [figuresText(row), row.beside].filter(Boolean).join('; '),
      ];
    }),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((line) => line[column]!.length)));
  const aligned = lines.map((line) =>
    line
      .map((text, column) => (column === 2 ? text.padStart(widths[2]!) : text.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [...aligned, '', ...explanations(rows)].join('\n');
}

/** An explanation of the measurement, once for all rows that share it. */
export function explanations(rows: readonly Row[]): string[] {
  const explained = new Map<string, string[]>();
  for (const { name, explanation } of rows) {
    const names = explained.get(explanation) ?? [];
    explained.set(explanation, names.includes(name) ? names : [...names, name]);
  }
  return [...explained].map(([explanation, names]) => `${names.join(' · ')}: ${explanation}`);
}

export function figure(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const place = (percent / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place - Math.floor(place));
}

/** Prints what is being measured, on a line that the next call overwrites. */
export function progress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K… ${text}`);
  else console.log(`… ${text}`);
}

/** Measures all in turns, each of them first in turn: what disturbs the machine disturbs each of them. */
export async function inTurns<Result, Name extends string = 'ours' | 'floor'>(
  rounds: number,
  measure: Record<Name, () => Promise<Result>>,
  called?: string,
): Promise<Record<Name, Result>[]> {
  const names = Object.keys(measure) as Name[];
  const results: Record<Name, Result>[] = [];
  for (let round = 0; round < rounds; round++) {
    if (called) progress(`${called}: round ${round + 1} of ${rounds}`);
    const first = round % names.length;
    const found: Partial<Record<Name, Result>> = {};
    for (const name of [...names.slice(first), ...names.slice(0, first)]) found[name] = await measure[name]();
    results.push(found as Record<Name, Result>);
  }
  return results;
}
