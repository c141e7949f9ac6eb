import '../../src/define.ts';
import type { PsaCheckout } from '../../src/psa-checkout.ts';
import { drawSnippet, openBuilder, type Settings } from './builder.ts';
import { assignScript, device, ENDPOINT } from './fake-server.ts';
import { type GalleryState, STATES } from './states.ts';

const THEMES: Record<string, [title: string, summary: string]> = {
  default: ['Padrão', 'Como o elemento vem, sem uma linha de CSS.'],
  market: ['Armazém', 'Uma loja de bairro: papel, barro e botões redondos.'],
  night: ['Noturno', 'Um produto de software: preto, cal e cantos curtos.'],
  custody: ['Custódia', 'Um banco: azul-marinho, serifa e linhas retas.'],
};

const form = document.querySelector<HTMLFormElement>('form.controls');
const gallery = document.querySelector<HTMLElement>('#gallery');
const elements: PsaCheckout[] = [];

void openGallery();

async function openGallery(): Promise<void> {
  restoreView();
  openBuilder(settings, label);
  form?.addEventListener('change', applyView);
  // The links lead to no payment page.
  gallery?.addEventListener('click', (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    if (link) event.preventDefault();
  });
  gallery?.addEventListener('psa-before-redirect', (event) => event.preventDefault());
  for (const theme of Object.keys(THEMES)) gallery?.append(themeSection(theme));
  applyView();
  // The offline event reaches every element on the page, so the others are placed after it.
  await placeAll((state) => state.name === 'offline');
  dispatchEvent(new Event('offline'));
  for (const state of STATES.filter(({ name }) => name === 'cancelled'))
    for (const theme of Object.keys(THEMES)) await place(theme, state);
  device.isPhone = true;
  await placeAll((state) => Boolean(state.isPhone));
  device.isPhone = false;
  await placeAll((state) => !state.isPhone && !['offline', 'cancelled'].includes(state.name));
  // A field takes the focus, in which its text is selected, only where it is shown.
  gallery?.setAttribute('data-placed', '');
  for (const state of STATES.filter(({ copies }) => copies)) {
    device.hasClipboard = state.copies === 'granted';
    for (const frame of gallery?.querySelectorAll(`[data-state=${state.name}] psa-checkout`) ?? [])
      frame.shadowRoot?.querySelector<HTMLElement>('[part=copy-button]')?.click();
    // The promise of the clipboard.
    await Promise.resolve();
  }
  device.hasClipboard = true;
  (document.activeElement as HTMLElement | null)?.blur();
  gallery?.setAttribute('data-ready', '');
}

function themeSection(theme: string): Element {
  const [title = '', summary = ''] = THEMES[theme] ?? [];
  const section = makeElement('section', `theme theme-${theme}`);
  section.id = theme;
  section.setAttribute('aria-labelledby', `${theme}-title`);
  const heading = makeElement('h2', '', title);
  heading.id = `${theme}-title`;
  section.append(heading, makeElement('p', 'summary', summary));
  const frames = makeElement('div', 'frames');
  for (const state of STATES) {
    const frame = makeElement('div', 'frame');
    frame.dataset.state = state.name;
    frame.append(makeElement('h3', '', state.title));
    frames.append(frame);
  }
  section.append(frames);
  return section;
}

/** Places an element of each matching state in every theme, and waits until all have reached their states. */
async function placeAll(matches: (state: GalleryState) => boolean): Promise<void> {
  const arrivals: Promise<unknown>[] = [];
  for (const state of STATES.filter(matches)) {
    for (const theme of Object.keys(THEMES)) arrivals.push(place(theme, state));
    // The page stays usable meanwhile.
    await new Promise((resolve) => setTimeout(resolve));
  }
  await Promise.all(arrivals);
}

