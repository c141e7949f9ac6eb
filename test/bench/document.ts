import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { runNode } from '../../server/scripts/progress.mjs';
import { type Chart, chartSvg } from './charts.ts';
import { explanations, figuresText, isMet, type Row, ratioText, targetText } from './report.ts';

const DOCUMENT = 'server/docs/performance.md';
const CHARTS = 'test/bench/charts';
const BEGIN = '<!-- npm run bench -- --save writes from here -->';
const END = '<!-- to here -->';

interface Figures {
  rows: readonly Row[];
  charts: readonly Chart[];
  machine: string;
}

/** Writes the rows that have a target, and the charts, into the document between its two marks, formatted as the gate wants it. */
export async function saveToDocument(figures: Figures): Promise<void> {
  const path = new URL(`../../${DOCUMENT}`, import.meta.url);
  const text = readFileSync(path, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin)
    throw new Error(`${DOCUMENT} has no place for the figures: ${BEGIN} … ${END}`);
  mkdirSync(new URL(`../../${CHARTS}/`, import.meta.url), { recursive: true });
  for (const chart of figures.charts)
    writeFileSync(new URL(`../../${CHARTS}/${chart.name}.svg`, import.meta.url), chartSvg(chart));
  writeFileSync(path, `${text.slice(0, begin)}${BEGIN}\n\n${section(figures)}\n\n${text.slice(end)}`);
  const { ok, output } = await runNode(
    'node_modules/@biomejs/biome/bin/biome',
    ['format', '--write', DOCUMENT],
    {
      quiet: true,
    },
  );
  if (!ok) throw new Error(output);
}

function section({ rows, charts, machine }: Figures): string {
  const aimed = rows.filter(({ target }) => target);
  return [
    `Measured on ${machine}. A ratio is the median of alternating rounds in one run; ≥ is how many times as fast, ≤ how many times as dear.`,
    markdownTable([
      ['what', 'against', 'ratio', 'target', '', 'figures'],
      ...aimed.map((row) => [
        row.name,
        row.against ?? '',
        ratioText(row),
        targetText(row),
        isMet(row) ? '✓' : '✗',
        [figuresText(row), row.beside].filter(Boolean).join('; '),
      ]),
    ]),
    '<details><summary>What each of them is</summary>',
    explanations(aimed)
      .map((line) => `- ${line}.`)
      .join('\n'),
    '</details>',
    charts
      .map(({ name, title, description }) => `![${title}. ${description}](../../${CHARTS}/${name}.svg)`)
      .join('\n'),
  ].join('\n\n');
}

function markdownTable([head, ...lines]: string[][]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...lines.map(line)].join('\n');
}
