import type { StoredCardPayment } from '../model.ts';
import { initial, minutes, money, timeOfDay } from './format.ts';
import { type Html, html } from './html.ts';
import { ICONS } from './icons.ts';
import { returnUrl } from './return-url.ts';

/** The behaviour of each test card at the simulated acquirer, by its number, in the form of that acquirer's own list. */
export type TestCards = Readonly<
  Record<
    string,
    | { kind: 'approve'; refunds?: 'later' | 'fail' }
    | { kind: 'decline'; reason: string; final: boolean }
    | { kind: 'settle_later'; afterMs: number }
  >
>;

/** The addresses that every page needs, and the test cards where no real ones are accepted. */
export interface Site {
  /** The path that the checkout is served under, without an order code. */
  basePath: string;
  styleUrl: string;
  scriptUrl: string;
  testCards: TestCards | null;
}

export interface Order {
  payment: StoredCardPayment;
  merchantName: string;
  paidElsewhere: boolean;
  secondsLeft: number;
}

/** The colour of a notice. */
export type Tone = 'success' | 'danger' | 'neutral' | 'busy';

export function page(
  { styleUrl, scriptUrl }: Site,
  {
    title,
    state,
    followUrl,
    summary,
    main,
    aside,
  }: {
    title: string;
    state: string;
    followUrl?: string | undefined;
    summary: Html | null;
    main: Html;
    aside?: Html;
  },
): string {
  return html`<!doctype html>
<html lang="pt-BR" data-state="${state}" ${followUrl && html`data-follow="${followUrl}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${followUrl && html`<noscript><meta http-equiv="refresh" content="4; url=${followUrl}"></noscript>`}
<link rel="icon" href="${FAVICON}">
<link rel="stylesheet" href="${styleUrl}">
<script type="module" src="${scriptUrl}"></script>
</head>
<body>
<div class="checkout ${summary === null && 'checkout-alone'}">
${summary}
<main class="panel">${main}</main>
${aside}
</div>
<footer class="foot">Pagamento por <strong>PSA</strong></footer>
</body>
</html>
`.markup;
}

const FAVICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b5c48"/><path d="m9 16.5 5 5 9.5-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`;

/** The merchant, the amount and the description. On the form the amount is the page's heading; elsewhere the status is. */
export function summary(
  site: Site,
  { payment, merchantName, secondsLeft }: Order,
  { withCountdown }: { withCountdown: boolean },
): Html {
  const amount = html`<span class="summary-label">${withCountdown ? 'Total a pagar' : 'Valor'}</span> <span class="amount ${payment.amountCents >= 100_000_00 && 'amount-long'}">${money(payment.amountCents)}</span>`;
  return html`
<header class="summary">
  <p class="merchant"><span class="monogram" aria-hidden="true">${initial(merchantName)}</span><span class="name">${merchantName}</span></p>
  <div class="total">
    ${withCountdown ? html`<h1 class="total-line">${amount}</h1>` : html`<p class="total-line">${amount}</p>`}
    ${payment.description && html`<p class="description">${payment.description}</p>`}
    ${
      withCountdown &&
      html`<p class="countdown" data-countdown data-seconds="${secondsLeft}" data-status-url="${site.basePath}/${payment.orderCode}/status">${ICONS.clock}<span>Expira em <span class="digits" role="timer" aria-live="off">${minutes(secondsLeft)}</span><noscript>, às ${timeOfDay(payment.expiresAt)}</noscript></span></p>
    <p class="visually-hidden" role="status" data-countdown-note></p>`
    }
  </div>
  ${!withCountdown && site.testCards && html`<p class="test-badge">${ICONS.flask}Ambiente de teste</p>`}
</header>`;
}

export function notice({
  icon,
  tone,
  title,
  body,
}: {
  icon: Html;
  tone: Tone;
  title: string;
  body: Html;
}): Html {
  return html`
<div class="notice">
  <span class="badge badge-${tone}">${icon}</span>
  <h1 class="notice-title">${title}</h1>
  ${body}
</div>`;
}

export function receipt(
  payment: StoredCardPayment,
  merchantName: string,
  dates: [label: string, text: string | null][],
): Html {
  const facts = [
    ['Valor', money(payment.amountCents)],
    ['Para', merchantName],
    ['Descrição', payment.description],
    ...dates,
    ['Pedido', payment.orderCode],
  ].filter(([, text]) => text !== null);
  return html`<dl class="receipt">${facts.map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>`;
}

/** A link to the shop for a payer who has neither paid nor cancelled. */
export function backLink(payment: StoredCardPayment): Html | null {
  const url = returnUrl(payment.cancelUrl, { psa_order_code: payment.orderCode });
  return url === null
    ? null
    : html`<p class="actions"><a class="button button-quiet" href="${url}" rel="noreferrer">Voltar para a loja</a></p>`;
}

/** The path of the page that moves on once the payment is decided: to the shop when it is paid, to its status otherwise. */
export function followPath({ basePath }: Site, { orderCode }: StoredCardPayment): string {
  return `${basePath}/${orderCode}?seguir=1`;
}
