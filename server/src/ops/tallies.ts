import { Counter, type Metric, type Registry } from 'prom-client';

// A counter of the library looks its labels up at each step, which takes half a microsecond: too much for what happens
// with every request and every delivery. Here the labels are looked up when the program starts, and then one adds.

/** One line of a counter. */
export interface Count {
  n: number;
}

/** One line of a histogram. */
export interface Tally {
  add(value: number): void;
}

interface Described {
  readonly name: string;
  readonly help: string;
  readonly registers: readonly Registry[];
}

/** A counter, whose lines are there from the first asking for them. The same labels give the same line. */
export function createCounts<Label extends string>({
  registers,
  ...described
}: Described & { readonly labelNames: readonly Label[] }): (...labels: string[]) => Count {
  const lines = createLines<Label, Count>(described.labelNames, () => ({ n: 0 }));
  new Counter({
    ...described,
    registers: [...registers],
    collect() {
      this.reset();
      for (const { labels, line } of lines.all()) this.inc(labels, line.n);
    },
  });
  return lines;
}

/** A histogram, as `createCounts` is a counter. `buckets` are upper bounds, in order. */
export function createTallies<Label extends string>({
  name,
  help,
  registers,
  labelNames,
  buckets,
}: Described & { readonly labelNames: readonly Label[]; readonly buckets: readonly number[] }): (
  ...labels: string[]
) => Tally {
  const lines = createLines<Label, Tally & Counted>(labelNames, () => createTally(buckets));
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: lines.all().flatMap(({ labels, line }) => valuesOf(name, labels, buckets, line)),
    }),
  };
  // What a registry asks of a metric is `get`; the library's type wants its own class.
  for (const registry of registers) registry.registerMetric(metric as unknown as Metric);
  return lines;
}

interface Counted {
  /** By bucket, the last for what is beyond the last bound; not cumulative. */
  readonly counts: readonly number[];
  sum(): number;
}

function createTally(buckets: readonly number[]): Tally & Counted {
  const counts = Array.from({ length: buckets.length + 1 }, () => 0);
  let sum = 0;
  return {
    counts,
    sum: () => sum,
    add(value) {
      let bucket = 0;
      while (bucket < buckets.length && value > buckets[bucket]!) bucket += 1;
      counts[bucket]! += 1;
      sum += value;
    },
  };
}

function valuesOf(
  name: string,
  labels: Partial<Record<string, string>>,
  buckets: readonly number[],
  line: Counted,
) {
  let count = 0;
  const bounds = [...buckets, '+Inf'].map((le, index) => {
    count += line.counts[index]!;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...bounds,
    { metricName: `${name}_sum`, labels, value: line.sum() },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** One line for each value of the labels, from the first asking for it. */
export interface Lines<Label extends string, Line> {
  (...values: string[]): Line;
  all(): { labels: Partial<Record<Label, string>>; line: Line }[];
}

export function createLines<Label extends string, Line>(
  labelNames: readonly Label[],
  create: (...values: string[]) => Line,
): Lines<Label, Line> {
  const lines = new Map<string, { labels: Partial<Record<Label, string>>; line: Line }>();
  function of(...values: string[]): Line {
    const key = values.join('\n');
    let found = lines.get(key);
    if (!found) {
      const labels = Object.fromEntries(labelNames.map((name, index) => [name, values[index]!]));
      found = { labels: labels as Partial<Record<Label, string>>, line: create(...values) };
      lines.set(key, found);
    }
    return found.line;
  }
  return Object.assign(of, { all: () => [...lines.values()] });
}
