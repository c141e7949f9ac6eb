import type { Cents } from '../../kernel/money.ts';
import { MAX_DECLINED_CHARGES, type StoredCardPayment } from '../model.ts';
import { CARD_FIELDS, type CardErrors, type CardField, type KeptFields, MESSAGES } from './form.ts';
import { type Html, html } from './html.ts';
import { ICONS } from './icons.ts';
import { returnUrl } from './return-url.ts';
import type { PageState } from './state.ts';

/** What a test card does at the simulated acquirer, by its number: the shape of that acquirer's own list. */
export type TestCards = Readonly<
  Record<
    string,
    | { kind: 'approve' }
    | { kind: 'decline'; reason: string; final: boolean }
    | { kind: 'settle_later'; afterMs: number }
  >
>;

/** What every page needs: its addresses, and the test cards where no real ones are taken. */
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
  secondsLeft: number;
}

/** What a sent form is answered with when it is shown again. */
export interface FormAnswer {
  kept: KeptFields;
  errors?: CardErrors;
  /** No money was taken: the bank has refused, or has not been reached. */
  declined?: keyof typeof NOT_TAKEN;
  /** Seconds after which this payer may try again. */
  waitSeconds?: number;
}

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

export function formPage(site: Site, order: Order, answer: FormAnswer | null): string {
  const { payment } = order;
  return page(site, {
    title: `Pagar ${money(payment.amountCents)}`,
    state: 'form',
    summary: summary(site, order, { withCountdown: true }),
    main: cardForm(site, order, answer),
    aside: html`<aside class="promise" aria-label="Segurança">${ICONS.shield}<p>O cartão é usado só nesta compra. O número e o CVV não são guardados.</p></aside>`,
  });
}

/** A payment that takes no card now: one of the states that are not the form, or paid through another payment. */
export function statusPage(
  site: Site,
  order: Order,
  state: Exclude<PageState, 'form'> | 'paid_elsewhere',
): string {
  const { icon, tone, title, body, follow } = STATUS[state](site, order);
  return page(site, {
    title,
    state,
    followUrl: follow,
    summary: summary(site, order, { withCountdown: false }),
    main: notice({ icon, tone, title, body }),
  });
}

/** What HTTP refuses and what went wrong, in the same look. */
export function problemPage(site: Site, status: number, orderUrl: string | null): string {
  const [title, text] = PROBLEMS[status] ?? PROBLEMS_ELSE;
  const link =
    orderUrl !== null &&
    html`<p class="actions"><a class="button" href="${orderUrl}">Ver este pagamento</a></p>`;
  return page(site, {
    title,
    state: 'problem',
    summary: null,
    main: notice({
      icon: status === 404 ? ICONS.search : ICONS.alert,
      tone: 'neutral',
      title,
      body: html`<p>${text}</p>${link}`,
    }),
  });
}

const PROBLEMS_ELSE = [
  'Algo deu errado',
  'Pode ser que o pagamento tenha sido feito mesmo assim. Veja a situação dele antes de tentar de novo.',
] as const;
const PROBLEMS: Record<number, readonly [title: string, text: string]> = {
  400: ['Envio incompleto', 'Os dados não chegaram inteiros. Nada foi cobrado: volte e tente de novo.'],
  403: ['Envio recusado', 'O formulário não foi enviado por esta página. Nada foi cobrado.'],
  404: ['Pagamento não encontrado', 'Confira o endereço ou peça um novo link à loja.'],
  413: ['Envio recusado', 'Os dados enviados são grandes demais. Nada foi cobrado.'],
  415: ['Envio recusado', 'O formulário veio em um formato que esta página não aceita. Nada foi cobrado.'],
  429: [
    'Aguarde um instante',
    'Vieram muitos pedidos desta rede. Nada foi cobrado agora: tente de novo em um minuto.',
  ],
};

interface Status {
  icon: Html;
  tone: 'success' | 'danger' | 'neutral' | 'busy';
  title: string;
  body: Html;
  /** Where the page goes by itself, again and again, until its state has changed. */
  follow?: string;
}

