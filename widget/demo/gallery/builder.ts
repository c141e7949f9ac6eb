// Writes what a page needs to show the element as it is chosen: the HTML and the CSS.
import type { CheckoutMode } from '../../src/psa-checkout.ts';
import { formatBrl, parseCents } from '../shared/format.ts';
import { postJson } from '../shared/post-json.ts';
import { refusalText } from '../shared/refusals.ts';
import { assignScript, ENDPOINT, pageClipboard } from './fake-server.ts';
import { themeStyles } from './theme-styles.ts';

/** The choices of the form above. */
export interface Settings {
  theme: string;
  appearance: string;
  language: string;
  direction: string;
  width: string;
  methods: string;
  mode: string;
}

const PLACEHOLDER = 'ps_checkout_…';
/** The number of the first previewed payment, after those of the gallery, which are on reference images. */
const PREVIEW_PLACE = 1_000;
const WIDTHS: Record<string, string> = { narrow: '16.5rem', phone: '21.5rem', wide: '40rem' };

const find = <Type extends HTMLElement>(selector: string) => document.querySelector<Type>(selector);
const snippet = find<HTMLTextAreaElement>('#snippet');
const styles = find<HTMLTextAreaElement>('#styles');
const preview = find('#preview');
const tokenForm = find<HTMLFormElement>('form.token');
const amount = find<HTMLInputElement>('#amount');
const button = document.createElement('psa-checkout');
let token = PLACEHOLDER;
let readSettings: () => Settings;
let labelOf: (amountCents: number) => string;

/** Starts the builder; `settings` reads the form, and `label` makes the text of the button. */
export function openBuilder(settings: () => Settings, label: (amountCents: number) => string): void {
  readSettings = settings;
  labelOf = label;
  Object.assign(button, { endpoint: ENDPOINT, token: 'preview', transport: 'sse', mode: 'redirect' });
  button.addEventListener('psa-before-start', () => assignScript('preview', {}, PREVIEW_PLACE), {
    once: true,
  });
  // The link leads to no payment page.
  button.addEventListener('psa-before-redirect', (event) => event.preventDefault());
  preview?.append(button);
  tokenForm?.addEventListener('submit', (event) => {
    event.preventDefault();
    void createToken();
  });
  tokenForm?.addEventListener('input', () => {
    // The token is of another product now.
    token = PLACEHOLDER;
    amount?.removeAttribute('aria-invalid');
    say('');
    drawSnippet();
  });
  for (const copy of document.querySelectorAll<HTMLElement>('[data-copies]'))
    copy.addEventListener('click', () => void copyText(copy.dataset.copies ?? ''));
}

/** Draws the button, the HTML and the CSS of what is chosen. */
export function drawSnippet(): void {
  const settings = readSettings();
  const { theme, language, direction, width, methods, mode } = settings;
  const label = labelOf(amountCents() ?? 0);
  Object.assign(button, { methods, locale: language });
  button.textContent = label;
  if (preview) {
    preview.className = `theme-${theme === 'all' ? 'default' : theme}`;
    preview.dir = direction;
    preview.dataset.width = width;
  }
  const { origin } = location;
  const attributes = [
    `endpoint="${origin}/graphql"`,
    `token="${token}"`,
    `methods="${methods}"`,
    ...((mode as CheckoutMode) === 'auto' ? [] : [`mode="${mode}"`]),
    `locale="${language}"`,
    ...(direction === 'rtl' ? ['dir="rtl"'] : []),
  ];
  if (snippet)
    snippet.value = [
      `<script type="module" src="${origin}/widget/psa-checkout.js"></script>`,
      '<psa-checkout',
      ...attributes.map((attribute) => `  ${attribute}`),
      `>${label}</psa-checkout>`,
    ].join('\n');
  if (styles) styles.value = stylesOf(settings);
}

/** The rules of the page for the element: its width and its theme. */
function stylesOf({ theme, appearance, width }: Settings): string {
  const { properties, parts } = themeStyles(theme);
  const declarations = [
    ...(appearance === 'system' ? [] : [`color-scheme: ${appearance};`]),
    `max-inline-size: ${WIDTHS[width]};`,
    ...properties,
  ];
  return [`psa-checkout {\n${declarations.map((line) => `  ${line}\n`).join('')}}`, ...parts].join('\n');
}

/** Has the demo's server create a token, as a shop's server does with its API key. */
async function createToken(): Promise<void> {
  const cents = amountCents();
  if (cents === null) {
    amount?.setAttribute('aria-invalid', 'true');
    amount?.focus();
    return say('Escreva o valor em reais, como 189,00.');
  }
  const submit = tokenForm?.querySelector('button');
  submit?.setAttribute('aria-disabled', 'true');
  const description = find<HTMLInputElement>('#description')?.value.trim() || 'Produto';
  const result = await postJson<{ token: string }>('/demo/gallery/token', {
    amountCents: cents,
    description,
  });
  submit?.removeAttribute('aria-disabled');
  if (result.ok) {
    token = result.body.token;
    drawSnippet();
    const back =
      readSettings().mode === 'redirect'
        ? ' Na sua loja, dê ao token a successUrl: a página para onde voltar.'
        : '';
    return say(`Token criado, e no HTML. Vale por um dia, e nada é cobrado.${back}`);
  }
  const { status, fields } = result.refusal;
  if (fields.some(({ path }) => path === 'amountCents')) amount?.setAttribute('aria-invalid', 'true');
  say(
    status === 404
      ? 'A conta desta página é real: crie o token no seu servidor.'
      : fields.length > 0
        ? `O valor não serve: escreva um de ${formatBrl(80)} a ${formatBrl(10_000_000_000)}.`
        : `O token não foi criado. ${refusalText(result.refusal)}`,
  );
}

async function copyText(id: string): Promise<void> {
  const field = find<HTMLTextAreaElement>(`#${id}`);
  const name = id === 'styles' ? 'CSS' : 'HTML';
  try {
    if (!pageClipboard) throw new Error('no clipboard');
    await pageClipboard.writeText(field?.value ?? '');
    say(`${name} copiado.`, 'copy');
  } catch {
    field?.select();
    field?.focus();
    say(`O navegador não deixou copiar. O ${name} está selecionado: copie com o teclado.`, 'copy');
  }
}

function amountCents(): number | null {
  return parseCents(amount?.value ?? '');
}

/** Shows a sentence of the token's form, or about copying. */
function say(text: string, about: 'token' | 'copy' = 'token'): void {
  const line = find(`#${about}-status`);
  if (line) line.textContent = text;
}
