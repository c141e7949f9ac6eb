import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { type Browser, chromium, type Locator } from 'playwright-core';
import { PNG } from 'pngjs';
import { launchOptions } from '../support/launch-options.ts';
import { type Gallery, openGallery, SCHEMES, THEMES, useBundledFont, type View } from './gallery-page.ts';

export const REFERENCES = fileURLToPath(new URL('./looks/', import.meta.url));

export interface Sheet {
  name: string;
  view: Required<Omit<View, 'methods' | 'mode' | 'element'>>;
  scheme: (typeof SCHEMES)[number];
  forced?: boolean;
}

const PLAIN = { theme: 'default', language: 'pt-BR', direction: 'ltr', width: 'phone' } as const;

/** The reference images, each of all states: every theme in light and dark, and every setting that changes the layout. */
export const SHEETS: readonly Sheet[] = [
  ...THEMES.flatMap((theme) =>
    SCHEMES.map((scheme) => ({ name: `${theme}-${scheme}`, view: { ...PLAIN, theme }, scheme })),
  ),
  { name: 'compact', view: { ...PLAIN, width: 'narrow' }, scheme: 'light' },
  { name: 'wide', view: { ...PLAIN, width: 'wide', language: 'es' }, scheme: 'light' },
  { name: 'right-to-left', view: { ...PLAIN, direction: 'rtl', language: 'en' }, scheme: 'light' },
  { name: 'forced-colors', view: PLAIN, scheme: 'dark', forced: true },
];

/** Launches the shell without font hinting, so that glyphs are placed alike on every machine. */
export function launchForLooks(): Promise<Browser> {
  const options = launchOptions();
  return chromium.launch({ ...options, args: [...options.args, '--font-render-hinting=none'] });
}

export async function openForLooks(browser: Browser, url: string): Promise<Gallery> {
  const gallery = await openGallery(browser, url, {}, { reducedMotion: 'reduce', deviceScaleFactor: 1 });
  await useBundledFont(gallery.page);
  await gallery.page.route('**/alone.css', (route) =>
    route.fulfill({ body: ALONE_CSS, contentType: 'text/css' }),
  );
  await gallery.page.addStyleTag({ url: '/alone.css' });
  return gallery;
}

/**
 * Places the gallery below the rest of the page, whose height depends on the machine's fonts: a third of a pixel more, and
 * each line is rounded differently.
 */
const ALONE_CSS = `
#gallery { position: absolute; inset-block-start: 3000px; inline-size: 1152px; }
.theme h2, .theme .summary { font-family: Bundled !important; }
`;

export async function drawSheet({ page, show }: Gallery, { view, scheme, forced }: Sheet): Promise<PNG> {
  await page.emulateMedia({ colorScheme: scheme, forcedColors: forced ? 'active' : 'none' });
  await show(view);
  return draw(page.locator(`#${view.theme} .frames`));
}

/** Draws an element in the reference's colors: each channel rounded to 32 steps, which halves the file's size. */
export async function draw(what: Locator): Promise<PNG> {
  const png = PNG.sync.read(await what.screenshot({ animations: 'disabled' }));
  const { data } = png;
  for (let at = 0; at < data.length; at++) data[at] = Math.min(255, Math.round((data[at] ?? 0) / 8) * 8);
  return png;
}

export async function readReference(name: string): Promise<PNG> {
  return PNG.sync.read(await readFile(`${REFERENCES}${name}.png`));
}

export async function writeReference(name: string, png: PNG): Promise<void> {
  await writeFile(
    `${REFERENCES}${name}.png`,
    PNG.sync.write(png, { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 }),
  );
}

/**
 * Thresholds of a change. Different antialiasing is faint and keeps a tile's average; a moved element differs
 * strongly in some pixels of a tile; another color changes a tile's average.
 */
const MOVED = { threshold: 0.3, tile: 16, pixels: 8 };
const RECOLOURED = { tile: 32, levels: 5 };

/** Compares an image with its reference. Describes and draws the visible difference; undefined if there is none. */
export function compare(actual: PNG, reference: PNG): { problem: string; image: Buffer } | undefined {
  const { width, height } = reference;
  if (actual.width !== width || actual.height !== height)
    return {
      problem: `is ${actual.width} × ${actual.height} and was ${width} × ${height}`,
      image: PNG.sync.write(actual),
    };
  const diff = new PNG({ width, height });
  const mark = (options: Parameters<typeof pixelmatch>[5]) =>
    pixelmatch(actual.data, reference.data, diff.data, width, height, options);
  mark({ threshold: MOVED.threshold, includeAA: true, diffMask: true });
  const moved = tiles(reference, MOVED.tile, (at) => Math.sign(diff.data[at + 3] ?? 0)).filter(
    ({ sum }) => sum > MOVED.pixels,
  );
  const recoloured = [0, 1, 2].flatMap((channel) =>
    tiles(
      reference,
      RECOLOURED.tile,
      (at) => (actual.data[at + channel] ?? 0) - (reference.data[at + channel] ?? 0),
    ).filter(({ sum }) => Math.abs(sum) > RECOLOURED.levels * RECOLOURED.tile ** 2),
  );
  const where = [...moved, ...recoloured].slice(0, 3).map(({ x, y }) => `${x},${y}`);
  if (where.length === 0) return undefined;
  mark({ threshold: 0.05 });
  return { problem: `looks different at ${where.join(' and ')}`, image: PNG.sync.write(diff) };
}

/** Divides an image into tiles, each with the sum of a value over its pixels. */
function tiles(
  { width, height }: { width: number; height: number },
  size: number,
  value: (at: number) => number,
): { x: number; y: number; sum: number }[] {
  const columns = Math.ceil(width / size);
  const sums = new Float64Array(columns * Math.ceil(height / size));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const tile = Math.floor(y / size) * columns + Math.floor(x / size);
      sums[tile] = (sums[tile] ?? 0) + value((y * width + x) * 4);
    }
  return [...sums].map((sum, tile) => ({
    x: (tile % columns) * size,
    y: Math.floor(tile / columns) * size,
    sum,
  }));
}
