import { LANGUAGE_PARAMETER, type Language } from '../../kernel/language.ts';
import type { Cents } from '../../kernel/money.ts';
import { type Formats, initial, minutes } from './format.ts';
import { type Html, html } from './html.ts';
import { ICONS } from './icons.ts';
import { LANGUAGE_NAMES } from './language.ts';
import type { Texts } from './texts/texts.ts';

/** The addresses that every page of one request needs, and the payer's language. */
export interface Site {
  styleUrl: string;
  scriptUrl: string;
  /** Whether no real money is moved. */
  isTest: boolean;
  language: Language;
  texts: Texts;
  formats: Formats;
  /** Whether the address names the language; if so, the addresses of the next pages name it too. */
  isNamed: boolean;
  /** The address of the style of the shop's color, and of its logo. */
  themeUrl: string | null;
  logoUrl: string | null;
}

/** A payment as its page shows it, whichever method pays it. */
export interface PagePayment {
  payment: { amountCents: Cents; description: string | null; expiresAt: Date };
  merchantName: string;
  secondsLeft: number;
  /** The path of its page. */
  path: string;
}

/** The color of a notice. */
export type Tone = 'success' | 'danger' | 'neutral' | 'busy';

export function page(
  { styleUrl, themeUrl, scriptUrl, language, texts }: Site,
  {
    title,
    state,
    version,
    followUrl,
    reloads,
    summary,
    main,
    aside,
  }: {
    title: string;
    state: string;
    /** The version of the payment, if a change without a new state shows on the page. */
    version?: number;
    /** The address that the script opens once the state, or the version, has changed. */
    followUrl?: string | undefined;
    /** Whether the page reloads itself at intervals without a script. */
    reloads?: boolean;
    summary: Html | null;
    main: Html;
    aside?: Html;
  },
): string {
  return html`<!doctype html>
<html lang="${language}" data-state="${state}" ${version !== undefined && html`data-version="${version}"`} ${followUrl && html`data-follow="${followUrl}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${followUrl && reloads && html`<noscript><meta http-equiv="refresh" content="4; url=${followUrl}"></noscript>`}
<link rel="icon" href="${FAVICON}">
<link rel="stylesheet" href="${styleUrl}">
${themeUrl && html`<link rel="stylesheet" href="${themeUrl}">`}
<script type="module" src="${scriptUrl}"></script>
</head>
<body>
<div class="checkout ${summary === null && 'checkout-alone'}">
${summary}
<main class="panel">${main}</main>
${aside}
</div>
<footer class="foot">
  <nav class="languages" aria-label="${texts.page.languages}">${Object.entries(LANGUAGE_NAMES).map(
    ([code, name]) =>
      code === language
        ? html`<span aria-current="true">${name}</span>`
        : html`<a href="?${LANGUAGE_PARAMETER}=${code}" lang="${code}" hreflang="${code}">${name}</a>`,
  )}</nav>
  <p>${texts.page.poweredBy}</p>
</footer>
</body>
</html>
`.markup;
}

const FAVICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b5c48"/><path d="m9 16.5 5 5 9.5-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`;

/**
 * The merchant, the amount and the description. If the payer can pay, the amount is the page's heading; otherwise the status
 * is.
 */
export function summary(
  site: Site,
  { payment, merchantName, secondsLeft, path }: PagePayment,
  { withCountdown }: { withCountdown: boolean },
): Html {
  const { texts, formats } = site;
  const amount = html`<span class="summary-label">${withCountdown ? texts.page.totalToPay : texts.page.amount}</span> <span class="amount ${payment.amountCents >= 100_000_00 && 'amount-long'}">${formats.money(payment.amountCents)}</span>`;
  return html`
<header class="summary">
  <p class="merchant">${
    site.logoUrl
      ? html`<img class="logo" src="${site.logoUrl}" alt="">`
      : html`<span class="monogram" aria-hidden="true">${initial(merchantName)}</span>`
  }<span class="name">${merchantName}</span></p>
  <div class="total">
    ${withCountdown ? html`<h1 class="total-line">${amount}</h1>` : html`<p class="total-line">${amount}</p>`}
    ${payment.description && html`<p class="description">${payment.description}</p>`}
    ${
      withCountdown &&
      html`<p class="countdown" data-countdown data-seconds="${secondsLeft}" data-status-url="${path}/status">${ICONS.clock}<span>${texts.page.expiresIn} <span class="digits" role="timer" aria-live="off">${minutes(secondsLeft)}</span><noscript>${secondsLeft <= 86_400 ? texts.page.until(formats.time(payment.expiresAt)) : texts.page.untilDay(formats.instant(payment.expiresAt))}</noscript></span></p>
    <p class="visually-hidden" role="status" data-countdown-note data-five-minutes="${texts.page.fiveMinutesLeft}" data-one-minute="${texts.page.oneMinuteLeft}" data-expired="${texts.page.hasExpired}"></p>`
    }
  </div>
  ${!withCountdown && site.isTest && html`<p class="test-badge">${ICONS.flask}${texts.page.testEnvironment}</p>`}
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

/** The note on a page that moves no money; `warning` names the parts that are not real. */
export function testNote({ texts }: Site, warning: string): Html {
  return html`<p class="test-note">${ICONS.flask}<span><strong>${texts.page.testEnvironment}.</strong> ${texts.page.testNothingCharged} ${warning}</span></p>`;
}

/** A list of facts about a payment. The last one is its identifier, in a smaller size. */
export function receipt(
  { texts, formats }: Site,
  { payment, merchantName }: PagePayment,
  facts: readonly (readonly [label: string, text: string | null])[],
): Html {
  const lines = [
    [texts.page.amount, formats.money(payment.amountCents)] as const,
    [texts.page.to, merchantName] as const,
    [texts.page.description, payment.description] as const,
    ...facts,
  ].filter(([, text]) => text !== null);
  return html`<p class="receipt-title">${texts.receipt.title}</p><dl class="receipt">${lines.map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>`;
}

/** The buttons of the receipt, which the script shows. Without a script the browser's own menu prints the page. */
export function receiptActions({ texts }: Site): Html {
  return html`
    <p class="receipt-actions" data-receipt hidden>
      <button class="button button-quiet" type="button" data-print>${ICONS.print}${texts.receipt.print}</button>
      <button class="button button-quiet" type="button" data-share="${texts.receipt.title}" hidden>${ICONS.share}${texts.receipt.share}</button>
    </p>`;
}

/** Content of the product, as its payer sees it. */
interface Delivered {
  kind: 'text' | 'link' | 'codes';
  status: 'pending' | 'delivered' | 'revoked';
  content: string | null;
}

/** The content that the payer has bought, with a button that copies each code and text; null if there is none to show. */
export function deliveredContent({ texts }: Site, delivered: readonly Delivered[]): Html | null {
  const shown = delivered.filter(({ status }) => status !== 'revoked');
  if (shown.length === 0) return null;
  return html`
    <section class="delivered" aria-labelledby="delivered-title">
      <h2 class="delivered-title" id="delivered-title">${texts.delivered.title}</h2>
      <ul>${shown.map((each, index) => html`<li>${deliveredItem(texts.delivered, texts.page.copied, each, `delivered-${index + 1}`)}</li>`)}</ul>
    </section>`;
}

function deliveredItem(
  texts: Texts['delivered'],
  copied: string,
  { kind, content }: Delivered,
  id: string,
): Html {
  if (content === null) return html`<p class="pix-hint">${ICONS.clock}${texts.pending}</p>`;
  if (kind === 'link')
    return html`<a class="button button-quiet" href="${content}" rel="noreferrer noopener" target="_blank">${texts.open}</a><p class="delivered-link">${content}</p>`;
  return html`
    <div class="pix-copy">
      <label for="${id}">${kind === 'codes' ? texts.yourCode : texts.yourContent}</label>
      <textarea id="${id}" class="pix-text" rows="${kind === 'codes' ? '1' : '4'}" readonly spellcheck="false" autocomplete="off" data-copy-text>${content}</textarea>
      <button class="button button-quiet" type="button" data-copy="${id}" data-copied="${copied}" data-copied-note="${texts.saved}" data-selected="${texts.selected}" hidden>${ICONS.copy}<span data-label>${texts.copy}</span><span class="visually-hidden"> ${kind === 'codes' ? texts.ofCode : texts.ofContent}</span></button>
      <p class="pix-note" role="status" data-copy-note></p>
    </div>`;
}

/** A link to the shop for a payer who has neither paid nor canceled. */
export function backLink({ texts }: Site, url: string | null): Html | null {
  return url === null
    ? null
    : html`<p class="actions"><a class="button button-quiet" href="${url}" rel="noreferrer">${texts.page.backToShop}</a></p>`;
}

/**
 * The end of the page of a paid payment: a link to the shop, or the note that the window can be closed. `isRead`: the page
 * has something to read, and does not close itself.
 */
export function nextStep({ texts }: Site, url: string | null, { isRead = false } = {}): Html {
  return html`
    ${url && html`<p class="actions"><a class="button" href="${url}" rel="noreferrer">${texts.page.continueToShop}</a></p>`}
    <p class="aside" data-closable="${url || isRead ? 'no' : 'yes'}" role="status" hidden>${texts.page.mayClose}</p>`;
}

/**
 * The path of the page that moves on once the payment is decided: to the shop if it is paid, to its status otherwise.
 * `declined`: the number of cards that were declined before, so that the page can report the outcome of this one.
 */
export function followPath(site: Site, path: string, declined?: number): string {
  const before = declined === undefined ? '' : `&${DECLINED_PARAMETER}=${declined}`;
  return `${path}?seguir=1${before}${site.isNamed ? `&${LANGUAGE_PARAMETER}=${site.language}` : ''}`;
}

/** The parameter of that path for the declined cards; the page's script writes it too. */
export const DECLINED_PARAMETER = 'recusas';

/** The path of a page, in the language that the present address names. */
export function pagePath(site: Site, path: string): string {
  return site.isNamed ? `${path}?${LANGUAGE_PARAMETER}=${site.language}` : path;
}

/** The name of a shop inside a sentence. */
export function shopName(merchantName: string): Html {
  return html`<span class="name">${merchantName}</span>`;
}
