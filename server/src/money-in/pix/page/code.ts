import { type Html, html } from '../../../api/checkout-page/html.ts';
import { ICONS } from '../../../api/checkout-page/icons.ts';
import { pagePath, type Site, testNote } from '../../../api/checkout-page/layout.ts';
import { drawQr } from '../../../api/checkout-page/qr.ts';
import { cancelUrlOf, type Order } from './order.ts';
import { recurrenceNote } from './recurrence.ts';

/**
 * The code as text and as a QR code. On a phone, which cannot scan its own screen, the button comes first and
 * the QR code is folded up. The style sheet shows one of the two places of the QR code, without a script.
 */
export function pixCode(site: Site, order: Order, brCode: string, returned: Html | null): Html {
  const { texts, formats } = site;
  const label = texts.pix.qrLabel(formats.money(order.payment.amountCents), order.merchantName);
  const qr = drawQr(brCode, label);
  const back = cancelUrlOf(order.payment);
  return html`
    ${site.isTest && testNote(site, texts.pix.testWarning)}
    ${returned}
    <h2 class="panel-title" id="pix-title">${order.payment.recurrence ? texts.pix.authoriseTitle : texts.pix.title}</h2>
    ${order.payment.recurrence && recurrenceNote(site, order)}
    <div class="pix" role="group" aria-labelledby="pix-title">
      ${qr && html`<div class="pix-scan">${qr('qr-large')}<p class="pix-hint">${texts.pix.scan}</p></div>`}
      <div class="pix-copy">
        <label for="pix-code">${texts.pix.code}</label>
        <textarea id="pix-code" class="pix-text" rows="4" readonly spellcheck="false" autocomplete="off" aria-describedby="pix-hint" data-pix-code>${brCode}</textarea>
        <button class="button button-pay" type="button" data-copy="pix-code" data-copied="${texts.page.copied}" data-copied-note="${texts.pix.codeCopied}" data-selected="${texts.pix.codeSelected}" hidden>${ICONS.copy}<span data-label>${texts.pix.copy}</span></button>
        <p class="pix-hint" id="pix-hint">${texts.pix.hint}</p>
        <p class="pix-note" role="status" data-copy-note></p>
      </div>
      ${
        qr &&
        html`<details class="pix-fold"><summary>${texts.pix.otherDevice}</summary>${qr('qr-small')}</details>`
      }
      <p class="pix-live">${ICONS.refresh}<span data-live hidden>${texts.page.refreshesItself}</span><noscript><a href="${pagePath(site, order.path)}">${texts.pix.havePaid}</a></noscript></p>
      ${back && html`<a class="cancel" href="${back}" rel="noreferrer">${ICONS.back}${texts.page.backToShop}</a>`}
    </div>`;
}