const STATUS: Record<Exclude<PageState, 'form'> | 'paid_elsewhere', (site: Site, order: Order) => Status> = {
  processing: (site, { payment }) => {
    const follow = followPath(site, payment);
    return {
      icon: ICONS.clock,
      tone: 'busy',
      title: 'Confirmando o pagamento',
      follow,
      body: html`
        <p>O banco ainda está analisando. Esta página se atualiza sozinha: não pague de novo.</p>
        <p class="aside">Se preferir, feche esta janela. A confirmação chega à loja do mesmo jeito.</p>
        <noscript><p class="actions"><a class="button button-quiet" href="${follow}">Atualizar agora</a></p></noscript>`,
    };
  },
  paid: (_site, { payment, merchantName }) => {
    const next = returnUrl(payment.successUrl, { psa_order_code: payment.orderCode });
    return {
      icon: ICONS.check,
      tone: 'success',
      title: 'Pagamento aprovado',
      body: html`
        <p>Tudo certo! <span class="name">${merchantName}</span> já pode ver o seu pagamento.</p>
        ${receipt(payment, merchantName, [['Pago em', payment.paidAt && instant(payment.paidAt)]])}
        ${next && html`<p class="actions"><a class="button" href="${next}" rel="noreferrer">Continuar para a loja</a></p>`}
        <p class="aside" data-closable="${next ? 'no' : 'yes'}" role="status" hidden>Você já pode fechar esta janela.</p>`,
    };
  },
  failed: (_site, { payment }) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: 'Pagamento não concluído',
    body: html`
      <p>${NOT_TAKEN.declined} Nada foi cobrado.</p>
      <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
      ${backLink(payment)}`,
  }),
  expired: (_site, { payment }) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    title: 'O tempo para pagar acabou',
    body: html`
      <p>Este pagamento expirou em ${instant(payment.expiresAt)}. Nada foi cobrado.</p>
      <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
      ${backLink(payment)}`,
  }),
  refunded: (_site, { payment, merchantName }) => ({
    icon: ICONS.refund,
    tone: 'neutral',
    title: 'Pagamento devolvido',
    body: html`
      <p>O valor foi devolvido para o cartão. Pode levar até duas faturas para aparecer.</p>
      ${receipt(payment, merchantName, [
        ['Pago em', payment.paidAt && instant(payment.paidAt)],
        ['Devolvido em', payment.refundedAt && instant(payment.refundedAt)],
      ])}
      ${backLink(payment)}`,
  }),
  paid_elsewhere: (_site, { payment }) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: 'Esta compra já foi paga',
    body: html`
      <p>Outro pagamento da mesma compra já foi aprovado, talvez em outra janela. Nada foi cobrado agora.</p>
      ${backLink(payment)}`,
  }),
};

// ── The card form ───────────────────────────────────────────────────────────────────────────────

const FIELDS: Record<CardField, { label: string; hint: string; attributes: Html }> = {
  number: {
    label: 'Número do cartão',
    hint: '',
    attributes: html`autocomplete="cc-number" inputmode="numeric" pattern="[0-9 .\\-]{13,31}" maxlength="31" placeholder="0000 0000 0000 0000"`,
  },
  holder: {
    label: 'Nome no cartão',
    hint: '',
    attributes: html`autocomplete="cc-name" autocapitalize="characters" spellcheck="false" maxlength="60" placeholder="Como está no cartão"`,
  },
  expiry: {
    label: 'Validade',
    hint: '',
    attributes: html`autocomplete="cc-exp" inputmode="numeric" pattern="[0-9 \\/]{4,9}" maxlength="9" placeholder="MM/AA"`,
  },
  cvv: {
    label: 'CVV',
    hint: '3 dígitos no verso',
    attributes: html`autocomplete="cc-csc" inputmode="numeric" pattern="[0-9]{3,4}" maxlength="4" placeholder="000"`,
  },
};

