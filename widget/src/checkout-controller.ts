import type { ReactiveController, ReactiveControllerHost } from 'lit';
import {
  type CheckoutConnection,
  type CheckoutError,
  type CheckoutErrorCode,
  type CheckoutEvent,
  type CheckoutPhase,
  followable,
  INITIAL,
  reduce,
  settled,
} from './checkout-state.ts';
import type { Transport } from './follow/transport.ts';
import { importAgain } from './import-again.ts';
import type { CardPayment, CardPaymentStatus, CustomerInput, StartCheckoutInput } from './operations.ts';
import { type CheckoutMode, PaymentWindow, resolveMode, safeUrl } from './payment-window.ts';
import {
  attemptId,
  findVisit,
  forgetVisit,
  keyOf,
  lastKey,
  loadVisit,
  newVisit,
  saveVisit,
  type Visit,
} from './storage.ts';

export interface CheckoutHost extends ReactiveControllerHost, HTMLElement {
  endpoint?: string | undefined;
  token?: string | undefined;
  mode: CheckoutMode;
  transport: 'auto' | Transport;
  amountCents?: number | undefined;
  orderCode?: string | undefined;
  paymentToken?: string | undefined;
  resumeKey?: string | undefined;
  customer?: CustomerInput | undefined;
  /** Said in the empty window while the payment is created. */
  readonly openingText: string;
}

type PaymentChunk = typeof import('./payment.ts');

/** Phases in which a payment exists or is on its way, so that none is created. */
const STARTED: readonly CheckoutPhase[] = ['creating', 'pending', 'paid', 'refunded'];

/** Starts a payment, opens its page, follows it to its end, and finds it again after a reload. */
export class CheckoutController implements ReactiveController {
  state = INITIAL;
  connection: CheckoutConnection = 'idle';
  /** A payment was found that the server has not told about yet. */
  resuming = false;
  /** What comes with the first payment; see payment.ts. */
  chunk: PaymentChunk | undefined;

  readonly #host: CheckoutHost;
  #key = '';
  #visit: Visit | undefined;
  #window: PaymentWindow | undefined;
  #starting: Promise<void> | undefined;
  #connected: AbortController | undefined;
  #creating: AbortController | undefined;
  #following: AbortController | undefined;
  #refreshing: Promise<void> | undefined;
  /** The status that this page's events have told last. */
  #announced: CardPaymentStatus | undefined;
  /** By the monotonic clock: the device's date may be wrong, and may be set while the payer pays. */
  #deadlineMs: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #askedAtZero = 0;

