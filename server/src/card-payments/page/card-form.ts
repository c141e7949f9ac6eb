import { money } from '../../checkout-page/format.ts';
import { type Html, html } from '../../checkout-page/html.ts';
import { ICONS } from '../../checkout-page/icons.ts';
import { testNote } from '../../checkout-page/layout.ts';
import { returnUrl } from '../../checkout-page/return-url.ts';
import { MAX_DECLINED_CHARGES, type StoredCardPayment } from '../model.ts';
import { CARD_FIELDS, type CardErrors, type CardField, type KeptFields, MESSAGES } from './form.ts';
import type { CardSite, Order, TestCards } from './order.ts';

/** The contents of a card form that is shown again after a submission that failed. */
export interface FormAnswer {
  kept: KeptFields;
  errors?: CardErrors;
  /** No money was taken: the bank has declined, or was not reached. */
  declined?: keyof typeof NOT_TAKEN;
  /** Seconds until this payer may try again. */
  waitSeconds?: number;
}

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

export function cardForm(site: CardSite, { payment, path }: Order, answer: FormAnswer | null): Html {
  const { kept = { holder: '', expiry: '' }, errors = {}, declined, waitSeconds } = answer ?? {};
  const field = (name: CardField, value = '') => cardField(name, value, errors[name]);
  const cancelUrl = returnUrl(payment.cancelUrl, { psa_order_code: payment.orderCode, psa_cancelled: '1' });
  return html`
    ${site.isTest && testNote('Não digite um cartão de verdade.')}
    <h2 class="panel-title" id="form-title">Dados do cartão</h2>
    ${
      waitSeconds !== undefined
        ? waitSummary(waitSeconds)
        : declined !== undefined
          ? declinedSummary(payment, declined)
          : errorSummary(errors)
    }
    ${declined === undefined && triesNote(payment)}
    <form class="card-form" method="post" action="${path}" aria-labelledby="form-title" data-form>
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

/** One sentence for every decline. The reason is for the merchant alone: it would show a tester of stolen cards which are good. */
export const NOT_TAKEN = {
  declined: 'O banco não autorizou o pagamento.',
  not_charged: 'A operadora não recebeu o pagamento.',
};

/** The warning before the last attempts: a further decline ends the payment. */
function triesWarning({ declinedCharges }: StoredCardPayment): string | null {
  const triesLeft = MAX_DECLINED_CHARGES - declinedCharges;
  if (triesLeft > 2) return null;
  return triesLeft === 1 ? 'Esta é a última tentativa.' : 'Restam duas tentativas.';
}

/** The same warning on a form that answers no decline: after a reload, in another window, beside a field to correct. */
function triesNote(payment: StoredCardPayment): Html | null {
  const warning = triesWarning(payment);
  return warning === null ? null : html`<p class="tries-note">${ICONS.alert}<span>${warning}</span></p>`;
}

function declinedSummary(payment: StoredCardPayment, why: keyof typeof NOT_TAKEN): Html {
  const warning = triesWarning(payment);
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">Pagamento não aprovado</p>
      <p>${NOT_TAKEN[why]} Nada foi cobrado: confira os dados ou use outro cartão. ${warning}</p>
    </div></div>`;
}

/** The message to a payer who must wait; the same for every reason, so that it gives none away. */
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

function testCardList(cards: TestCards): Html {
  return html`
    <details class="test-cards">
      <summary>Cartões de teste</summary>
      <p>Com qualquer nome, validade futura e CVV de 3 dígitos.</p>
      <ul>
        ${Object.entries(cards).map(
          ([number, behaviour]) =>
            html`<li><code>${number.replace(/(.{4})(?=.)/g, '$1 ')}</code><span>${effectOf(behaviour)}</span><button type="button" class="fill" data-fill="${number}" hidden>Usar<span class="visually-hidden"> o cartão ${number.slice(-4)}</span></button></li>`,
        )}
      </ul>
    </details>`;
}

const EFFECT_OF_REFUNDS = {
  at_once: 'Aprovado',
  later: 'Aprovado; estorno em 5 s',
  fail: 'Aprovado; estorno recusado',
};

function effectOf(behaviour: TestCards[string]): string {
  if (behaviour.kind === 'approve') return EFFECT_OF_REFUNDS[behaviour.refunds ?? 'at_once'];
  if (behaviour.kind === 'decline') return behaviour.final ? 'Recusado (encerra)' : 'Recusado';
  const seconds = Math.round(behaviour.afterMs / 1000);
  return `Em análise por ${seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}, depois aprovado`;
}
