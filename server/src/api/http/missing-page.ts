import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../kernel/error-codes.ts';
import { LANGUAGES, type Language } from '../../kernel/language.ts';
import { preferredOf } from './accept-language.ts';
import { ICON } from './icon.ts';
import { send } from './routes.ts';

/** Whether a person has followed the address: a browser sends this type only in a navigation, and programs rarely send it. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');
}

/**
 * Answers an unknown address in the language that the browser prefers. The address may come from anybody, so the page
 * does not repeat it.
 */
export function sendMissingPage(
  { headers }: IncomingMessage,
  response: ServerResponse,
  code: ErrorCode = 'ROUTE_NOT_FOUND',
): void {
  const language = preferredOf(LANGUAGES, headers['accept-language'] ?? '');
  send(response, 404, PAGES[language], {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': CSP,
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex',
    'x-error-code': code,
    vary: 'accept, accept-language',
  });
}

const STYLE = `
:root { color-scheme: light dark; }
body { display: grid; place-content: center; min-block-size: 100svh; margin: 0; padding: 1.5rem; box-sizing: border-box;
  background: light-dark(#eaf0ec, #0a100e); color: light-dark(#12211c, #e9f1ed);
  font: 1rem/1.5 system-ui, sans-serif; text-align: center; text-wrap: balance; }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0; color: light-dark(#51625b, #a3b5ad); }
`;

const TEXTS = {
  'pt-BR': ['Página não encontrada', 'Confira o endereço ou volte ao lugar de onde você veio.'],
  en: ['Page not found', 'Check the address, or go back to where you came from.'],
  es: ['Página no encontrada', 'Revisa la dirección o vuelve al lugar de donde viniste.'],
} as const satisfies Record<Language, unknown>;

const page = (language: Language, [title, advice] = TEXTS[language]) => `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${advice}</p>
</main>
</body>
</html>
`;
const PAGES = { 'pt-BR': page('pt-BR'), en: page('en'), es: page('es') };

const CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
