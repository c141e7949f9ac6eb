import '../src/define.ts';
import type { CheckoutMode, CheckoutPayment, PsaCheckout, Transport } from '../src/psa-checkout.ts';
import { type Account, showAccount } from './shared/account.ts';

interface Config extends Account {
  endpoint: string;
  /** Empty if the account takes no payments. */
  products: { sku: string; name: string; priceCents: number; tokens: { popup: string; redirect: string } }[];
}

const EVENTS = [
  'psa-before-start',
  'psa-method-change',
  'psa-pix-copied',
  'psa-before-redirect',
  'psa-created',
  'psa-checkout-open',
  'psa-checkout-close',
  'psa-popup-blocked',
  'psa-status-change',
  'psa-paid',
  'psa-expired',
  'psa-refunded',
  'psa-failed',
  'psa-connection-change',
  'psa-phase-change',
  'psa-error',
];

const timeFormat = new Intl.DateTimeFormat('pt-BR', {
  timeStyle: 'medium',
  timeZone: 'America/Sao_Paulo',
});
const form = document.querySelector('form');
const eventList = document.querySelector('#events');
const buttons: { checkout: PsaCheckout; tokens: { popup: string; redirect: string } }[] = [];

void openShop();

async function openShop(): Promise<void> {
  for (const eventName of EVENTS)
    document.addEventListener(eventName, (event) => logEvent(event as CustomEvent));
  document.querySelector('#clear-events')?.addEventListener('click', () => eventList?.replaceChildren());
  form?.addEventListener('change', applySettings);
  restoreSettings();
  let config: Config | undefined;
  try {
    const response = await fetch('/demo/config.json');
    if (response.ok) config = await response.json();
  } catch {
    // Without its configuration the shop shows the products without buttons.
  }
  if (config) showAccount(config);
  for (const checkout of document.querySelectorAll('psa-checkout')) {
    const tokens = config?.products.find(({ sku }) => sku === checkout.id)?.tokens;
    if (config && tokens) {
      checkout.endpoint = config.endpoint;
      checkout.disabled = false;
      buttons.push({ checkout, tokens });
    } else
      checkout.replaceWith(
        makeElement(
          'p',
          'notice',
          config
            ? 'Esta conta não aceita cartão nem PIX: nada pode ser comprado.'
            : 'A loja não respondeu. Recarregue a página.',
        ),
      );
  }
  applySettings();
}

function applySettings(): void {
  const data = new FormData(form ?? undefined);
  const mode = data.get('mode') as CheckoutMode;
  const transport = data.get('transport') as 'auto' | Transport;
  try {
    sessionStorage.setItem('varanda-settings', JSON.stringify({ mode, transport }));
  } catch {
    // Storage is off: the settings hold until the page is left.
  }
  for (const { checkout, tokens } of buttons) {
    checkout.token = mode === 'redirect' ? tokens.redirect : tokens.popup;
    checkout.mode = mode;
    checkout.transport = transport;
  }
}

/** Restores the settings after the way to the payment page and back. */
function restoreSettings(): void {
  let settings: Record<string, string>;
  try {
    settings = JSON.parse(sessionStorage.getItem('varanda-settings') ?? '{}');
  } catch {
    // Storage is off.
    return;
  }
  for (const [name, value] of Object.entries(settings)) {
    const input = form?.querySelector<HTMLInputElement>(`input[name="${name}"][value="${value}"]`);
    if (input) input.checked = true;
  }
}

function logEvent(event: CustomEvent): void {
  const item = makeElement('li', event.type.replace('psa-', 'event event-'));
  const header = makeElement('div', 'event-header');
  const sku = (event.target as Element).id;
  header.append(
    makeElement('strong', '', event.type),
    makeElement('span', '', sku),
    makeElement('time', '', timeFormat.format(new Date())),
  );
  item.append(header);
  const summary = summarize(event.detail);
  if (summary) item.append(makeElement('code', '', summary));
  eventList?.prepend(item);
  while ((eventList?.childElementCount ?? 0) > 80) eventList?.lastElementChild?.remove();
}

function summarize(detail: Record<string, unknown> | null): string {
  return Object.entries(detail ?? {})
    .map(([name, value]) => {
      const payment = value as CheckoutPayment | null;
      const text =
        name === 'payment' && payment ? `${idOf(payment)} v${payment.version}` : String(value ?? '—');
      return `${name}: ${text}`;
    })
    .join(' · ');
}

function idOf(payment: CheckoutPayment): string {
  return payment.__typename === 'Payment' ? payment.paymentId : payment.orderCode;
}

function makeElement(tag: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}
