import '../src/define.ts';
import type { CheckoutMode, PsaCheckout, Transport } from '../src/psa-checkout.ts';
import { mostrarContaReal } from './shared/conta-real.ts';

interface Config {
  endpoint: string;
  /** Bank and acquirer are; else the money is real, and there is no simulator. */
  simulated: boolean;
  products: { sku: string; name: string; priceCents: number; tokens: { popup: string; redirect: string } }[];
}

const EVENTOS = [
  'psa-before-start',
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

const hora = new Intl.DateTimeFormat('pt-BR', { timeStyle: 'medium' });
const form = document.querySelector('form');
const eventos = document.querySelector('#eventos');
const botoes: { checkout: PsaCheckout; tokens: { popup: string; redirect: string } }[] = [];

void abrir();

async function abrir(): Promise<void> {
  for (const evento of EVENTOS) document.addEventListener(evento, (event) => registrar(event as CustomEvent));
  document.querySelector('#limpar')?.addEventListener('click', () => eventos?.replaceChildren());
  form?.addEventListener('change', ajustar);
  lembrar();
  let config: Config | undefined;
  try {
    const response = await fetch('/demo/config.json');
    if (response.ok) config = await response.json();
  } catch {
    // The shelf is shown without its buttons.
  }
  if (config?.simulated === false) mostrarContaReal();
  for (const checkout of document.querySelectorAll('psa-checkout')) {
    const tokens = config?.products.find(({ sku }) => sku === checkout.id)?.tokens;
    if (config && tokens) {
      checkout.endpoint = config.endpoint;
      checkout.disabled = false;
      botoes.push({ checkout, tokens });
    } else
      checkout.replaceWith(
        elemento('p', 'aviso', 'O servidor da demonstração não respondeu. Recarregue a página.'),
      );
  }
  ajustar();
}

function ajustar(): void {
  const data = new FormData(form ?? undefined);
  const mode = data.get('mode') as CheckoutMode;
  const transport = data.get('transport') as 'auto' | Transport;
  sessionStorage.setItem('varanda-ajustes', JSON.stringify({ mode, transport }));
  for (const { checkout, tokens } of botoes) {
    checkout.token = mode === 'redirect' ? tokens.redirect : tokens.popup;
    checkout.mode = mode;
    checkout.transport = transport;
  }
}

/** The page comes back from the payment page with the same settings. */
function lembrar(): void {
  const ajustes = JSON.parse(sessionStorage.getItem('varanda-ajustes') ?? '{}') as Record<string, string>;
  for (const [name, value] of Object.entries(ajustes)) {
    const campo = form?.querySelector<HTMLInputElement>(`input[name="${name}"][value="${value}"]`);
    if (campo) campo.checked = true;
  }
}

function registrar(event: CustomEvent): void {
  const item = elemento('li', event.type.replace('psa-', 'evento evento-'));
  const cabeca = elemento('div', 'evento-topo');
  const sku = (event.target as Element).id;
  cabeca.append(
    elemento('strong', '', event.type),
    elemento('span', '', sku),
    elemento('time', '', hora.format(new Date())),
  );
  item.append(cabeca);
  const resumo = resumir(event.detail);
  if (resumo) item.append(elemento('code', '', resumo));
  eventos?.prepend(item);
  while ((eventos?.childElementCount ?? 0) > 80) eventos?.lastElementChild?.remove();
}

function resumir(detail: Record<string, unknown> | null): string {
  return Object.entries(detail ?? {})
    .map(([name, value]) => {
      const payment = value as { orderCode?: string; version?: number } | null;
      const texto =
        name === 'payment' && payment ? `${payment.orderCode} v${payment.version}` : String(value ?? '—');
      return `${name}: ${texto}`;
    })
    .join(' · ');
}

function elemento(tag: string, classe: string, texto = ''): HTMLElement {
  const element = document.createElement(tag);
  if (classe) element.className = classe;
  if (texto) element.textContent = texto;
  return element;
}