function cardForm(site: Site, { payment }: Order, answer: FormAnswer | null): Html {
  const { kept = { holder: '', expiry: '' }, errors = {}, declined, waitSeconds } = answer ?? {};
  const field = (name: CardField, value = '') => cardField(name, value, errors[name]);
  const cancelUrl = returnUrl(payment.cancelUrl, { psa_order_code: payment.orderCode, psa_cancelled: '1' });
  return html`
    ${site.testCards && testNote()}
    <h2 class="panel-title" id="form-title">Dados do cartão</h2>
    ${
      waitSeconds !== undefined
        ? waitSummary(waitSeconds)
        : declined !== undefined
          ? declinedSummary(payment, declined)
          : errorSummary(errors)
    }
    <form class="card-form" method="post" action="${site.basePath}/${payment.orderCode}" aria-labelledby="form-title" data-form>
      <input type="hidden" name="attempt" value="${payment.declinedCharges}" autocomplete="off">
      ${field('number')}
      ${field('holder', kept.holder)}
      <div class="pair">${field('expiry', kept.expiry)}${field('cvv')}</div>
      <button class="button button-pay" type="submit" data-busy="Processando…">${ICONS.lock}<span data-label>Pagar ${money(payment.amountCents)}</span></button>
      ${
        cancelUrl
          ? html`<a class="cancel" href="${cancelUrl}" rel="noreferrer">${ICONS.back}Cancelar e voltar</a>`
          : html`<button class="cancel" type="button" data-close hidden>Cancelar</button>`
      }
      <p class="aside" role="status" data-closable="no" hidden>Nada foi cobrado. Você já pode fechar esta janela.</p>
    </form>
    ${site.testCards && testCardList(site.testCards)}`;
}

function cardField(name: CardField, value: string, error: string | undefined): Html {
  const { label, hint, attributes } = FIELDS[name];
  const isWrong = error !== undefined;
  return html`
    <div class="field field-${name}">
      <label for="${name}">${label}</label>
      <div class="control">
        ${name === 'number' && ICONS.card}
        <input id="${name}" name="${name}" type="text" value="${value}" required ${attributes} aria-describedby="${name}-error${hint && ` ${name}-hint`}" ${isWrong && html`aria-invalid="true"`} data-missing="${MESSAGES[name].missing}" data-invalid="${MESSAGES[name].invalid}">
        ${name === 'number' && html`<span class="brand" data-brand aria-hidden="true"></span>`}
      </div>
      <p class="error" id="${name}-error" ${!isWrong && html`hidden`}>${error}</p>
      ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    </div>`;
}

// `autofocus` brings a keyboard and a screen reader to the answer without a script.
const errorSummaryStart = html`<div class="alert" role="alert" tabindex="-1" autofocus data-summary>`;

/** One sentence for every refusal: the reason is the merchant's, for it tells who tests stolen cards which are good. */
const NOT_TAKEN = {
  declined: 'O banco não autorizou o pagamento.',
  not_charged: 'A operadora não recebeu o pagamento.',
};

function declinedSummary({ declinedCharges }: StoredCardPayment, why: keyof typeof NOT_TAKEN): Html {
  const triesLeft = MAX_DECLINED_CHARGES - declinedCharges;
  const warning =
    triesLeft === 1 ? 'Esta é a última tentativa.' : triesLeft === 2 && 'Restam duas tentativas.';
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">Pagamento não aprovado</p>
      <p>${NOT_TAKEN[why]} Nada foi cobrado: confira os dados ou use outro cartão. ${warning}</p>
    </div></div>`;
}

/** The same words for every wait: they tell nobody the reason. */
function waitSummary(seconds: number): Html {
  const wait =
    seconds < 60
      ? `${seconds} ${seconds === 1 ? 'segundo' : 'segundos'}`
      : `${Math.ceil(seconds / 60)} ${seconds <= 60 ? 'minuto' : 'minutos'}`;
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">Aguarde para tentar de novo</p>
      <p>Não foi possível tentar este pagamento agora. Nada foi cobrado: tente de novo em ${wait}.</p>
      <p>Por segurança, o número e o CVV precisam ser digitados de novo.</p>
    </div></div>`;
}

