import type { ReactiveController } from 'lit';
import { isNews } from './announced.ts';
import { asCheckoutError, failure } from './checkout-error.ts';
import type { CheckoutHost } from './checkout-host.ts';
import { CheckoutModel } from './checkout-model.ts';
import { type CheckoutError, idOf, isDecided, isFollowable, isOutcome, isStarted } from './checkout-state.ts';
import { Chunks } from './chunks.ts';
import { createCountdown } from './countdown.ts';
import { CurrentVisit, needsNewAttempt, nextPayment, without } from './current-visit.ts';
import { type Delivered, readDelivered } from './delivered-content.ts';
import { followAccess } from './following.ts';
import type { CheckoutMethod } from './methods.ts';
import { OfferedMethods } from './offered-methods.ts';
import type { CheckoutPayment, DeliveredContent, StartCheckoutInput } from './operations.ts';
import { createPaymentPage } from './payment-page.ts';
import type { PaymentOptions } from './request.ts';
import { ServiceWatch } from './service-watch.ts';
import { attemptId, keyOf, methodOf, type PaymentAccess, type Visit } from './storage.ts';

/** Starts a payment, opens its page, follows it to its end, and finds it again after a reload. */
export class CheckoutController extends CheckoutModel implements ReactiveController {
  readonly chunks = new Chunks(this);
  readonly page = createPaymentPage(this, () => void this.refresh());
  readonly #visits = new CurrentVisit();
  readonly #watch = new ServiceWatch(this);
  readonly countdown = createCountdown(
    () => this.state.phase === 'pending' && this.host.isConnected,
    this.#watch.tick,
    () => void this.refresh(),
  );
  #following: AbortController | undefined;
  #delivered: Delivered | undefined;
  #starting: Promise<void> | undefined;
  #connected: AbortController | undefined;
  #creating: AbortController | undefined;
  #refreshing: Promise<void> | undefined;
  /** The payment of the last event about a status: no status of a payment is announced twice in a row. */
  #announced: CheckoutPayment | undefined;
  readonly #offered: OfferedMethods;

  constructor(host: CheckoutHost) {
    super(host);
    this.#offered = new OfferedMethods(host);
    host.addController(this);
  }

