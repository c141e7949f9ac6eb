import type { ReactiveController, ReactiveControllerHost } from 'lit';
import {
  type CheckoutConnection,
  type CheckoutError,
  type CheckoutErrorCode,
  type CheckoutEvent,
  type CheckoutPhase,
  INITIAL,
  idOf,
  isDecided,
  isFollowable,
  reduce,
} from './checkout-state.ts';
import type { DeliveredView } from './delivered.ts';
import type { Transport } from './follow/transport.ts';
import { importAgain } from './import-again.ts';
import { type CheckoutMethod, readMethods } from './methods.ts';
import type {
  CardPaymentStatus,
  CheckoutPayment,
  CustomerInput,
  DeliveredContent,
  StartCheckoutInput,
} from './operations.ts';
import { type CheckoutMode, inLanguage, PaymentWindow, resolveMode, safeUrl } from './payment-window.ts';
import {
  attemptId,
  findVisit,
  forgetVisit,
  keyOf,
  lastKey,
  loadVisit,
  methodOf,
  newVisit,
  type PaymentAccess,
  saveVisit,
  type Visit,
} from './storage.ts';

import type { PixView } from './views.ts';

export interface CheckoutHost extends ReactiveControllerHost, HTMLElement {
  endpoint?: string | undefined;
  token?: string | undefined;
  methods: string;
  mode: CheckoutMode;
  transport: 'auto' | Transport;
  amountCents?: number | undefined;
  orderCode?: string | undefined;
  paymentToken?: string | undefined;
  resumeKey?: string | undefined;
  customer?: CustomerInput | undefined;
  /** The text of the empty window while the payment is created. */
  readonly openingText: string;
  /** The language that the element shows. */
  readonly language: string;
  readonly renderRoot: HTMLElement | DocumentFragment;
}

type PaymentChunk = typeof import('./payment.ts');

/** Phases in which a payment exists or is being created, so that a click creates none. */
const STARTED: readonly CheckoutPhase[] = ['creating', 'pending', 'paid', 'refunded'];

/** Starts a payment, opens its page, follows it to its end, and finds it again after a reload. */
export class CheckoutController implements ReactiveController {
  state = INITIAL;
  connection: CheckoutConnection = 'idle';
  /** Whether a payment was found whose state the server has not sent yet. */
  resuming = false;
  /** The chunk that the first payment loads; see payment.ts. */
  chunk: PaymentChunk | undefined;
  /** The view of a payment by PIX, of a chunk of its own. */
  pix: PixView | undefined;
  /** The view of delivered content, of a chunk that the first payment with some loads. */
  delivered: DeliveredView | undefined;
  /** The method of the payment, or of the one that is being created. */
  method: CheckoutMethod | undefined;

  readonly #host: CheckoutHost;
  #key = '';
  #visit: Visit | undefined;
  #window: PaymentWindow | undefined;
  #starting: Promise<void> | undefined;
  #connected: AbortController | undefined;
  #creating: AbortController | undefined;
  #following: AbortController | undefined;
  #refreshing: Promise<void> | undefined;
  /** The methods that the token takes, in the server's words; undefined until it has answered. */
  #allowed: string[] | undefined;
  /** The status of the last event that this page received. */
  #lastEventStatus: CardPaymentStatus | undefined;
  /** The payment's expiry on the monotonic clock: the device's date may be wrong, and may be set while the payer pays. */
  #deadlineMs: number | undefined;
  /** The content that a payment has delivered, by its identifier; undefined until the server has answered. */
  #content: { id: string; items: DeliveredContent[] } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #readsAfterDeadline = 0;