function errorSummary(errors: CardErrors): Html | false {
  const wrong = CARD_FIELDS.filter((field) => errors[field] !== undefined);
  if (wrong.length === 0) return false;
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">${wrong.length === 1 ? 'Falta corrigir um campo' : `Falta corrigir ${wrong.length} campos`}</p>
      <ul>${wrong.map((field) => html`<li><a href="#${field}">${FIELDS[field].label}</a>: ${errors[field]}</li>`)}</ul>
      <p>Por segurança, o número e o CVV precisam ser digitados de novo.</p>
    </div></div>`;
}

function testNote(): Html {
  return html`<p class="test-note">${ICONS.flask}<span><strong>Ambiente de teste.</strong> Nada é cobrado. Não digite um cartão de verdade.</span></p>`;
}

function testCardList(cards: TestCards): Html {
  return html`
    <details class="test-cards">
      <summary>Cartões de teste</summary>
      <p>Com qualquer nome, validade futura e CVV de 3 dígitos.</p>
      <ul>
        ${Object.entries(cards).map(
          ([number, behaviour]) =>
            html`<li><code>${number.replace(/(.{4})(?=.)/g, '$1 ')}</code><span>${effect(behaviour)}</span><button type="button" class="fill" data-fill="${number}" hidden>Usar<span class="visually-hidden"> o cartão ${number.slice(-4)}</span></button></li>`,
        )}
      </ul>
    </details>`;
}

function effect(behaviour: TestCards[string]): string {
  if (behaviour.kind === 'approve') return 'Aprovado';
  if (behaviour.kind === 'decline') return behaviour.final ? 'Recusado (encerra)' : 'Recusado';
  const seconds = Math.round(behaviour.afterMs / 1000);
  return `Em análise por ${seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}, depois aprovado`;
}

// ── Parts ───────────────────────────────────────────────────────────────────────────────────────

function page(
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

/** Who is paid how much for what. On the form the amount is the page's heading; elsewhere what happened is. */
function summary(
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

function notice({
  icon,
  tone,
  title,
  body,
}: {
  icon: Html;
  tone: Status['tone'];
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

function receipt(
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

/** Back without having paid, and without having cancelled either. */
function backLink(payment: StoredCardPayment): Html | null {
  const url = returnUrl(payment.cancelUrl, { psa_order_code: payment.orderCode });
  return url === null
    ? null
    : html`<p class="actions"><a class="button button-quiet" href="${url}" rel="noreferrer">Voltar para a loja</a></p>`;
}

/** The page that leads on once the payment is decided: to the shop when it is paid, to what happened otherwise. */
export function followPath({ basePath }: Site, { orderCode }: StoredCardPayment): string {
  return `${basePath}/${orderCode}?seguir=1`;
}

// ── In Brazilian Portuguese ─────────────────────────────────────────────────────────────────────

const createFormats = () => ({
  reais: new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }),
  instant: new Intl.DateTimeFormat('pt-BR', {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone: 'America/Sao_Paulo',
  }),
  time: new Intl.DateTimeFormat('pt-BR', {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'America/Sao_Paulo',
  }),
});
/** Created by the first page: loading the tables of a locale takes 10 ms, which no start has to wait for. */
let created: ReturnType<typeof createFormats> | undefined;
function formats() {
  created ??= createFormats();
  return created;
}

const money = (cents: Cents) => formats().reais.format(cents / 100);
const instant = (date: Date) => formats().instant.format(date);
const timeOfDay = (date: Date) => `${formats().time.format(date)} de Brasília`;
const minutes = (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
const initial = (name: string) => [...name.trim()][0]?.toLocaleUpperCase('pt-BR') ?? '•';
