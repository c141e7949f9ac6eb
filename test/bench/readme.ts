import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { runNode } from '../../server/scripts/progress.mjs';
import { type Chart, chartSvg } from './charts.ts';
import { explanations, figuresText, isMet, type Row, ratioText, targetText } from './report.ts';

const README = new URL('../../README.md', import.meta.url);
const FOLDER = 'test/bench/charts';
const BEGIN = '<!-- npm run bench -- --save writes from here -->';
const END = '<!-- to here -->';

interface Figures {
  rows: readonly Row[];
  charts: readonly Chart[];
  machine: string;
}

/** Puts the rows that have a target, and the charts, into the README between its two marks, as the format gate has it. */
export async function saveToReadme(figures: Figures): Promise<void> {
  const text = readFileSync(README, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`README.md has no place for the figures: ${BEGIN} … ${END}`);
  mkdirSync(new URL(`../../${FOLDER}/`, import.meta.url), { recursive: true });
  for (const chart of figures.charts)
    writeFileSync(new URL(`../../${FOLDER}/${chart.name}.svg`, import.meta.url), chartSvg(chart));
  writeFileSync(README, `${text.slice(0, begin)}${BEGIN}\n\n${section(figures)}\n\n${text.slice(end)}`);
  const { ok, output } = await runNode(
    'node_modules/@biomejs/biome/bin/biome',
    ['format', '--write', 'README.md'],
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
      .map(({ name, title, description }) => `![${title}. ${description}](${FOLDER}/${name}.svg)`)
      .join('\n'),
  ].join('\n\n');
}

function markdownTable([head, ...lines]: string[][]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...lines.map(line)].join('\n');
}