  hostConnected(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    for (const type of ['visibilitychange', 'pageshow', 'pagehide', 'online', 'offline'])
      addEventListener(type, this.#wake, { signal });
    // An element that was moved in the document, or mounted twice by a framework's strict mode, resumes where it stopped.
    this.#resume();
  }

  hostDisconnected(): void {
    this.#connected?.abort();
    this.#stopFollowing();
    // A request that creates a payment is not aborted, because the server may have created it already; its answer is stored.
  }

  /** The content that the shown payment has delivered. */
  get content(): DeliveredContent[] {
    const { payment } = this.state;
    return payment && this.#delivered?.paymentKey === idOf(payment) ? this.#delivered.items : [];
  }

  /** The methods that the payer can choose. */
  get methods(): CheckoutMethod[] {
    return this.#offered.list;
  }

  /** The payment in the address of a page without token and endpoint, if nothing is stored of it. */
  get returned(): string | undefined {
    return this.#visits.returned;
  }

  /** Asks the server which methods the token takes. */
  readMethods(): Promise<void> {
    return this.#offered.read(this.#visits.endpointOf(this.host));
  }

  /** Finds the payment of this page again: by the attributes, the address or this tab's storage. */
  restore(): void {
    // Attributes that change during a start apply after it.
    if (this.#starting) return void this.#starting.then(() => this.restore());
    if (this.#visits.restore(this.host)) this.#showVisit();
    // The endpoint may have been set after the payment's names.
    else if (this.resuming) this.#resume();
  }

  /** Shows the payment of the visit, or the button if it has none, and follows payments that may still be paid. */
  #showVisit(): void {
    const { visit, cancelled } = this.#visits;
    const { paymentKey, paymentToken, payment } = visit ?? {};
    this.#stopFollowing();
    this.countdown.set();
    this.method = paymentKey ? methodOf(paymentKey) : undefined;
    this.resuming = Boolean(paymentKey && paymentToken && !payment);
    this.apply({ type: 'reset' });
    if (payment && paymentToken) this.apply({ type: 'answered', payment });
    if (cancelled) this.apply({ type: 'cancelled' });
    this.#resume();
  }

  /** Loads the chunks of a method. Called as soon as a click is likely, so that the click does not wait for them. */
  load(method = this.method): ReturnType<Chunks['load']> {
    return this.chunks.load(method);
  }

  /**
   * Starts a payment; must be called in a click. Concurrent calls share one promise and one payment. If another method is
   * chosen while a payment is open, the same attempt gets a second payment: the server keeps the one that is paid first.
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

  /** Whether a retry reads the payment again instead of starting one. */
  get canReadAgain(): boolean {
    const { error } = this.state;
    return Boolean(
      error && !(error.code === 'unauthorized' && error.retryable) && this.#visits.visit?.paymentKey,
    );
  }

  /** Starts a new attempt after an expiry or a failure, and repeats the same one after an error. Must be called in a click. */
  async retry(): Promise<void> {
    const { phase, payment } = this.state;
    if (this.canReadAgain) {
      if (payment) this.apply({ type: 'answered', payment });
      else {
        this.apply({ type: 'reset' });
        this.resuming = true;
      }
      this.#resume();
    } else if (phase !== 'idle') await this.start(this.method);
  }

  /**
   * Returns to the button. An open payment stays with this visit: the next click finds it again, and it is
   * shown if the payer still pays it, in its window or with its code.
   */
  reset(): void {
    const { payment } = this.state;
    if (this.#creating) {
      this.#creating.abort();
      this.#creating = this.#starting = undefined;
      this.report(failure('aborted', 'reset'));
    }
    this.page.close();
    this.#visits.forget(payment);
    this.#showVisit();
  }

  async #create(method: CheckoutMethod | undefined): Promise<void> {
    const host = this.host;
    const { phase } = this.state;
    const isSwitch = phase === 'pending' && method !== this.method;
    if ((isStarted(phase) && !isSwitch) || this.resuming || host.disabled) return;
    if (!this.emit('psa-before-start', { method }, true)) return;
    const endpoint = this.#visits.endpointOf(this.host);
    const { token, customer, amountCents } = host;
    if (!endpoint || !token || !method) {
      // The chunk contains the text of the error.
      await this.load().catch(() => undefined);
      this.fail(failure('not_configured', 'no endpoint, token or method'));
      return;
    }
    let visit = this.#visits.next(method, amountCents);
    visit = { ...visit, valueCents: amountCents, endpoint, startedBy: keyOf(token) };
    // Saved before the request: a reload during it must retry with the same attempt id.
    this.#visits.save(visit);
    this.#stopFollowing();
    const opened = method === 'pix' ? undefined : this.page.open();
    this.countdown.set();
    this.#creating = new AbortController();
    const { signal } = this.#creating;
    this.#setMethod(method);
    // The page may reset the element in its listener.
    if (!signal.aborted) this.apply({ type: 'started' });
    try {
      const { startCheckout } = await this.load();
      for (let tries = 1; ; tries++) {
        const input = { attemptId: attemptId(visit), amountCents, customer } as StartCheckoutInput;
        const options = { endpoint, token, method, input, signal, host, visit, visits: this.#visits };
        const { payment, paymentToken, token: used = token } = await startCheckout(options);
        this.#watch.note(payment);
        visit = { ...visit, paymentKey: idOf(payment), paymentToken, payment, startedBy: keyOf(used) };
        // This visit's earlier payment may have expired unseen, but the click needs one that can be paid.
        if (needsNewAttempt(payment) && tries < 3) {
          visit = nextPayment(visit);
          this.#visits.save(visit);
          continue;
        }
        this.#visits.save(visit);
        this.#creating = undefined;
        this.#applyAnswer(payment);
        this.emit('psa-created', { payment });
        if (this.state.phase === 'pending' && method === 'card') this.page.show(opened);
        else opened?.close();
        break;
      }
      if (!isDecided(this.state.phase)) void this.#follow();
    } catch (error) {
      opened?.close();
      if (signal.aborted) return;
      const refusal = asCheckoutError(error);
      // The server knows this id with another input, so a payment of that input exists. The next click is a new attempt.
      if (refusal.code === 'conflict') this.#visits.save(nextPayment(visit));
      // Cleared before the event: the page may retry in its listener.
      this.#creating = this.#starting = undefined;
      // The server has accepted the token on this page, so a reload brings a new token if that has ended since.
      const mayReload = this.#offered.taken && /expired|revoked/.test(refusal.message);
      this.fail({ ...refusal, mayReload: (mayReload && refusal.code === 'unauthorized') || undefined });
      // The payment before it, of another method or expired, may still be paid.
      this.#resume();
    }
  }

  #resume(): void {
    if (!this.#starting) void this.#follow();
  }

  async #refreshOnce(): Promise<void> {
    const options = this.#options();
    if (!options) return;
    const { paymentKey } = options;
    try {
      const { readPayment } = await this.load();
      await this.#receive(this.#watch.note(await readPayment(options)));
    } catch (thrown) {
      const error = asCheckoutError(thrown);
      if (!error.retryable && this.#isCurrent(paymentKey)) this.#failFollowing(error);
    }
  }

  /**
   * Follows the visit's payment and earlier ones, until the next call; after an error only the earlier ones.
   * A payment with an outcome is read once.
   */
  async #follow(): Promise<void> {
    this.#stopFollowing();
    const { visit = {} as Visit } = this.#visits;
    const { payment, error: failed } = this.state;
    const paymentToken = failed ? undefined : visit.paymentToken;
    const isOver = payment && !isFollowable(payment);
    const others = without(visit, visit);
    const endpoint = this.#visits.endpointOf(this.host);
    if (!(paymentToken || others[0]) || !endpoint || !this.host.isConnected) return;
    this.#following = new AbortController();
    const { signal } = this.#following;
    if (paymentToken && !isOver) {
      this.countdown.tick();
      this.connect('connecting');
    }
    try {
      const chunk = await this.load();
      if (isOver) {
        this.#following = undefined;
        return this.refresh();
      }
      const options = { endpoint, transport: this.host.transport, signal, onConnection: () => undefined };
      for (const access of others)
        void followAccess(chunk, access, options, (payment) => this.#adopt(payment, access)).then(
          () => signal.aborted || this.#visits.forgetEarlier(access),
        );
      if (!paymentToken) return;
      const error = await followAccess(
        chunk,
        visit as PaymentAccess,
        { ...options, onConnection: this.connect },
        (payment) => void this.#receive(payment),
      );
      if (error && !signal.aborted) this.#failFollowing(error);
    } catch {
      // The chunk failed to load twice. The payment may still be paid, so following is retried.
      if (signal.aborted) return;
      if (paymentToken) this.connect('reconnecting');
      setTimeout(() => signal.aborted || this.#follow(), 5_000);
    }
  }

  #stopFollowing(): void {
    this.#following?.abort();
    this.#following = this.#refreshing = undefined;
    this.countdown.stop();
    this.connect('idle');
  }

  /** Shows an earlier payment of the visit instead of the open one, once it is paid: the server keeps only that one. */
  #adopt(payment: CheckoutPayment, access: PaymentAccess): void {
    access.status = payment.status;
    if (payment.status !== 'PAID') return;
    this.#visits.save({ ...(this.#visits.visit as Visit), ...access, earlier: undefined });
    this.#setMethod(methodOf(idOf(payment)));
    this.#applyAnswer(payment);
  }

