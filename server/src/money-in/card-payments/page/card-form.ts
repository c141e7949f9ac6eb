import { type Html, html } from '../../../api/checkout-page/html.ts';
import { ICONS } from '../../../api/checkout-page/icons.ts';
import { pagePath, testNote } from '../../../api/checkout-page/layout.ts';
import { returnUrl } from '../../../api/checkout-page/return-url.ts';
import type { Texts } from '../../../api/checkout-page/texts/texts.ts';
import { MAX_DECLINED_CHARGES, type StoredCardPayment } from '../model.ts';
import { CARD_FIELDS, type CardErrors, type CardField, type CardProblem, type KeptFields } from './form.ts';
import type { CardSite, Order, TestCards } from './order.ts';

/** The contents of a card form that is shown again after a submission that failed. */
export interface FormAnswer {
  kept: KeptFields;
  errors?: CardErrors;
  /**
   * The reason why no money was taken: the bank has declined, or was not reached, or another card was
   * declined since the form was shown.
   */
  declined?: 'declined' | 'not_charged' | 'outdated';
  /** Seconds until this payer may try again. */
  waitSeconds?: number;
}

const ATTRIBUTES: Record<CardField, Html> = {
  number: html`autocomplete="cc-number" inputmode="numeric" pattern="[0-9 .\\-]{13,31}" maxlength="31"`,
  holder: html`autocomplete="cc-name" autocapitalize="characters" spellcheck="false" maxlength="60"`,
  expiry: html`autocomplete="cc-exp" inputmode="numeric" pattern="[0-9 \\/]{4,9}" maxlength="9"`,
  cvv: html`autocomplete="cc-csc" inputmode="numeric" pattern="[0-9]{3,4}" maxlength="4"`,
};

export function cardForm(site: CardSite, { payment, path }: Order, answer: FormAnswer | null): Html {
  const { kept = { holder: '', expiry: '' }, errors = {}, declined, waitSeconds } = answer ?? {};
  const { texts, formats } = site;
  const field = (name: CardField, value = '') => cardField(texts, name, value, errors[name]);
  const cancelUrl = returnUrl(payment.cancelUrl, { psa_order_code: payment.orderCode, psa_cancelled: '1' });
  return html`
    ${site.isTest && testNote(site, texts.card.testWarning)}
    <h2 class="panel-title" id="form-title">${texts.card.title}</h2>
    ${
      waitSeconds !== undefined
        ? waitSummary(texts, waitSeconds)
        : declined !== undefined
          ? declinedSummary(texts, payment, declined)
          : errorSummary(texts, errors)
    }
    ${declined === undefined && triesNote(texts, payment)}
    <form class="card-form" method="post" action="${pagePath(site, path)}" aria-labelledby="form-title" data-form>
      <input type="hidden" name="attempt" value="${payment.declinedCharges}" autocomplete="off">
      ${field('number')}
      ${field('holder', kept.holder)}
      <div class="pair">${field('expiry', kept.expiry)}${field('cvv')}</div>
      <button class="button button-pay" type="submit" data-busy="${texts.card.processing}">${ICONS.lock}<span data-label>${texts.card.pay(formats.money(payment.amountCents))}</span></button>
      ${
        cancelUrl
          ? html`<a class="cancel" href="${cancelUrl}" rel="noreferrer">${ICONS.back}${texts.card.cancelAndReturn}</a>`
          : html`<button class="cancel" type="button" data-close hidden>${texts.card.cancel}</button>`
      }
      <p class="aside" role="status" data-closable="no" hidden>${texts.card.nothingChargedMayClose}</p>
    </form>
    ${site.testCards && testCardList(texts, site.testCards)}`;
}

function cardField(texts: Texts, name: CardField, value: string, problem: CardProblem | undefined): Html {
  const { label, hint, placeholder, missing, invalid } = texts.card.fields[name];
  const isWrong = problem !== undefined;
  return html`
    <div class="field field-${name}">
      <label for="${name}">${label}</label>
      <div class="control">
        ${name === 'number' && ICONS.card}
        <input id="${name}" name="${name}" type="text" value="${value}" required ${ATTRIBUTES[name]} placeholder="${placeholder}" aria-describedby="${name}-error${hint && ` ${name}-hint`}" ${isWrong && html`aria-invalid="true"`} data-missing="${missing}" data-invalid="${invalid}">
        ${name === 'number' && html`<span class="brand" data-brand aria-hidden="true"></span>`}
      </div>
      <p class="error" id="${name}-error" ${!isWrong && html`hidden`}>${isWrong && messageOf(texts, name, problem)}</p>
      ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    </div>`;
}

