import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Row } from './report.ts';

const folder = new URL('../../widget/dist/standalone/', import.meta.url);
const ENTRY = 'psa-checkout.js';

/** Measures the bytes that a page downloads for the widget: at once, and with all that it may load later. */
export function measureWidget(): Row[] {
  if (!existsSync(new URL(ENTRY, folder))) {
    console.log('The widget is not built (no widget/dist/standalone): its size is left out');
    return [];
  }
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const size = (names: string[]) => {
    const contents = names.map((name) => readFileSync(new URL(name, folder)));
    return {
      bytes: contents.reduce((sum, content) => sum + content.length, 0),
      gzip: contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0),
    };
  };
  const row = (name: string, names: string[], explanation: string): Row => {
    const { bytes, gzip } = size(names);
    return {
      name,
      unit: 'kB',
      ours: gzip / 1_000,
      floor: null,
      ratio: null,
      beside: `${(bytes / 1_000).toFixed(1)} kB unpacked`,
      explanation,
    };
  };
  return [
    row('widget, initial', [ENTRY], 'gzip of the script that a page names'),
    row('widget, total', files, 'gzip of every file of it: both transports, every language'),
  ];
}