  #isCurrent = (paymentKey: string | undefined) => paymentKey === this.#visits.visit?.paymentKey;

  #setMethod(method: CheckoutMethod): void {
    if (this.method === method) return;
    this.method = method;
    if (this.methods[1]) this.emit('psa-method-change', { method });
  }

  /** Applies an answer about the visit's payment. If its order is paid, an earlier payment of the visit may have paid it. */
  async #receive(answer: CheckoutPayment): Promise<void> {
    const isCurrent = () => this.#isCurrent(idOf(answer));
    for (const access of (answer.orderPaid && this.#visits.visit?.earlier) || []) {
      const { readPayment } = await this.load();
      const payment = await readPayment(this.#options(access) as PaymentOptions).catch(() => undefined);
      if (payment && isCurrent()) this.#adopt(payment, access);
    }
    if (isCurrent()) this.#applyAnswer(answer);
  }

  /** Applies an answer of the server; every answer about the payment passes here. */
  #applyAnswer(answer: CheckoutPayment): void {
    this.resuming = false;
    const { error } = this.state;
    this.#watch.hear();
    this.apply({ type: 'answered', payment: answer });
    const { payment, phase } = this.state;
    if (payment !== answer) return;
    this.#visits.update({ payment });
    this.countdown.set(payment.expiresInSeconds);
    const announced = this.#announced;
    const previous = announced && idOf(announced) === idOf(payment) ? announced.status : undefined;
    // Outside of a document no listener gets the event: the element announces it when it is inserted again.
    if (previous !== payment.status && this.host.isConnected) {
      this.#announced = payment;
      this.emit('psa-status-change', { payment, status: payment.status, previous });
      // If another payment of the order was paid, only the event of the phase is dispatched.
      if (isOutcome(phase) && isNews(payment)) this.emit(`psa-${phase}`, { payment });
    }
    if (phase === 'paid') void this.#readDelivered();
    // An expired payment is still followed, because it may be paid late. After an error nothing is followed.
    if (!isFollowable(payment)) this.#stopFollowing();
    else if (error) this.#resume();
  }

  async #readDelivered(): Promise<void> {
    const options = this.#options();
    const delivered = options && (await readDelivered(this.chunks, options, this.#delivered));
    if (this.#isCurrent(delivered?.paymentKey)) this.#delivered = delivered;
    this.host.requestUpdate();
  }

  /**
   * Stops following with an error. If the payment's own token has expired, a retry with the checkout token that started it
   * gets a new one for the same attempt; any other checkout token would start a second payment.
   */
  #failFollowing(error: CheckoutError): void {
    this.#stopFollowing();
    const startedBy = keyOf(String(this.host.token));
    const retryable =
      error.retryable || (error.code === 'unauthorized' && this.#visits.visit?.startedBy === startedBy);
    this.fail({ ...error, retryable });
  }

  /** The options of a request about the payment, or an earlier one; undefined if there is none. */
  #options(access: Partial<PaymentAccess> = this.#visits.visit ?? {}): PaymentOptions | undefined {
    const { paymentKey, paymentToken: token } = access;
    const endpoint = this.#visits.endpointOf(this.host);
    return paymentKey && token && endpoint
      ? { endpoint, token, method: methodOf(paymentKey), paymentKey }
      : undefined;
  }

  /** Reconnects when the page is visible or online again: sockets and timers may have died unnoticed. */
  #wake = ({ type }: Event): void => {
    const { connection } = this;
    // In some browsers an open connection keeps the page out of the back/forward cache; in others it dies there.
    if (type === 'pagehide') this.#stopFollowing();
    else if (type === 'offline') this.#following && this.connect(type);
    else if (!(document.hidden || this.#starting)) {
      if (type === 'online' || (connection !== 'live' && connection !== 'connecting')) this.#resume();
      // A connection that opens delivers the state itself.
      if (connection !== 'connecting' && !this.state.error) void this.refresh();
      this.countdown.tick();
    }
  };
}
