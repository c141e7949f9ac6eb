export type CheckoutMode = 'auto' | 'popup' | 'tab' | 'redirect';

/**
 * Whether the page is in the view of an app, which opens no second window, or loads the empty one instead of
 * the page. Android's engine names itself. WebKit names a browser (`Safari/`, after a version) only in a
 * browser; an app that imitates that name still has no service workers on iOS.
 */
function isInAppView({ userAgent, serviceWorker }: Navigator): boolean {
  return (
    /; wv\)/.test(userAgent) ||
    (/AppleWebKit/.test(userAgent) && !/(\/\S+|Mobile) Safari\//.test(userAgent)) ||
    (/iP(hone|[ao]d)/.test(userAgent) && isSecureContext && !serviceWorker)
  );
}

export function resolveMode(mode: CheckoutMode | undefined): Exclude<CheckoutMode, 'auto'> {
  if (mode && mode !== 'auto') return mode;
  return isInAppView(navigator) ? 'redirect' : 'popup';
}

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1])$/;

/** Returns the address if it is https, or http on this computer: the payer is about to type a card there. */
export function safeUrl(url: string | null | undefined): string | undefined {
  if (!url || !URL.canParse(url)) return;
  // Checked by its parts: as text, `http://localhost:1@shop.example` looks like this computer.
  const { protocol, hostname, href } = new URL(url);
  if (protocol === 'https:' || (protocol === 'http:' && LOCAL.test(hostname))) return href;
}

/** Names the element's language in the address of the payment page, which may name one already. */
export function inLanguage(url: string, language: string): string {
  const page = new URL(url);
  // Appended as text: URLSearchParams would encode the address's own parameters again.
  if (!page.searchParams.has('lang')) page.search += `${page.search && '&'}lang=${language}`;
  return page.href;
}

/** The popup or tab of the payment page. */
export type PaymentWindow = NonNullable<ReturnType<typeof openWindow>>;

/**
 * Opens an empty window; must be called in the click itself, because after an await the browser blocks it as
 * an unwanted popup. Undefined if it was blocked.
 */
export function openWindow(mode: 'popup' | 'tab', host: Element, text: string) {
  const style = getComputedStyle(host);
  const size = (side: string, otherwise: number) =>
    Number.parseFloat(style.getPropertyValue(`--psa-popup-${side}`)) || otherwise;
  const [width, height] = [size('width', 480), size('height', 720)];
  const [left, top] = [screenX + (outerWidth - width) / 2, screenY + (outerHeight - height) / 2];
  const features = mode === 'tab' ? '' : `popup,width=${width},height=${height},left=${left},top=${top}`;
  // With noopener the call would return null, so the opener is cut in navigate().
  const opened = window.open('about:blank', '_blank', features);
  if (!opened || opened.closed) return undefined;
  try {
    opened.document.title = text;
    opened.document.body.textContent = text;
  } catch {
    // Without the text the window stays blank until the payment is created.
  }
  let watch: ReturnType<typeof setInterval> | undefined;
  return {
    /**
     * Shows a page, and calls the listener once when the window looks closed. That is only a hint: a payment
     * page with a Cross-Origin-Opener-Policy looks closed from here while it is open.
     */
    navigate(url: string, onClosed: () => void): void {
      opened.location.replace(url);
      opened.opener = null;
      watch = setInterval(() => {
        const { closed } = opened;
        // An element that was removed, and not only moved, has no listeners left.
        if (closed || !host.isConnected) clearInterval(watch);
        if (closed) onClosed();
      }, 500);
    },
    focus(): boolean {
      opened.focus();
      return !opened.closed;
    },
    close(): void {
      clearInterval(watch);
      opened.close();
    },
  };
}
