/** A run that only shows that everything runs: `quick` in place of `full`, and figures that mean nothing. */
export const QUICK = process.argv.includes('--quick');
export const size = (full: number, quick: number) => (QUICK ? quick : full);

/** One figure, and the floor that was measured in turns with it. */
export interface Row {
  name: string;
  unit: string;
  ours: number;
  /** Null where nothing could be as it is. */
  floor: number | null;
  ratio: number | null;
  /** What else is worth a look, such as `p99 12 ms`. */
  beside: string;
  /** In one line, what was measured and against what. */
  explanation: string;
}

export function table(rows: readonly Row[]): string {
  const lines = [
    ['', 'ours', 'floor', 'ratio', ''],
    ...rows.map(({ name, unit, ours, floor, ratio, beside }) => [
      name,
      `${figure(ours)} ${unit}`,
      floor === null ? '' : `${figure(floor)} ${unit}`,
      ratio === null ? '' : ratio.toFixed(2),
      beside,
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]!.length)));
  const aligned = lines.map(([name, ...figures]) =>
    [name!.padEnd(widths[0]!), ...figures.map((text, index) => text.padStart(widths[index + 1] ?? 0))]
      .join('  ')
      .trimEnd(),
  );
  const explanations = rows.map(({ name, explanation }) => `${name}: ${explanation}`);
  return [...aligned, '', ...explanations].join('\n');
}

function figure(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
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

/** Says what is being measured, on the line that the next one takes over. */
export function progress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K… ${text}`);
  else console.log(`… ${text}`);
}

/** Measures both in turns, which of them first by turns too: what disturbs the machine disturbs both. */
export async function inTurns<Result>(
  rounds: number,
  measure: { ours: () => Promise<Result>; floor: () => Promise<Result> },
): Promise<{ ours: Result; floor: Result }[]> {
  const results: { ours: Result; floor: Result }[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const ours = await measure.ours();
      results.push({ ours, floor: await measure.floor() });
    } else {
      const floor = await measure.floor();
      results.push({ floor, ours: await measure.ours() });
    }
  }
  return results;
}
