import '../../src/define.ts';
import type { PsaCheckout } from '../../src/psa-checkout.ts';
import { loadAccount } from '../shared/account.ts';
import { drawSnippet, openBuilder, type Settings } from './builder.ts';
import { assignScript, device, ENDPOINT } from './fake-server.ts';
import { type GalleryState, STATES } from './states.ts';
import { THEMES } from './themes.ts';
import { chosen, makeElement, nextTask, openView, saveView } from './view.ts';

// In the order in which they are placed: the offline event reaches every element that is on the page.
const OFFLINE = STATES.filter(({ name }) => name === 'offline');
/** The states of a page whose address names a payment. */
const RETURNED = STATES.filter(({ name, via }) => name === 'cancelled' || via === 'address');
const ON_A_PHONE = STATES.filter(({ isPhone }) => isPhone);
const OTHERS = STATES.filter((state) => ![...OFFLINE, ...RETURNED, ...ON_A_PHONE].includes(state));
const ORDER = [...OFFLINE, ...RETURNED, ...ON_A_PHONE, ...OTHERS];

const gallery = document.querySelector<HTMLElement>('#gallery');
const elements: PsaCheckout[] = [];
/** The themes whose elements are placed, or are being placed. */
const opened = new Set<string>();
const amountFormats = new Map<string, Intl.NumberFormat>();

openGallery();
let placing = goOffline();
openThemes();
void loadAccount();

function openGallery(): void {
  openView(() => {
    applyView();
    openThemes();
  });
  openBuilder(settings, label);
  // The links lead to no payment page.
  gallery?.addEventListener('click', (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    if (link) event.preventDefault();
  });
  gallery?.addEventListener('psa-before-redirect', (event) => event.preventDefault());
  for (const theme of Object.keys(THEMES)) gallery?.append(themeSection(theme));
  applyView();
}

async function goOffline(): Promise<void> {
  for (const theme of Object.keys(THEMES)) await placeAll(theme, OFFLINE);
  dispatchEvent(new Event('offline'));
}

/** Places the elements of the shown themes that have none yet: a phone would be busy for seconds with those of all. */
function openThemes(): void {
  const themes = shownThemes().filter((theme) => !opened.has(theme));
  if (themes.length === 0) return;
  gallery?.removeAttribute('data-ready');
  for (const theme of themes) {
    opened.add(theme);
    // A theme that fails is reported in the console, and stops no other one.
    placing = placing.catch(() => undefined).then(() => openTheme(theme));
  }
  const last = placing;
  void last.finally(() => last === placing && gallery?.setAttribute('data-ready', ''));
}

async function openTheme(theme: string): Promise<void> {
  const section = document.getElementById(theme);
  try {
    for (const state of RETURNED) await place(theme, state);
    device.isPhone = true;
    await placeAll(theme, ON_A_PHONE);
    device.isPhone = false;
    await placeAll(theme, OTHERS);
  } finally {
    device.isPhone = false;
    section?.setAttribute('data-placed', '');
  }
  for (const state of STATES.filter(({ copies }) => copies)) {
    await typingEnded();
    // A field takes the focus, in which its text is selected, only where it is shown.
    const focused = document.activeElement as HTMLElement | null;
    device.hasClipboard = state.copies === 'granted';
    const checkout = frameOf(theme, state)?.querySelector('psa-checkout');
    checkout?.shadowRoot?.querySelector<HTMLElement>('[part=copy-button]')?.click();
    await nextTask();
    const { activeElement } = document;
    if (!section?.contains(activeElement)) continue;
    (activeElement as HTMLElement).blur();
    focused?.focus({ preventScroll: true });
  }
  device.hasClipboard = true;
}

/** Waits while a text field of the page has the focus: what is typed into it would reach the field that takes the focus. */
async function typingEnded(): Promise<void> {
  for (let field = typedInto(); field; field = typedInto())
    await new Promise((resolve) => field?.addEventListener('blur', resolve, { once: true }));
}

function typedInto(): Element | null {
  const { activeElement } = document;
  return activeElement?.matches('input:not([type=radio]), textarea') ? activeElement : null;
}

function shownThemes(): string[] {
  const theme = chosen('theme');
  return Object.keys(THEMES).filter((name) => theme === 'all' || theme === name);
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

/** Places an element of each state, and waits until all have reached their states. */
async function placeAll(theme: string, states: readonly GalleryState[]): Promise<void> {
  const arrivals: Promise<unknown>[] = [];
  for (const state of states) {
    await nextTask();
    arrivals.push(place(theme, state));
  }
  await Promise.all(arrivals);
}

async function place(theme: string, state: GalleryState): Promise<void> {
  const checkout = document.createElement('psa-checkout');
  const token = `${theme}-${state.name}`;
  const themes = Object.keys(THEMES);
  const number = ORDER.indexOf(state) * themes.length + themes.indexOf(theme);
  const orderCode = assignScript(token, state.script ?? {}, number);
  // The page at successUrl has neither.
  if (state.via !== 'address') Object.assign(checkout, { endpoint: ENDPOINT, token, resumeKey: token });
  Object.assign(checkout, { transport: 'sse', mode: 'redirect' });
  if (state.via === 'return') Object.assign(checkout, { orderCode, paymentToken: token });
  Object.assign(checkout, state.properties);
  checkout.locale = chosen('language');
  checkout.append(label());
  elements.push(checkout);
  const arrived = state.via && state.via !== 'address' ? arrival(checkout, state) : undefined;
  if (RETURNED.includes(state)) {
    const address = `${location.search || '?'}&psa_order_code=${orderCode}`;
    history.replaceState(null, '', state.via === 'address' ? address : `${address}&psa_cancelled=1`);
  }
  frameOf(theme, state)?.append(checkout);
  await checkout.updateComplete;
  if (RETURNED.includes(state)) saveView();
  if (state.via === 'click') void checkout.start();
  await arrived;
  if (state.script?.staleSeconds !== undefined) await checkout.refresh();
  if (state.script?.delivered) await contentOf(checkout);
}

function frameOf(theme: string, { name }: GalleryState): Element | null {
  return document.querySelector(`#${theme} [data-state=${name}]`);
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

/** Resolves once the element has reached its state; undefined if the state waits for an answer that never comes. */
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
  const shown = shownThemes();
  for (const section of gallery?.querySelectorAll<HTMLElement>('.theme') ?? [])
    section.hidden = !shown.includes(section.id);
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
  const amount = amountFormat(chosen('language')).format(amountCents / 100);
  return `${verb} ${amount}`;
}

/** The format of amounts in a language, made once: making one takes longer than drawing an element. */
function amountFormat(language: string): Intl.NumberFormat {
  const made =
    amountFormats.get(language) ??
    // In Spanish as in the element: as the neighbors write reais.
    new Intl.NumberFormat(language === 'es' ? 'es-AR' : language, {
      style: 'currency',
      currency: 'BRL',
      currencyDisplay: 'narrowSymbol',
    });
  amountFormats.set(language, made);
  return made;
}