  constructor(host: CheckoutHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    for (const type of ['visibilitychange', 'pageshow', 'pagehide', 'online', 'offline'])
      addEventListener(type, this.#wake, { signal });
    // Moved in the document, or mounted twice by a framework's strict mode: go on where it stood.
    if (this.#visit) this.#resume();
  }

  hostDisconnected(): void {
    this.#connected?.abort();
    this.#unfollow();
    // A payment on its way is not aborted: the server may have made it already, and its answer is kept for later.
  }

  /** Whole seconds until the payment expires, by the server's clock; undefined until the server has told. */
  get remainingSeconds(): number | undefined {
    if (this.#deadlineMs === undefined) return undefined;
    return Math.max(0, Math.ceil((this.#deadlineMs - performance.now()) / 1000));
  }

  get checkoutUrl(): string | undefined {
    return safeUrl(this.state.payment?.checkoutUrl);
  }

  /** Finds the payment of this page again, by the attributes, the address or what this tab remembers. */
  restore(): void {
    if (this.#starting) {
      // What the page has changed meanwhile holds from then on.
      void this.#starting.then(() => this.restore());
      return;
    }
    const { orderCode, paymentToken, endpoint, resumeKey, token } = this.#host;
    const own = resumeKey || (token ? keyOf(token) : undefined);
    const address = new URLSearchParams(location.search);
    const returned = address.get('psa_order_code');
    const held = this.#key;
    // An element that has an endpoint and no token is one whose token is still to come.
    this.#key = own ?? orderCode ?? (endpoint ? '' : (lastKey() ?? ''));
    let visit = loadVisit(this.#key);
    if (orderCode) {
      if (visit?.orderCode !== orderCode) visit = findVisit(orderCode);
      if (paymentToken) visit = { ...(visit ?? newVisit()), orderCode, paymentToken };
    } else if (returned) {
      const found = findVisit(returned, own);
      // Both may be there: after a retry in this tab the address still names the payment before.
      if (found && !(visit?.base === found.base && visit.attempt > found.attempt)) {
        visit = found;
        this.#key = found.key;
      } else if (!found && !own && visit?.orderCode !== returned) {
        // The page is about a payment that is not known here: another one's receipt would be taken for its.
        visit = undefined;
      }
    }
    if (
      this.#visit &&
      held === this.#key &&
      visit?.orderCode === this.#visit.orderCode &&
      visit?.paymentToken === this.#visit.paymentToken
    )
      return;
    this.#unfollow();
    this.#announced = this.#deadlineMs = undefined;
    this.#visit = visit;
    this.#apply({ type: 'reset' });
    if (!visit?.orderCode || !visit.paymentToken) return;
    if (visit.payment) this.#apply({ type: 'answered', payment: visit.payment });
    if (address.has('psa_cancelled') && returned === visit.orderCode) this.#apply({ type: 'cancelled' });
    this.resuming = !visit.payment;
    this.#resume();
  }

  /** Loads what a payment needs; as soon as a click is likely, so that it need not wait. */
  async load(): Promise<PaymentChunk> {
    if (!this.chunk) {
      this.chunk = await importAgain(() => import('./payment.ts'));
      this.#host.requestUpdate();
    }
    return this.chunk;
  }

  /** To be called in a click. One payment, however often: the second call gets the first one's promise. */
  start(): Promise<void> {
    if (!this.#starting) {
      const started = this.#create().finally(() => {
        // After reset() another may have taken its place.
        if (this.#starting === started) this.#starting = undefined;
      });
      this.#starting = started;
    }
    return this.#starting;
  }

  /** Shows the payment page (again). To be called in a click. */
  openCheckout(): void {
    const { payment } = this.state;
    const url = this.checkoutUrl;
    if (!payment || !url || this.state.phase !== 'pending' || this.#window?.focus()) return;
    const mode = resolveMode(this.#host.mode);
    this.#show(mode, mode === 'redirect' ? undefined : this.#openWindow(mode), payment);
  }

  /** The link is a real one, so that no blocker can take it; a popup that is still open is only brought forward. */
  onLink = (event: Event): void => {
    if (this.#window?.focus()) event.preventDefault();
    else {
      this.#apply({ type: 'opened' });
      this.#emit('psa-checkout-open', { payment: this.state.payment });
    }
  };

  /** Asks the server once, now. */
  refresh(): Promise<void> {
    if (!this.#refreshing) {
      const asked = this.#ask().finally(() => {
        if (this.#refreshing === asked) this.#refreshing = undefined;
      });
      this.#refreshing = asked;
    }
    return this.#refreshing;
  }

  /** After an expiry or a failure a new attempt, after an error the same one again. To be called in a click. */
  retry(): Promise<void> {
    const { phase, payment, error } = this.state;
    if (
      error &&
      !(error.code === 'unauthorized' && error.retryable) &&
      this.#visit?.orderCode &&
      (!payment || followable(payment))
    ) {
      if (payment) this.#apply({ type: 'answered', payment });
      else {
        this.#apply({ type: 'reset' });
        this.resuming = true;
      }
      this.#resume();
      return Promise.resolve();
    }
    return phase === 'error' || phase === 'expired' || phase === 'failed' ? this.start() : Promise.resolve();
  }

  /** Back to the button. A payment that is still open stays this visit's: the next click finds it again. */
  reset(): void {
    const { payment } = this.state;
    if (this.#creating) {
      this.#creating.abort();
      this.#creating = this.#starting = undefined;
      this.#emitError(failure('aborted', 'reset while the payment was being created'));
    }
    this.#unfollow();
    this.#window?.close();
    const visit = this.#visit;
    forgetVisit(this.#key);
    this.#visit = undefined;
    if (visit && payment?.status !== 'PAID' && payment?.status !== 'REFUNDED') {
      const { base, attempt, valueCents, payment: last } = visit;
      this.#visit = last && isOver(last) ? { base, attempt: attempt + 1 } : { base, attempt, valueCents };
      saveVisit(this.#key, this.#visit);
    }
    this.#window = this.#announced = this.#deadlineMs = undefined;
    this.resuming = false;
    this.#apply({ type: 'reset' });
  }

  async #create(): Promise<void> {
    const host = this.#host;
    if (STARTED.includes(this.state.phase) || this.resuming) return;
    if (!this.#emit('psa-before-start', {}, true)) return;
    const endpoint = this.#endpoint();
    const { token, customer, amountCents: valueCents } = host;
    if (!endpoint || !token) {
      // With which come the words for it.
      await this.load().catch(() => undefined);
      this.#refuse(failure('not_configured', 'endpoint and token are required'));
      return;
    }
    let visit = this.#visit ?? loadVisit(this.#key) ?? newVisit();
    if (
      (visit.payment && isOver(visit.payment)) ||
      (visit.valueCents !== undefined && visit.valueCents !== valueCents)
    )
      visit = nextAttempt(visit);
    visit = { ...visit, valueCents, endpoint, startedBy: keyOf(token) };
    // Kept before it is used: a reload in the middle of the request must come back with the same id.
    this.#keep(visit);
    this.#unfollow();
    const mode = resolveMode(host.mode);
    const opened = mode === 'redirect' ? undefined : this.#openWindow(mode);
    this.#deadlineMs = this.#announced = undefined;
    this.#apply({ type: 'started' });
    this.#creating = new AbortController();
    const { signal } = this.#creating;
    try {
      const { startCheckout } = await this.load();
      for (let tries = 1; ; tries++) {
        const input = { attemptId: attemptId(visit), valueCents, customer } as StartCheckoutInput;
        const { cardPayment, paymentToken } = await startCheckout({ endpoint, token, input, signal });
        visit = { ...visit, orderCode: cardPayment.orderCode, paymentToken, payment: cardPayment };
        // This visit's earlier payment may have expired while nobody looked: the click asks for one to pay.
        if (isOver(cardPayment) && tries < 3) {
          visit = nextAttempt(visit);
          this.#keep(visit);
          continue;
        }
        this.#keep(visit);
        this.#creating = undefined;
        this.#answered(cardPayment);
        this.#emit('psa-created', { payment: cardPayment });
        if (this.state.phase === 'pending') this.#show(mode, opened, cardPayment);
        else opened?.close();
        break;
      }
      if (this.state.phase === 'pending') void this.#follow();
    } catch (error) {
      opened?.close();
      if (signal.aborted) return;
      const refusal = asError(error);
      // The server holds this id with another input, so that input's payment exists; the next try is a new attempt.
      if (refusal.code === 'conflict') this.#keep(nextAttempt(visit));
      // Over before the page hears of it, which may try again at once.
      this.#creating = this.#starting = undefined;
      this.#refuse(refusal);
    }
  }

  #openWindow(mode: 'popup' | 'tab'): PaymentWindow | undefined {
    return PaymentWindow.open(mode, this.#host, this.#host.openingText);
  }

  #show(mode: 'popup' | 'tab' | 'redirect', opened: PaymentWindow | undefined, payment: CardPayment): void {
    const url = safeUrl(payment.checkoutUrl);
    if (!url) {
      opened?.close();
      this.#refuse(failure('unsafe_url', 'checkoutUrl is not https'));
    } else if (mode === 'redirect' && !this.#emit('psa-before-redirect', { url, payment }, true)) {
      return;
    } else if (opened) {
      this.#window = opened;
      opened.navigate(url);
      opened.onClosed(() => {
        this.#emit('psa-checkout-close', { payment: this.state.payment });
        void this.refresh();
      });
      this.#apply({ type: 'opened' });
      this.#emit('psa-checkout-open', { payment });
    } else if (mode !== 'redirect' || !open(url, '_top')) {
      // The payment page lets itself into no frame, so it is the whole page that is left.
      this.#apply({ type: 'blocked' });
      this.#emit('psa-popup-blocked', { url, payment });
    }
  }

  #resume(): void {
    const { payment } = this.state;
    if (this.#starting || this.state.error || !this.#visit?.orderCode) return;
    if (!payment || followable(payment)) void this.#follow();
    else void this.refresh();
  }

  async #ask(): Promise<void> {
    const visit = this.#visit;
    const endpoint = this.#endpoint();
    if (!visit?.orderCode || !visit.paymentToken || !endpoint) return;
    const { orderCode, paymentToken: token } = visit;
    try {
      const { readPayment } = await this.load();
      const { signal } = new AbortController();
      const { cardPayment } = await readPayment({ endpoint, token, orderCode, signal });
      if (orderCode === this.#visit?.orderCode) this.#answered(cardPayment);
    } catch (thrown) {
      const error = asError(thrown);
      if (!error.retryable && orderCode === this.#visit?.orderCode) this.#lose(error);
    }
  }

  /** Follows until a final state, an end of the token, or the next call. */
  async #follow(): Promise<void> {
    this.#unfollow();
    const { orderCode, paymentToken: token } = this.#visit ?? {};
    const endpoint = this.#endpoint();
    if (!orderCode || !token || !endpoint || !this.#host.isConnected) return;
    this.#following = new AbortController();
    const { signal } = this.#following;
    this.#tick();
    this.#connect('connecting');
    try {
      const { followPayment } = await this.load();
      const error = await followPayment({
        endpoint,
        token,
        orderCode,
        transport: this.#host.transport,
        signal,
        onUpdate: ({ cardPayment }) => signal.aborted || this.#answered(cardPayment),
        onConnection: (connection, transport) => signal.aborted || this.#connect(connection, transport),
      });
      if (!error || signal.aborted) return;
      this.#lose(error);
    } catch {
      // The chunk could not be loaded, twice: the payment goes on, so does asking for it.
      if (signal.aborted) return;
      this.#connect('reconnecting');
      this.#timer = setTimeout(() => signal.aborted || this.#follow(), 5_000);
    }
  }

  #unfollow(): void {
    this.#following?.abort();
    this.#following = this.#refreshing = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#connect('idle');
  }

  /** The one door for what the server says about the payment. */
  #answered(answer: CardPayment): void {
    this.resuming = false;
    this.#apply({ type: 'answered', payment: answer });
    const { payment, phase } = this.state;
    if (payment !== answer) return;
    this.#keep({ ...(this.#visit ?? newVisit()), payment });
    this.#deadlineMs = performance.now() + payment.expiresInSeconds * 1000;
    if (payment.expiresInSeconds > 0) this.#askedAtZero = 0;
    if (payment.expiresInSeconds > 0 || !this.#timer) this.#tick();
    this.#host.requestUpdate();
    const previous = this.#announced;
    if (previous !== payment.status) {
      this.#announced = payment.status;
      this.#emit('psa-status-change', { payment, status: payment.status, previous });
      if (settled(phase)) this.#emit(`psa-${phase}`, { payment });
    }
    // An expired payment is still listened to: it may be paid late.
    if (settled(phase) && phase !== 'expired') this.#unfollow();
  }

  /**
   * Nothing more is heard of the payment. Where only its own token has ended, the checkout token that started it gives
   * another for the same attempt. Any other would start a second payment.
   */
  #lose(error: CheckoutError): void {
    this.#unfollow();
    const { token } = this.#host;
    const retryable =
      error.code === 'unauthorized' && Boolean(token) && this.#visit?.startedBy === keyOf(token as string);
    this.#refuse({ ...error, retryable });
  }

  #refuse(error: CheckoutError): void {
    this.resuming = false;
    const before = this.state;
    this.#apply({ type: 'refused', error });
    if (this.state !== before) this.#emitError(error);
  }

  #emitError({ code, message, retryable }: CheckoutError): void {
    this.#emit('psa-error', { code, message, retryable });
  }

  #apply(event: CheckoutEvent): void {
    const previous = this.state.phase;
    this.state = reduce(this.state, event);
    this.#host.requestUpdate();
    const { phase } = this.state;
    if (phase !== previous) this.#emit('psa-phase-change', { phase, previous });
  }

  #connect(connection: CheckoutConnection, transport?: Transport): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.#host.requestUpdate();
    this.#emit('psa-connection-change', { connection, transport });
  }

  #keep(visit: Visit): void {
    this.#visit = visit;
    if (this.#key) saveVisit(this.#key, visit);
  }

  /** On the page at successUrl it is the one that the payment was made at. */
  #endpoint(): string | undefined {
    const given = this.#host.endpoint || this.#visit?.endpoint;
    return given && URL.canParse(given, document.baseURI) ? new URL(given, document.baseURI).href : undefined;
  }

  #tick = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#deadlineMs === undefined || this.state.phase !== 'pending' || !this.#host.isConnected) return;
    const leftMs = this.#deadlineMs - performance.now();
    let nextMs = leftMs % 1000 || 1000;
    if (leftMs <= 0) {
      // At 0:00 the server decides, and is asked ever more rarely until it has.
      nextMs = Math.min(30_000, 2_000 * 2 ** this.#askedAtZero++);
      void this.refresh();
    }
    this.#timer = setTimeout(this.#tick, nextMs);
    this.#host.requestUpdate();
  };

  /** Back in sight or back online: sockets and timers may have died in the meantime without a word. */
  #wake = ({ type }: Event): void => {
    const { connection } = this;
    // An open connection keeps the page out of the back/forward cache of some browsers, and in that of others dies.
    if (type === 'pagehide') this.#unfollow();
    else if (type === 'offline') this.#following && this.#connect(type);
    else if (!(document.hidden || this.#starting || this.state.error)) {
      const lost = type === 'online' || !['live', 'connecting'].includes(connection);
      if (lost) this.#resume();
      // While it connects it is asking already.
      if (connection !== 'connecting') void this.refresh();
      this.#tick();
    }
  };

  #emit(name: string, detail: object, cancelable = false): boolean {
    return this.#host.dispatchEvent(
      new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }),
    );
  }
}

function isOver({ status }: CardPayment): boolean {
  return status === 'EXPIRED' || status === 'FAILED';
}

/** A retry keeps the base, by which the server knows that it is still the same purchase. */
function nextAttempt({ base, attempt, valueCents }: Visit): Visit {
  return { base, attempt: attempt + 1, valueCents };
}

function failure(code: CheckoutErrorCode, message: string): CheckoutError {
  return { code, message, retryable: code === 'aborted' };
}

/** What network.ts throws is one already; anything else is a chunk that did not load. */
function asError(thrown: unknown): CheckoutError {
  const error = thrown as CheckoutError;
  return error.retryable !== undefined
    ? error
    : { code: 'network', message: String(thrown), retryable: true };
}
