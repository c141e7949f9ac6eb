import { qrCode } from '../../kernel/qr-code.ts';
import { type Html, html } from './html.ts';

/** The width of the white border around the code, in modules, by which a reader finds it. */
const QUIET = 4;

/**
 * Draws a text black on white, in every theme, with attributes alone, which no policy forbids. The returned function renders
 * it with a class. Null for a text that is too long.
 */
export function drawQr(text: string, label: string): ((name: string) => Html) | null {
  const code = qrCode(text);
  if (!code) return null;
  const side = code.size + 2 * QUIET;
  const box = `${-QUIET} ${-QUIET} ${side} ${side}`;
  return (name) =>
    html`<svg class="qr ${name}" viewBox="${box}" width="${side * 4}" height="${side * 4}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect x="${-QUIET}" y="${-QUIET}" width="${side}" height="${side}" fill="#fff"/><path fill="#000" d="${code.path}"/></svg>`;
}
