import { createHash } from 'node:crypto';
import type { GraphiQLOptions } from 'graphql-yoga';

const STYLE = `<style>
/* Without this GraphiQL's tabs keep the transform of their animation, and jump away at the first click. */
.graphiql-tab { transform: none !important; }
body { display: flex; flex-direction: column; height: 100vh; height: 100dvh; color-scheme: light dark; }
body.graphiql-light { color-scheme: light; }
body.graphiql-dark { color-scheme: dark; }
#root { flex: 1; min-height: 0; }
body .graphiql-container { width: 100%; height: 100%; }
.key {
  display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; padding: 10px 16px;
  border-bottom: 1px solid light-dark(#d9dce3, #3a4150);
  color: light-dark(#1f2530, #eef0f4); background: light-dark(#f4f5f8, #181c24); font: 14px/1.4 system-ui, sans-serif;
}
.key label { font-weight: 600; }
.key input {
  box-sizing: border-box; flex: 0 1 24rem; min-width: 0; max-width: 100%; padding: 6px 10px;
  border: 1px solid light-dark(#737a88, #8b93a3); border-radius: 6px;
  color: inherit; background: light-dark(#fff, #0f1218); font: inherit;
}
.key input:focus-visible { outline: 2px solid light-dark(#3340d3, #8f9bff); outline-offset: 1px; }
.key output { color: light-dark(#555c6b, #b4bac6); }
</style>`;

const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">';

const KEY_FIELD = `<div class="key">
  <label for="key">API key</label>
  <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="ps_live_… or ps_test_…" aria-describedby="key-state" />
  <output id="key-state" for="key"></output>
</div>`;

/**
 * Sends the key of the field with each request whose tab has none in Headers. GraphiQL stores its tabs and its
 * history in localStorage: the script removes credentials from there, also those of earlier visits.
 */
const SCRIPT = `(() => {
  const field = document.querySelector('#key');
  const state = document.querySelector('#key-state');
  const keyIn = () => field.value.trim().replace(/^Bearer\\s+/i, '');
  const show = () => {
    const key = keyIn();
    const kind = key.startsWith('ps_live_') ? 'Live key' : key.startsWith('ps_test_') ? 'Sandbox key' : 'Token';
    state.value = key
      ? kind + ' for all tabs. It is in the memory of this page alone, until you close or reload it.'
      : 'No key. In embedded mode the server printed two when it first started.';
  };
  field.addEventListener('input', show);
  // Some browsers fill fields of a page that is reloaded.
  field.value = '';
  show();
  const { fetch, Storage } = globalThis;
  globalThis.fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    const key = keyIn();
    if (key && /^(Bearer)?\\s*$/i.test(headers.get('authorization') ?? '')) headers.set('authorization', 'Bearer ' + key);
    return fetch(input, { ...init, headers });
  };
  const withoutKeys = (text) => String(text).replace(/\\bps_(live|test)_[\\w.~+/=-]*/g, '').replace(/\\b(Bearer) +[\\w.~+/=-]+/gi, '$1 ');
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = function (name, value) {
    setItem.call(this, name, withoutKeys(value));
  };
  for (const [name, value] of Object.entries(localStorage)) localStorage.setItem(name, value);
})();`;

/**
 * Adds a field for the API key to GraphiQL's page, and makes the page's content security policy: it allows the page's scripts
 * by their hashes, the workers that the editor makes of blobs, the styles that the editor writes, and requests to this server.
 */
export async function renderGraphiQL(options: GraphiQLOptions): Promise<{ page: string; policy: string }> {
  // The page is a string of 9 MB, which a server holds only after a user has opened it.
  const { renderGraphiQL: render } = await import('@graphql-yoga/render-graphiql');
  const rendered = String(render({ ...options, shouldPersistHeaders: false }));
  const begin = rendered.indexOf('<script>', rendered.indexOf('<div id="root">')) + '<script>'.length;
  const script = rendered.slice(begin, rendered.indexOf('</script>', begin));
  const page = rendered
    .replace('</head>', `${VIEWPORT}${STYLE}</head>`)
    .replace('<div id="root">', () => `${KEY_FIELD}<script>${SCRIPT}</script><div id="root">`);
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(SCRIPT)} ${hashSource(script)}`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "connect-src 'self' ws: wss:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { page, policy };
}

function hashSource(script: string): string {
  // A browser hashes the script after these replacements.
  const parsed = script.replace(/\r\n?/g, '\n').replaceAll('\u0000', '\ufffd');
  return `'sha256-${createHash('sha256').update(parsed).digest('base64')}'`;
}
