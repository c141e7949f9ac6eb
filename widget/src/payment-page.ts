import { failure } from './checkout-error.ts';
import type { CheckoutModel } from './checkout-model.ts';
import { pickNewer } from './checkout-state.ts';
import { inLanguage, openWindow, type PaymentWindow, resolveMode, safeUrl } from './payment-window.ts';

/**
 * Shows the hosted page of a card payment, in a window of its own or instead of this page.
 *
 * @param refresh called when the window looks closed
 */
export function createPaymentPage(model: CheckoutModel, refresh: () => void) {
  const { host } = model;
  let shown: PaymentWindow | undefined;
  /** The payment in that window. */
  let shownUrl: string | null | undefined;
  /**
   * Whether a click has requested a window that did not open. Blockers allow windows of a click, so the view
   * opens none at all.
   */
  let opensNone: boolean | undefined;
  const safe = () => {
    const url = safeUrl(model.state.payment?.checkoutUrl);
    return url && inLanguage(url, host.language);
  };

  /** Opens an empty window, or none if the page itself navigates; must be called in a click. */
  const open = () => {
    const mode = resolveMode(host.mode);
    if (mode === 'redirect') return;
    const isClick = navigator.userActivation?.isActive;
    const window = openWindow(mode, host, host.openingText);
    opensNone = isClick && !window;
    return window;
  };
  const opened = () => {
    model.apply({ type: 'opened' });
    model.emit('psa-checkout-open', { payment: model.state.payment });
  };

  /**
   * Focuses the window of the shown payment, and returns whether it is open. Another payment's window stays
   * where it is.
   */
  const isFocused = () => shownUrl === model.state.payment?.checkoutUrl && shown?.focus();

  const leaves = () => opensNone || resolveMode(host.mode) === 'redirect';
  /**
   * Announces that the page is about to be left, if it is. Returns whether the shop's page has prevented
   * that.
   */
  const stays = (): boolean =>
    leaves() && !model.emit('psa-before-redirect', { url: safe(), payment: model.state.payment }, true);

  /** Shows the payment page in the window that the click has opened, unless it was blocked. */
  const show = (empty: PaymentWindow | undefined): void => {
    const { payment } = model.state;
    const url = safe();
    if (!payment || !url) {
      empty?.close();
      model.fail(failure('unsafe_url', 'checkoutUrl is not https'));
      return;
    }
    const isKept = stays();
    if (isKept && !opensNone) return;
    if (empty) {
      shown = empty;
      shownUrl = payment.checkoutUrl;
      empty.navigate(url, () => {
        // The element may show another payment by now, such as one by PIX.
        model.emit('psa-checkout-close', { payment: pickNewer(model.state.payment, payment) });
        refresh();
      });
      opened();
    } else if (isKept || !leaves() || !window.open(url, '_top')) {
      // The payment page refuses to be framed, so the whole page navigates.
      model.apply({ type: 'blocked' });
      model.emit('psa-popup-blocked', { url, payment });
    }
  };
  return {
    safe,
    open,
    show,
    /** The target of the link to the page. */
    target: () => (leaves() ? '_top' : '_blank'),
    /** Shows the page again; must be called in a click. */
    focus(): void {
      if (safe() && model.state.phase === 'pending' && !isFocused()) show(open());
    },
    /**
     * Handles a click on the link: focuses a popup that is still open, else opens the page in a tab, which no
     * blocker stops, or instead of this page if the view opens no tabs.
     */
    onLink(event: MouseEvent): void {
      // A modifier key leaves the click to the browser.
      const isBrowsers = leaves() || event.ctrlKey || event.metaKey || event.shiftKey;
      if (isFocused() || stays()) event.preventDefault();
      else if (isBrowsers) opened();
      else {
        event.preventDefault();
        const url = safe();
        const tab = window.open(url, '_blank');
        opensNone = !tab;
        if (tab) {
          tab.opener = null;
          opened();
        } else if (!stays()) window.open(url, '_top');
        host.requestUpdate();
      }
    },
    close(): void {
      shown?.close();
      shown = undefined;
    },
  };
}
