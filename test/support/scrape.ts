/** The lines of `/metrics`, by their name: `psa_tasks_total`, `psa_task_seconds_bucket`. */
export interface Scraped {
  /** The names of all lines that the declared metrics may have. */
  readonly names: ReadonlySet<string>;
  /** The labels of the lines of a name. */
  labelsOf(name: string): ReadonlySet<string>;
  /** The value of the line with exactly these labels; null without one. */
  value(name: string, labels?: Record<string, string>): number | null;
}

export function readMetrics(text: string): Scraped {
  const names = new Set<string>();
  const lines: { name: string; labels: Record<string, string>; value: number }[] = [];
  for (const line of text.split('\n')) {
    const [, declared, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (declared) {
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of suffixes) names.add(declared + suffix);
    }
    const [, name, labels = '', value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!name) continue;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!]);
    lines.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  const sorted = (labels: Record<string, string>) => JSON.stringify(Object.entries(labels).sort());
  return {
    names,
    labelsOf: (name) =>
      new Set(lines.flatMap((line) => (line.name === name ? Object.keys(line.labels) : []))),
    value: (name, labels = {}) =>
      lines.find((line) => line.name === name && sorted(line.labels) === sorted(labels))?.value ?? null,
  };
}
