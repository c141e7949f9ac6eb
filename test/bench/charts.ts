// Charts as SVG, for a README: readable in light and dark, on a phone and on a desktop, without a script.

export interface Chart {
  /** The name of its file, without the ending. */
  name: string;
  title: string;
  /** The unit of the values. */
  subtitle: string;
  /** The horizontal axis: the quantity that grows, and its values, drawn at equal distances. */
  along: string;
  sizes: readonly number[];
  series: readonly Series[];
  /** Set for a scale on which each step up is ten times as much. */
  isLogarithmic: boolean;
  /** The chart in words: the text alternative of the picture. */
  description: string;
}

export interface Series {
  name: string;
  /** One value for each size. */
  values: readonly number[];
}

const WIDTH = 400;
const HEIGHT = 272;
const LEGEND = 72;
const PLOT = { left: 48, right: 380, top: 98, bottom: 220 };

// Two colors that people with a color vision deficiency can tell apart, on light and dark ground.
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .quiet { fill: #59636e }
  .ground { fill: #ffffff; stroke: #d1d9e0 }
  .grid { stroke: #d1d9e0 }
  .s0 { --c: #0b5fb5 } .s1 { --c: #b3540a } .s2 { --c: #59636e }
  .line { fill: none; stroke: var(--c); stroke-width: 2.5 }
  .dot { fill: var(--c) }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .ground { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #3d444d }
    .s0 { --c: #5aa9ff } .s1 { --c: #f0883e } .s2 { --c: #9198a1 }
  }`;

/** Draws one chart: lines over sizes. It has a title and a description for screen readers. */
export function chartSvg({
  title,
  subtitle,
  along,
  sizes,
  series,
  description,
  isLogarithmic,
}: Chart): string {
  const all = series.flatMap(({ values }) => values);
  const ticks = isLogarithmic ? powersAround(all) : quartersBelow(Math.max(...all));
  const scale = isLogarithmic ? Math.log10 : Number;
  const [low, high] = [scale(ticks[0]!), scale(ticks.at(-1)!)];
  const x = (index: number) => PLOT.left + 16 + ((PLOT.right - PLOT.left - 32) * index) / (sizes.length - 1);
  const y = (value: number) => PLOT.bottom - ((PLOT.bottom - PLOT.top) * (scale(value) - low)) / (high - low);

  const grid = ticks.map(
    (value) =>
      `<path class="grid" d="M${PLOT.left} ${y(value)}H${PLOT.right}"/>` +
      `<text class="quiet" x="${PLOT.left - 6}" y="${y(value) + 4}" text-anchor="end">${shortText(value)}</text>`,
  );
  const foot = sizes.map(
    (size, index) =>
      `<text class="quiet" x="${x(index)}" y="${PLOT.bottom + 20}" text-anchor="middle">${shortText(size)}</text>`,
  );
  const lines = series.map(({ values }, place) => {
    const points = values.map((value, index) => ({ x: round(x(index)), y: round(y(value)) }));
    const dots = points.map((point) => `<circle class="dot" cx="${point.x}" cy="${point.y}" r="3.5"/>`);
    const path = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${point.x} ${point.y}`);
    return `<g class="s${place}"><path class="line" d="${path.join('')}"/>${dots.join('')}</g>`;
  });
  let at = 16;
  const legend = series.map(({ name }, place) => {
    const entry = `<g class="s${place}"><path class="line" d="M${at} ${LEGEND}h16"/><circle class="dot" cx="${at + 8}" cy="${LEGEND}" r="3.5"/></g><text x="${at + 22}" y="${LEGEND + 4}">${escapeXml(name)}</text>`;
    at += 40 + name.length * 7;
    return entry;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description">
<title id="title">${escapeXml(title)}</title>
<desc id="description">${escapeXml(description)}</desc>
<style>${STYLE}
</style>
<rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="6"/>
<text class="title" x="16" y="28">${escapeXml(title)}</text>
<text class="quiet" x="16" y="48">${escapeXml(subtitle)}</text>
<text class="quiet" x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 40}" text-anchor="middle">${escapeXml(along)}</text>
${[...grid, ...foot, ...lines, ...legend].join('\n')}
</svg>
`;
}

/** The figures of a chart as lines of text, for a terminal. */
export function chartText({ title, subtitle, along, sizes, series }: Chart): string {
  const columns = [
    [along, ...sizes.map(shortText)],
    ...series.map(({ name, values }) => [name, ...values.map(figureText)]),
  ];
  const widths = columns[0]!.map((_, index) => Math.max(...columns.map((column) => column[index]!.length)));
  const lines = columns.map((column) =>
    column
      .map((text, index) => (index === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[index]!)))
      .join('  '),
  );
  return [`${title} (${subtitle})`, ...lines].join('\n');
}

/** Divides the axis into quarters. Its end is 1, 2, 4 or 8 times a power of ten, so that the labels are short. */
function quartersBelow(largest: number): number[] {
  const power = 10 ** Math.floor(Math.log10(largest));
  const top = power * [1, 2, 4, 8, 10].find((step) => step * power >= largest)!;
  return [0, 0.25, 0.5, 0.75, 1].map((part) => part * top);
}

function powersAround(values: readonly number[]): number[] {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

/** `10k`, `1M`, `2.5`. */
function shortText(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(value);
}

function figureText(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
