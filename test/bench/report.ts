/** A run that only shows that everything runs: `quick` in place of `full`, and figures that mean nothing. */
export const QUICK = process.argv.includes('--quick');
export const size = (full: number, quick: number) => (QUICK ? quick : full);

/** One figure, and the floor, or somebody else's, that was measured in turns with it. */
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
    ['', 'ours', 'against', 'ratio', ''],
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
  const explained = new Map<string, string[]>();
  for (const { name, explanation } of rows)
    explained.set(explanation, [...(explained.get(explanation) ?? []), name]);
  const explanations = [...explained].map(([explanation, names]) => `${names.join(' · ')}: ${explanation}`);
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

/** Measures all in turns, which of them first by turns too: what disturbs the machine disturbs each of them. */
export async function inTurns<Result, Name extends string = 'ours' | 'floor'>(
  rounds: number,
  measure: Record<Name, () => Promise<Result>>,
): Promise<Record<Name, Result>[]> {
  const names = Object.keys(measure) as Name[];
  const results: Record<Name, Result>[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    const found: Partial<Record<Name, Result>> = {};
    for (const name of [...names.slice(first), ...names.slice(0, first)]) found[name] = await measure[name]();
    results.push(found as Record<Name, Result>);
  }
  return results;
}
