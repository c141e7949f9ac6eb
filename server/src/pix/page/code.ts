import { money } from '../../checkout-page/format.ts';
import { type Html, html } from '../../checkout-page/html.ts';
import { ICONS } from '../../checkout-page/icons.ts';
import { type Site, testNote } from '../../checkout-page/layout.ts';
import { drawQr } from '../../checkout-page/qr.ts';
import { cancelUrlOf, type Order } from './order.ts';
import { recurrenceNote } from './recurrence.ts';

/**
 * The code as text and as a QR code. On a phone, whose payer cannot scan its screen, the button comes first and the QR code is
 * folded up. The style sheet shows one of the two places of the QR code, so that no script has to.
 */
export function pixCode(site: Site, order: Order, brCode: string, returned: Html | null): Html {
  const label = `QR code do PIX de ${money(order.payment.amountCents)} para ${order.merchantName}`;
  const qr = drawQr(brCode, label);
  const back = cancelUrlOf(order.payment);
  return html`
    ${site.isTest && testNote('Este código não é de um banco de verdade.')}
    ${returned}
    <h2 class="panel-title" id="pix-title">${order.payment.recurrence ? 'Autorize no app do seu banco' : 'Pague com PIX'}</h2>
    ${order.payment.recurrence && recurrenceNote(order)}
    <div class="pix" role="group" aria-labelledby="pix-title">
      ${
        qr &&
        html`<div class="pix-scan">${qr('qr-large')}<p class="pix-hint">Abra o app do banco no celular, escolha PIX e aponte a câmera para o QR code.</p></div>`
      }
      <div class="pix-copy">
        <label for="pix-code">PIX Copia e Cola</label>
        <textarea id="pix-code" class="pix-text" rows="4" readonly spellcheck="false" autocomplete="off" aria-describedby="pix-hint" data-pix-code>${brCode}</textarea>
        <button class="button button-pay" type="button" data-copy="pix-code" data-copied="Copiado" data-copied-note="Código copiado. Abra o app do banco e escolha PIX, Copia e Cola." hidden>${ICONS.copy}<span data-label>Copiar código</span></button>
        <p class="pix-hint" id="pix-hint">Cole o código no app do banco, em PIX Copia e Cola. Confira o valor e quem recebe antes de confirmar.</p>
        <p class="pix-note" role="status" data-copy-note></p>
      </div>
      ${
        qr &&
        html`<details class="pix-fold"><summary>Pagar com outro aparelho: QR code</summary>${qr('qr-small')}</details>`
      }
      <p class="pix-live">${ICONS.refresh}<span data-live hidden>Esta página se atualiza sozinha.</span><noscript><a href="${order.path}">Já paguei: atualizar a página</a></noscript></p>
      ${back && html`<a class="cancel" href="${back}" rel="noreferrer">${ICONS.back}Voltar para a loja</a>`}
    </div>`;
}