  constructor(host: CheckoutHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    for (const type of ['visibilitychange', 'pageshow', 'pagehide', 'online', 'offline'])
      addEventListener(type, this.#wake, { signal });
    // An element that was moved in the document, or mounted twice by a framework's strict mode, resumes where it stopped.
    if (this.#visit) this.#resume();
  }

  hostDisconnected(): void {
    this.#connected?.abort();
    this.#stopFollowing();
    // A request that creates a payment is not aborted: the server may have created it already, and the answer is stored.
  }

  /** Whole seconds until the payment expires, by the server's clock; undefined before its first answer. */
  get remainingSeconds(): number | undefined {
    if (this.#deadlineMs === undefined) return undefined;
    return Math.max(0, Math.ceil((this.#deadlineMs - performance.now()) / 1000));
  }

  /** The content that the shown payment has delivered. */
  get content(): DeliveredContent[] {
    const { payment } = this.state;
    return payment && this.#content?.id === idOf(payment) ? this.#content.items : [];
  }

  get checkoutUrl(): string | undefined {
    const url = safeUrl(this.state.payment?.checkoutUrl);
    return url && inLanguage(url, this.#host.language);
  }

  /** The methods that the payer can choose, in the order of the attribute. */
  get methods(): CheckoutMethod[] {
    const named = [...new Set(this.#host.methods.match(/\b(pix|card)\b/g))] as CheckoutMethod[];
    return named.filter((method) => this.#allowed?.includes(method.toUpperCase()) ?? true);
  }

  /** Asks the server which of the named methods the token takes. A page that names the card alone needs no answer. */
  async readMethods(): Promise<void> {
    const { token, methods } = this.#host;
    const endpoint = this.#endpoint();
    this.#allowed = undefined;
    if (!token || !endpoint || !/pix/.test(methods)) return;
    const allowed = await readMethods(endpoint, token);
    if (token !== this.#host.token) return;
    this.#allowed = allowed;
    this.#host.requestUpdate();
  }

  /** Finds the payment of this page again: by the attributes, the address or this tab's storage. */
  restore(): void {
    if (this.#starting) {
      // Attributes that the page changes during a start apply after it.
      void this.#starting.then(() => this.restore());
      return;
    }
    const { orderCode, paymentToken, endpoint, resumeKey, token } = this.#host;
    const ownKey = resumeKey || (token ? keyOf(token) : undefined);
    const address = new URLSearchParams(location.search);
    const returnedOrderCode = address.get('psa_order_code');
    const previousKey = this.#key;
    // An element with an endpoint and no token receives its token later.
    this.#key = ownKey ?? orderCode ?? (endpoint ? '' : (lastKey() ?? ''));
    let visit = loadVisit(this.#key);
    if (orderCode) {
      if (visit?.orderCode !== orderCode) visit = findVisit(orderCode);
      if (paymentToken) visit = { ...(visit ?? newVisit()), orderCode, paymentToken };
    } else if (returnedOrderCode) {
      const found = findVisit(returnedOrderCode, ownKey);
      // Both visits may exist: after a retry in this tab the address still names the previous payment.
      if (found && !(visit?.base === found.base && visit.attempt > found.attempt)) {
        visit = found;
        this.#key = found.key;
      } else if (!found && !ownKey && visit?.orderCode !== returnedOrderCode) {
        // The address names a payment that is unknown here: the receipt of another one would mislead.
        visit = undefined;
      }
    }
    if (
      this.#visit &&
      previousKey === this.#key &&
      visit?.orderCode === this.#visit.orderCode &&
      visit?.paymentToken === this.#visit.paymentToken
    )
      return;
    this.#stopFollowing();
    this.#lastEventStatus = this.#deadlineMs = undefined;
    this.#visit = visit;
    this.method = visit?.orderCode ? methodOf(visit.orderCode) : undefined;
    this.#apply({ type: 'reset' });
    if (!visit?.orderCode || !visit.paymentToken) {
      this.#resume();
      return;
    }
    if (visit.payment) this.#apply({ type: 'answered', payment: visit.payment });
    if (address.has('psa_cancelled') && returnedOrderCode === visit.orderCode)
      this.#apply({ type: 'cancelled' });
    this.resuming = !visit.payment;
    this.#resume();
  }

  /** Loads the chunks of a method. Called as soon as a click is likely, so that the click does not wait for them. */
  async load(method = this.method): Promise<PaymentChunk> {
    const needsPix = method === 'pix' && !this.pix;
    if (!this.chunk || needsPix) {
      const [chunk, pix] = await Promise.all([
        importAgain(() => import('./payment.ts')),
        needsPix && importAgain(() => import('./pix.ts')),
      ]);
      if (!this.chunk) chunk.adoptStyles(this.#host);
      this.chunk = chunk;
      if (pix)
        this.pix ??= pix.createPix(this.#host, chunk, () =>
          this.#emit('psa-pix-copied', { payment: this.state.payment }),
        );
      this.#host.requestUpdate();
    }
    return this.chunk;
  }

  /**
   * Starts a payment; must be called in a click. Concurrent calls share one promise and one payment. While a payment is
   * open, another method gives the same attempt a second payment: the server keeps the one that is paid first.
   */
  start(method?: CheckoutMethod): Promise<void> {
    if (!this.#starting) {
      const started = this.#create(method ?? this.methods[0]).finally(() => {
        // After reset() another start may be running.
        if (this.#starting === started) this.#starting = undefined;
      });
      this.#starting = started;
    }
    return this.#starting;
  }

  /** Shows the payment page again; must be called in a click. */
  openCheckout(): void {
    const { payment } = this.state;
    const url = this.checkoutUrl;
    if (!payment || !url || this.state.phase !== 'pending' || this.#window?.focus()) return;
    const mode = resolveMode(this.#host.mode);
    this.#showPaymentPage(mode, mode === 'redirect' ? undefined : this.#openWindow(mode));
  }

  /** Handles a click on the link: focuses a popup that is still open, else lets the link open, which no blocker stops. */
  onLink = (event: Event): void => {
    if (this.#window?.focus()) event.preventDefault();
    else {
      this.#apply({ type: 'opened' });
      this.#emit('psa-checkout-open', { payment: this.state.payment });
    }
  };

  /** Reads the payment from the server once, now. */
  refresh(): Promise<void> {
    if (!this.#refreshing) {
      const refreshing = this.#refreshOnce().finally(() => {
        if (this.#refreshing === refreshing) this.#refreshing = undefined;
      });
      this.#refreshing = refreshing;
    }
    return this.#refreshing;
  }

  /** Starts a new attempt after an expiry or a failure, and repeats the same one after an error. Must be called in a click. */
  retry(): Promise<void> {
    const { phase, payment, error } = this.state;
    if (
      error &&
      !(error.code === 'unauthorized' && error.retryable) &&
      this.#visit?.orderCode &&
      (!payment || isFollowable(payment))
    ) {
      if (payment) this.#apply({ type: 'answered', payment });
      else {
        this.#apply({ type: 'reset' });
        this.resuming = true;
      }
      this.#resume();
      return Promise.resolve();
    }
    return phase === 'error' || phase === 'expired' || phase === 'failed'
      ? this.start(this.method)
      : Promise.resolve();
  }

  /**
   * Returns to the button. An open payment stays with this visit: the next click finds it again, and where the payer pays it
   * all the same, in its window or with its code, it is shown.
   */
  reset(): void {
    const { payment } = this.state;
    if (this.#creating) {
      this.#creating.abort();
      this.#creating = this.#starting = undefined;
      this.#emitError(failure('aborted', 'reset while the payment was being created'));
    }
    this.#stopFollowing();
    this.#window?.close();
    const visit = this.#visit;
    forgetVisit(this.#key);
    this.#visit = undefined;
    if (visit && payment?.status !== 'PAID' && payment?.status !== 'REFUNDED') {
      this.#visit = nextPayment(visit, visit.payment && needsNewAttempt(visit.payment) ? 1 : 0);
      saveVisit(this.#key, this.#visit);
    }
    this.#window = this.#lastEventStatus = this.#deadlineMs = this.method = undefined;
    this.resuming = false;
    this.#apply({ type: 'reset' });
    this.#resume();
  }

  async #create(method: CheckoutMethod | undefined): Promise<void> {
    const host = this.#host;
    const { phase } = this.state;
    const isSwitch = phase === 'pending' && method !== this.method;
    if ((STARTED.includes(phase) && !isSwitch) || this.resuming) return;
    if (!this.#emit('psa-before-start', { method }, true)) return;
    const endpoint = this.#endpoint();
    const { token, customer, amountCents: valueCents } = host;
    if (!endpoint || !token || !method) {
      // The chunk contains the text of the error.
      await this.load().catch(() => undefined);
      this.#fail(failure('not_configured', 'endpoint, token or method is missing'));
      return;
    }
    let visit = this.#visit ?? loadVisit(this.#key) ?? newVisit();
    if (
      (visit.payment && needsNewAttempt(visit.payment)) ||
      (visit.valueCents !== undefined && visit.valueCents !== valueCents)
    )
      visit = nextPayment(visit);
    else if (visit.orderCode && methodOf(visit.orderCode) !== method) visit = nextPayment(visit, 0);
    visit = { ...visit, valueCents, endpoint, startedBy: keyOf(token) };
    // Saved before the request: a reload during it must retry with the same attempt id.
    this.#saveVisit(visit);
    this.#stopFollowing();
    const mode = resolveMode(host.mode);
    const opened = method === 'pix' || mode === 'redirect' ? undefined : this.#openWindow(mode);
    this.#deadlineMs = this.#lastEventStatus = undefined;
    this.#setMethod(method);
    this.#apply({ type: 'started' });
    this.#creating = new AbortController();
    const { signal } = this.#creating;
    try {
      const { startCheckout } = await this.load();
      for (let tries = 1; ; tries++) {
        const input = { attemptId: attemptId(visit), valueCents, customer } as StartCheckoutInput;
        const { payment, paymentToken } = await startCheckout({ endpoint, token, method, input, signal });
        visit = { ...visit, orderCode: idOf(payment), paymentToken, payment };
        // This visit's earlier payment may have expired unseen: the click wants one that can be paid.
        if (needsNewAttempt(payment) && tries < 3) {
          visit = nextPayment(visit);
          this.#saveVisit(visit);
          continue;
        }
        this.#saveVisit(visit);
        this.#creating = undefined;
        this.#applyAnswer(payment);
        this.#emit('psa-created', { payment });
        if (this.state.phase === 'pending' && method === 'card') this.#showPaymentPage(mode, opened);
        else opened?.close();
        break;
      }
      if (this.state.phase === 'pending') void this.#follow();
    } catch (error) {
      opened?.close();
      if (signal.aborted) return;
      const refusal = asCheckoutError(error);
      // The server knows this id with another input, so a payment of that input exists; the next click is a new attempt.
      if (refusal.code === 'conflict') this.#saveVisit(nextPayment(visit));
      // Cleared before the event: the page may retry in its listener.
      this.#creating = this.#starting = undefined;
      this.#fail(refusal);
    }
  }

  #openWindow(mode: 'popup' | 'tab'): PaymentWindow | undefined {
    return PaymentWindow.open(mode, this.#host, this.#host.openingText);
  }

  #showPaymentPage(mode: 'popup' | 'tab' | 'redirect', opened: PaymentWindow | undefined): void {
    const { payment } = this.state;
    const url = this.checkoutUrl;
    if (!url) {
      opened?.close();
      this.#fail(failure('unsafe_url', 'checkoutUrl is not https'));
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
      // The payment page refuses to be framed, so the whole page navigates.
      this.#apply({ type: 'blocked' });
      this.#emit('psa-popup-blocked', { url, payment });
    }
  }

  #resume(): void {
    const { payment } = this.state;
    if (this.#starting || this.state.error) return;
    if (!payment || isFollowable(payment)) void this.#follow();
    else void this.refresh();
  }

  async #refreshOnce(): Promise<void> {
    const visit = this.#visit;
    const endpoint = this.#endpoint();
    if (!visit?.orderCode || !visit.paymentToken || !endpoint) return;
    const { orderCode, paymentToken: token } = visit;
    try {
      const { readPayment } = await this.load();
      const { signal } = new AbortController();
      const method = methodOf(orderCode);
      const payment = await readPayment({ endpoint, token, method, orderCode, signal });
      if (orderCode === this.#visit?.orderCode) this.#applyAnswer(payment);
    } catch (thrown) {
      const error = asCheckoutError(thrown);
      if (!error.retryable && orderCode === this.#visit?.orderCode) this.#failFollowing(error);
    }
  }

  /**
   * Asks for what the paid payment has delivered, until nothing is out of stock. Where the server does not tell, or cannot,
   * the payer sees the receipt alone.
   */
  async #readDelivered(): Promise<void> {
    const { orderCode, paymentToken: token } = this.#visit ?? {};
    const endpoint = this.#endpoint();
    if (!orderCode || !token || !endpoint) return;
    if (this.#content?.id === orderCode && !this.content.some(({ status }) => status === 'PENDING')) return;
    try {
      const chunk = await this.load();
      const { signal } = new AbortController();
      const method = methodOf(orderCode);
      const items = await chunk.readDelivered({ endpoint, token, method, orderCode, signal });
      if (items[0] && !this.delivered) {
        const { createDelivered } = await importAgain(() => import('./delivered.ts'));
        this.delivered ??= createDelivered(this.#host, chunk);
      }
      if (orderCode !== this.#visit?.orderCode) return;
      this.#content = { id: orderCode, items };
      this.#host.requestUpdate();
    } catch {
      // The next answer about the payment asks again.
    }
  }

  /**
   * Follows the payment until a final state, the end of its token, or the next call; and those before it, which are all that
   * there is behind the button.
   */
  async #follow(): Promise<void> {
    this.#stopFollowing();
    const { orderCode, paymentToken: token, earlier = [] } = this.#visit ?? {};
    const others = earlier.filter((access) => access.orderCode !== orderCode);
    const endpoint = this.#endpoint();
    if (!(token || others[0]) || !endpoint || !this.#host.isConnected) return;
    this.#following = new AbortController();
    const { signal } = this.#following;
    if (token) {
      this.#tick();
      this.#setConnection('connecting');
    }
    try {
      const { followPayment } = await this.load();
      const options = { endpoint, transport: this.#host.transport, signal };
      for (const access of others) void this.#followEarlier(followPayment, access, options);
      if (!orderCode || !token) return;
      const error = await followPayment({
        ...options,
        token,
        method: methodOf(orderCode),
        orderCode,
        onUpdate: (payment) => signal.aborted || this.#applyAnswer(payment),
        onConnection: (connection, transport) => signal.aborted || this.#setConnection(connection, transport),
      });
      if (!error || signal.aborted) return;
      this.#failFollowing(error);
    } catch {
      // The chunk did not load, twice. The payment may still be paid, so following is retried.
      if (signal.aborted) return;
      if (token) this.#setConnection('reconnecting');
      this.#timer = setTimeout(() => signal.aborted || this.#follow(), 5_000);
    }
  }

  /** Follows an earlier payment of the visit until it is paid, which shows it, or can be paid no more, which forgets it. */
  async #followEarlier(
    followPayment: PaymentChunk['followPayment'],
    access: PaymentAccess,
    options: { endpoint: string; transport: 'auto' | Transport; signal: AbortSignal },
  ): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([options.signal, over.signal]);
    const error = await followPayment({
      ...options,
      signal,
      token: access.paymentToken,
      method: methodOf(access.orderCode),
      orderCode: access.orderCode,
      onUpdate: (payment) => {
        if (signal.aborted) return;
        if (!isFollowable(payment)) over.abort();
        this.#adopt(payment, access);
      },
      onConnection: () => undefined,
    });
    const visit = this.#visit;
    if ((error || over.signal.aborted) && visit)
      this.#saveVisit({
        ...visit,
        earlier: visit.earlier?.filter(({ orderCode }) => orderCode !== access.orderCode),
      });
  }

  #stopFollowing(): void {
    this.#following?.abort();
    this.#following = this.#refreshing = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#setConnection('idle');
  }

  /** Shows an earlier payment of the visit in place of the open one, once it is paid: the server keeps that one alone. */
  #adopt(payment: CheckoutPayment, access: PaymentAccess): void {
    if (payment.status !== 'PAID' || !this.#visit) return;
    this.#saveVisit({ ...this.#visit, ...access, earlier: undefined });
    this.#lastEventStatus = undefined;
    this.#setMethod(methodOf(idOf(payment)));
    this.#applyAnswer(payment);
  }

  #setMethod(method: CheckoutMethod): void {
    if (this.method === method) return;
    this.method = method;
    if (this.methods[1]) this.#emit('psa-method-change', { method });
  }

  /** Applies an answer of the server; every answer about the payment passes here. */
  #applyAnswer(answer: CheckoutPayment): void {
    this.resuming = false;
    this.#apply({ type: 'answered', payment: answer });
    const { payment, phase } = this.state;
    if (payment !== answer) return;
    this.#saveVisit({ ...(this.#visit ?? newVisit()), payment });
    this.#deadlineMs = performance.now() + payment.expiresInSeconds * 1000;
    if (payment.expiresInSeconds > 0) this.#readsAfterDeadline = 0;
    if (payment.expiresInSeconds > 0 || !this.#timer) this.#tick();
    this.#host.requestUpdate();
    const previous = this.#lastEventStatus;
    if (previous !== payment.status) {
      this.#lastEventStatus = payment.status;
      this.#emit('psa-status-change', { payment, status: payment.status, previous });
      if (isDecided(phase)) this.#emit(`psa-${phase}`, { payment });
    }
    if (phase === 'paid') void this.#readDelivered();
    // An expired payment is still followed: it may be paid late.
    if (isDecided(phase) && phase !== 'expired') this.#stopFollowing();
  }

  /**
   * Ends following with an error. Where the payment's own token has expired, a retry with the checkout token that started
   * it gives a new one for the same attempt; any other checkout token would start a second payment.
   */
  #failFollowing(error: CheckoutError): void {
    this.#stopFollowing();
    const { token } = this.#host;
    const retryable =
      error.code === 'unauthorized' && Boolean(token) && this.#visit?.startedBy === keyOf(token as string);
    this.#fail({ ...error, retryable });
  }

  #fail(error: CheckoutError): void {
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

  #setConnection(connection: CheckoutConnection, transport?: Transport): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.#host.requestUpdate();
    this.#emit('psa-connection-change', { connection, transport });
  }

  #saveVisit(visit: Visit): void {
    this.#visit = visit;
    if (this.#key) saveVisit(this.#key, visit);
  }

  /** The endpoint as an absolute URL. The page at successUrl need not name it: the visit has it stored. */
  #endpoint(): string | undefined {
    const url = this.#host.endpoint || this.#visit?.endpoint;
    return url && URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : undefined;
  }

  #tick = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#deadlineMs === undefined || this.state.phase !== 'pending' || !this.#host.isConnected) return;
    const leftMs = this.#deadlineMs - performance.now();
    let nextMs = leftMs % 1000 || 1000;
    if (leftMs <= 0) {
      // At 0:00 the server decides; it is polled at growing intervals until it has.
      nextMs = Math.min(30_000, 2_000 * 2 ** this.#readsAfterDeadline++);
      void this.refresh();
    }
    this.#timer = setTimeout(this.#tick, nextMs);
    this.#host.requestUpdate();
  };

  /** Reconnects when the page is visible or online again: sockets and timers may have died unnoticed. */
  #wake = ({ type }: Event): void => {
    const { connection } = this;
    // An open connection keeps the page out of the back/forward cache in some browsers, and dies in it in others.
    if (type === 'pagehide') this.#stopFollowing();
    else if (type === 'offline') this.#following && this.#setConnection(type);
    else if (!(document.hidden || this.#starting || this.state.error)) {
      if (type === 'online' || !['live', 'connecting'].includes(connection)) this.#resume();
      // A connection that opens brings the state itself.
      if (connection !== 'connecting') void this.refresh();
      this.#tick();
    }
  };

  #emit(name: string, detail: object, cancelable = false): boolean {
    if ('payment' in detail) Object.assign(detail, { method: this.method });
    return this.#host.dispatchEvent(
      new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }),
    );
  }
}

function needsNewAttempt({ status }: CheckoutPayment): boolean {
  return status === 'EXPIRED' || status === 'FAILED';
}

/**
 * The visit without its payment, for the next one: of another attempt, or by another method of the same. It keeps the base,
 * by which the server recognizes the same purchase, and the last payments before: their codes and pages may still be paid.
 */
function nextPayment(
  { base, attempt, valueCents, endpoint, orderCode, paymentToken, earlier = [] }: Visit,
  attempts = 1,
): Visit {
  const open = earlier.filter((each) => each.orderCode !== orderCode);
  if (orderCode && paymentToken) open.push({ orderCode, paymentToken });
  return { base, attempt: attempt + attempts, valueCents, endpoint, earlier: open.slice(-2) };
}

function failure(code: CheckoutErrorCode, message: string): CheckoutError {
  return { code, message, retryable: code === 'aborted' };
}

/** Converts a thrown value: request.ts throws a CheckoutError; anything else is a chunk that did not load. */
function asCheckoutError(thrown: unknown): CheckoutError {
  const error = thrown as CheckoutError;
  return error.retryable !== undefined
    ? error
    : { code: 'network', message: String(thrown), retryable: true };
}