// `autofocus` brings a keyboard and a screen reader to the answer without a script.
const errorSummaryStart = html`<div class="alert" role="alert" tabindex="-1" autofocus data-summary>`;

/** The message at a wrong field. For an empty or impossible value the page's script shows the same before the form is submitted. */
function messageOf(texts: Texts, field: CardField, problem: CardProblem): string {
  if (problem === 'expired') return texts.card.isExpired;
  if (problem === 'test_cards_only') return texts.card.testCardsOnly;
  return texts.card.fields[field][problem];
}

/** The warning before the last attempts: a further decline ends the payment. */
function triesWarning({ card }: Texts, { declinedCharges }: StoredCardPayment): string | null {
  const triesLeft = MAX_DECLINED_CHARGES - declinedCharges;
  if (triesLeft > 2) return null;
  return triesLeft === 1 ? card.lastTry : card.twoTries;
}

/**
 * The warning before the last attempts on a form that does not follow a decline: after a reload, in another
 * window, or beside a field to correct.
 */
function triesNote(texts: Texts, payment: StoredCardPayment): Html | null {
  const warning = triesWarning(texts, payment);
  return warning === null ? null : html`<p class="tries-note">${ICONS.alert}<span>${warning}</span></p>`;
}

/** One sentence for every decline. The reason is for the merchant alone: it would show a tester of stolen cards which are good. */
function declinedSummary(
  texts: Texts,
  payment: StoredCardPayment,
  why: NonNullable<FormAnswer['declined']>,
): Html {
  const { declinedTitle, bankDeclined, notReached, checkCard } = texts.card;
  const reason = { declined: bankDeclined, not_charged: notReached, outdated: '' }[why];
  const warning = triesWarning(texts, payment);
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">${declinedTitle}</p>
      <p>${reason} ${checkCard} ${warning}</p>
    </div></div>`;
}

/** The message to a payer who must wait. It is the same for every reason, so that it reveals none. */
function waitSummary({ card }: Texts, seconds: number): Html {
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">${card.waitTitle}</p>
      <p>${card.wait(seconds)}</p>
      <p>${card.typeAgain}</p>
    </div></div>`;
}

function errorSummary(texts: Texts, errors: CardErrors): Html | false {
  const wrong = CARD_FIELDS.filter((field) => errors[field] !== undefined);
  if (wrong.length === 0) return false;
  return html`${errorSummaryStart}${ICONS.alert}<div>
      <p class="alert-title">${texts.card.fieldsToCorrect(wrong.length)}</p>
      <ul>${wrong.map((field) => html`<li><a href="#${field}">${texts.card.fields[field].label}</a>: ${messageOf(texts, field, errors[field]!)}</li>`)}</ul>
      <p>${texts.card.typeAgain}</p>
    </div></div>`;
}

function testCardList({ card }: Texts, cards: TestCards): Html {
  return html`
    <details class="test-cards">
      <summary>${card.testCards}</summary>
      <p>${card.testCardsHint}</p>
      <ul>
        ${Object.entries(cards).map(
          ([number, behaviour]) =>
            html`<li><code>${number.replace(/(.{4})(?=.)/g, '$1 ')}</code><span>${effectOf(card, behaviour)}</span><button type="button" class="fill" data-fill="${number}" hidden>${card.use}<span class="visually-hidden"> ${card.ofCard(number.slice(-4))}</span></button></li>`,
        )}
      </ul>
    </details>`;
}

function effectOf(texts: Texts['card'], behaviour: TestCards[string]): string {
  if (behaviour.kind === 'approve') {
    if (behaviour.refunds === 'later') return texts.approvedRefundLater;
    return behaviour.refunds === 'fail' ? texts.approvedRefundFails : texts.approved;
  }
  if (behaviour.kind === 'decline') return behaviour.final ? texts.declinedForGood : texts.declined;
  const seconds = Math.round(behaviour.afterMs / 1000);
  return texts.approvedAfter(seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
}