async function place(theme: string, state: GalleryState): Promise<void> {
  const checkout = document.createElement('psa-checkout');
  const token = `${theme}-${state.name}`;
  const orderCode = assignScript(token, state.script ?? {});
  Object.assign(checkout, {
    endpoint: ENDPOINT,
    token,
    resumeKey: token,
    transport: 'sse',
    mode: 'redirect',
  });
  if (state.via === 'return') Object.assign(checkout, { orderCode, paymentToken: token });
  Object.assign(checkout, state.properties);
  checkout.locale = chosen('language');
  checkout.append(label());
  elements.push(checkout);
  const arrived = state.via ? arrival(checkout, state) : undefined;
  if (state.name === 'cancelled')
    history.replaceState(null, '', `${location.search || '?'}&psa_order_code=${orderCode}&psa_cancelled=1`);
  document.querySelector(`#${theme} [data-state=${state.name}]`)?.append(checkout);
  await checkout.updateComplete;
  if (state.name === 'cancelled') saveView();
  if (state.via === 'click') void checkout.start();
  await arrived;
  if (state.script?.delivered) await contentOf(checkout);
}

/** Resolves once the element shows what its payment has delivered, whose chunk loads now. */
function contentOf({ shadowRoot }: PsaCheckout): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!shadowRoot?.querySelector('[part=delivered]')) return;
      observer.disconnect();
      resolve();
    };
    const observer = new MutationObserver(check);
    if (shadowRoot) observer.observe(shadowRoot, { subtree: true, childList: true });
    check();
  });
}

/** Resolves once the element has reached its state; undefined where that is to wait for an answer that never comes. */
function arrival(checkout: PsaCheckout, { script, via }: GalleryState): Promise<unknown> | undefined {
  if (script?.start === 'hang' || script?.stream === 'hang') return undefined;
  const eventName =
    script?.stream === 'drop'
      ? 'psa-connection-change'
      : via === 'click'
        ? 'psa-phase-change'
        : 'psa-status-change';
  return new Promise((resolve) => {
    checkout.addEventListener(eventName, function listen(event) {
      const { connection, phase } = (event as CustomEvent).detail;
      if (connection && connection !== 'reconnecting') return;
      if (phase === 'creating') return;
      checkout.removeEventListener(eventName, listen);
      resolve(checkout.updateComplete);
    });
  });
}

function applyView(): void {
  const theme = chosen('theme');
  for (const section of gallery?.querySelectorAll<HTMLElement>('.theme') ?? [])
    section.hidden = theme !== 'all' && section.id !== theme;
  document.documentElement.dataset.appearance = chosen('appearance');
  if (gallery) {
    gallery.dataset.width = chosen('width');
    gallery.dir = chosen('direction');
  }
  drawSnippet();
  for (const checkout of elements) {
    checkout.locale = chosen('language');
    checkout.replaceChildren(label());
  }
  saveView();
}

/** Writes the view into the address, so that a link shows it. */
function saveView(): void {
  const data = new FormData(form ?? undefined) as unknown as Iterable<[string, string]>;
  history.replaceState(null, '', `?${new URLSearchParams([...data])}`);
}

function restoreView(): void {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const input = form?.querySelector<HTMLInputElement>(
      `input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`,
    );
    if (input) input.checked = true;
  }
}

function chosen(name: string): string {
  return String(new FormData(form ?? undefined).get(name));
}

function settings(): Settings {
  return {
    theme: chosen('theme'),
    appearance: chosen('appearance'),
    language: chosen('language'),
    direction: chosen('direction'),
    width: chosen('width'),
    methods: chosen('methods'),
    mode: chosen('mode'),
  };
}

/** The text of a button in the chosen language. */
function label(amountCents = 18_900): string {
  const verb = { en: 'Pay', es: 'Pagar' }[chosen('language')] ?? 'Pagar';
  const amount = new Intl.NumberFormat(chosen('language'), {
    style: 'currency',
    currency: 'BRL',
    currencyDisplay: 'narrowSymbol',
  }).format(amountCents / 100);
  return `${verb} ${amount}`;
}

function makeElement(tag: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}
