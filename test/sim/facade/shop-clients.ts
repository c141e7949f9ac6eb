import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { createAsk, type Data, ERRORS } from './ask.ts';
import type { Instance } from './instance.ts';
import { SUBACCOUNT } from './service.ts';

const SECOND = 1_000;
/** The number of keys after which a merchant gives up. */
const MOST_KEYS = 3;

/** A transfer to a subaccount, or a refund, that a merchant wants exactly once. */
export interface Errand {
  readonly kind: 'transfer' | 'refund';
  readonly name: string;
  readonly amountCents: number;
  /** The refunded payment. */
  readonly paymentId: string | null;
  /** The used keys, the current one last. */
  readonly keys: string[];
  state: 'open' | 'done' | 'given up';
  /** Set if a request with this key has ended without an answer, or is in doubt. */
  isUncertain: boolean;
  requestedAt: Date | null;
  dueAt: Date;
}

/** A purchase that a shop sells by a token of single use. */
export interface Sale {
  readonly name: string;
  readonly methods: readonly ('CARD' | 'PIX')[];
  readonly amountCents: number;
  readonly externalId: string | null;
  token: string | null;
  mintedAt: Date | null;
}

/** The element on one device of a sale's payer, with the data that it keeps over a reload. */
export interface Page {
  readonly sale: Sale;
  readonly attemptId: string;
  retries: number;
  started: Started | null;
  state: 'open' | 'paid' | 'ended';
  dueAt: Date;
}

interface Started {
  readonly id: string;
  readonly method: 'CARD' | 'PIX';
  readonly paymentToken: string;
  status: string;
}

/** Compares the clients' answers with the service's tables. */
export interface ShopWitness {
  onDone(errand: Errand): void;
  /** Called when an answer says that a refund does not exist. */
  onAbsent(errand: Errand): void;
  onPaid(page: Page, id: string): void;
  onUnexpected(what: string): void;
}

const TRANSFER = `mutation ($input: TransferToSubaccountInput!) { answer: transferToSubaccount(input: $input) {
  ... on TransferToSubaccountSuccess { __typename } ${ERRORS} } }`;
const REFUND = `mutation ($input: RefundPaymentInput!) { answer: refundPayment(input: $input) {
  ... on RefundPaymentSuccess { __typename } ${ERRORS} } }`;
const REFUND_BY_KEY = `query ($refundId: String!) { answer: refund(refundId: $refundId) { refundId } }`;
const MINT = `mutation ($input: CreateCheckoutTokenInput!) { answer: createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { __typename token } ... on UserError { __typename code message } } }`;
const PAUSE = `mutation ($token: String!) { answer: pauseToken(token: $token) {
  ... on PauseTokenSuccess { __typename } ... on UserError { __typename code message } } }`;
const START = {
  CARD: `mutation ($input: StartCheckoutInput!) { answer: startCheckout(input: $input) {
    ... on StartCheckoutSuccess { __typename paymentToken payment: cardPayment { id: orderCode status } } ${ERRORS} } }`,
  PIX: `mutation ($input: StartCheckoutInput!) { answer: startPixCheckout(input: $input) {
    ... on StartPixCheckoutSuccess { __typename paymentToken payment { id: paymentId status } } ${ERRORS} } }`,
};
const READ = {
  CARD: `query ($id: String!) { answer: cardPayment(orderCode: $id) { status } }`,
  PIX: `query ($id: String!) { answer: payment(paymentId: $id) { status } }`,
};

/**
 * A shop, its merchant and its payers, who follow the guidance and nothing else:
 *
 * - A transfer or a refund has one key. Without an answer, or in doubt: the same key again, and no other. Refused, and never in
 *   doubt: another key may be used. A refund that a lookup by its key does not find was not made.
 * - An element starts a payment under the attempt id that it keeps; the same one until the payment has expired or failed, then
 *   `.2`, `.3`, …. Its payer pays on a page that it has been shown open. A payment that it cannot read any more is started
 *   again, as after a reload.
 * - A shop mints another token for a sale whose token is gone once the service's books show that nothing of it is paid or open.
 */
export function createShopClients({
  clock,
  random,
  instances,
  witness,
  count,
  note,
  pay,
}: {
  clock: ManualClock;
  random: Random;
  instances: () => readonly Instance[];
  witness: ShopWitness;
  count: (what: string) => void;
  note: (line: string) => void;
  /** Pays at the service as a payer does. */
  pay: (id: string) => unknown;
}) {
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const ask = createAsk({ clock, random });
  const busy = new Set<object>();
  const anyInstance = () => random.pick(instances());
  const waits = (whose: Errand | Page, ms = random.pick([0, 0, 2, 5, 15, 60, 200, 1_000]) * SECOND) => {
    whose.dueAt = plusMs(clock.now(), ms);
  };

  // ── The merchant ──

  async function request(errand: Errand): Promise<void> {
    const { kind, amountCents, paymentId, keys } = errand;
    const idempotencyKey = keys.at(-1)!;
    const wasUncertain = errand.isUncertain;
    errand.isUncertain = true;
    errand.requestedAt = clock.now();
    const input = {
      amountCents,
      idempotencyKey,
      ...(paymentId ? { paymentId } : { subaccountId: SUBACCOUNT }),
    };
    const answer = await ask(anyInstance(), kind, kind === 'transfer' ? TRANSFER : REFUND, { input });
    const said = answer?.data?.answer;
    note(`${kind} ${idempotencyKey}: ${JSON.stringify(said ?? answer)}`);
    count(`${kind}: ${said?.__typename ?? 'no answer'}`);
    waits(errand);
    switch (said?.__typename) {
      case undefined:
      case 'PreconditionError':
        return;
      case 'TransferToSubaccountSuccess':
      case 'RefundPaymentSuccess':
        Object.assign(errand, { state: 'done', isUncertain: false });
        return witness.onDone(errand);
      case 'RateLimitError':
        errand.isUncertain = wasUncertain;
        return waits(errand, said.retryAfterSeconds * SECOND);
      case 'UpstreamError':
        if (said.moneyMayHaveMoved) return;
        errand.isUncertain = wasUncertain;
        return said.retryable ? undefined : refused(errand);
      case 'IdempotencyError':
        return witness.onUnexpected(`the key ${idempotencyKey} is refused: ${said.message}`);
      default:
        errand.isUncertain = wasUncertain;
        return refused(errand);
    }
  }

  function refused(errand: Errand): void {
    if (!errand.isUncertain && chance(2)) useAnotherKey(errand);
  }

  function useAnotherKey(errand: Errand): void {
    if (errand.keys.length === MOST_KEYS) errand.state = 'given up';
    else errand.keys.push(`${errand.name}.${errand.keys.length + 1}`);
  }

  /** "null says that there is none." */
  async function lookUpRefund(errand: Errand): Promise<void> {
    const refundId = `ref_idem_${errand.keys.at(-1)}`;
    const answer = await ask(anyInstance(), 'refund', REFUND_BY_KEY, { refundId });
    note(`look ${refundId}: ${JSON.stringify(answer)}`);
    waits(errand);
    if (!answer?.data || answer.errors.length > 0) return;
    errand.isUncertain = false;
    if (answer.data.answer === null) {
      count('a refund is absent');
      witness.onAbsent(errand);
      if (chance(2)) useAnotherKey(errand);
      return;
    }
    errand.state = 'done';
    witness.onDone(errand);
  }

  async function mint(sale: Sale): Promise<void> {
    const { name, methods, amountCents, externalId } = sale;
    const input = {
      amount: { fixedCents: amountCents },
      methods,
      metadata: JSON.stringify(name),
      ...(externalId && { externalId }),
    };
    const at = clock.now();
    const answer = await ask(anyInstance(), 'mint', MINT, { input });
    const said = answer?.data?.answer;
    note(`mints a token of ${name}: ${said?.__typename}`);
    if (said?.token !== undefined) Object.assign(sale, { token: said.token, mintedAt: at });
    else if (said) witness.onUnexpected(`a token is refused: ${said.message}`);
  }

  // ── Payers ──

  async function start(page: Page): Promise<void> {
    const { sale, attemptId, retries } = page;
    const method = random.pick(sale.methods);
    const input = { attemptId: retries === 0 ? attemptId : `${attemptId}.${retries + 1}` };
    const answer = await ask(anyInstance(), 'start', START[method], { input }, sale.token!);
    const said = answer?.data?.answer;
    note(`starts ${sale.name} by ${method}, ${input.attemptId}: ${JSON.stringify(said ?? answer)}`);
    waits(page);
    if (answer && isUnknown(answer.errors)) return loseToken(sale);
    if (!said) return;
    count(`start: ${said.code ?? said.__typename}`);
    if (said.code === 'ORDER_PAID' || said.code === 'ORDER_REFUNDED') page.state = 'ended';
    if (!said.paymentToken) return;
    const { id, status } = said.payment;
    page.started = { id, method, status, paymentToken: said.paymentToken };
    see(page, status);
  }

  async function read(page: Page, { id, method, paymentToken }: Started): Promise<void> {
    const answer = await ask(anyInstance(), 'read', READ[method], { id }, paymentToken);
    note(`reads ${id}: ${JSON.stringify(answer)}`);
    waits(page);
    if (answer && (isUnknown(answer.errors) || (answer.errors.length === 0 && answer.data?.answer === null)))
      page.started = null;
    else if (answer?.data?.answer) see(page, answer.data.answer.status);
  }

  function see(page: Page, status: string): void {
    const started = page.started!;
    started.status = status;
    if (status === 'PAID') {
      page.state = 'paid';
      witness.onPaid(page, started.id);
    }
    if (status !== 'EXPIRED' && status !== 'FAILED') return;
    page.started = null;
    page.retries += 1;
  }

  /** Whether the facade does not know the token: it was minted after the backup. */
  function isUnknown(errors: readonly Data[]): boolean {
    return errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  }

  function loseToken(sale: Sale): void {
    count('a token is gone');
    sale.token = null;
  }

  async function act(page: Page): Promise<void> {
    const { started } = page;
    if (!started) return start(page);
    if (started.status === 'PENDING' && chance(3)) pay(started.id);
    return read(page, started);
  }

  function begin(whose: Errand | Page | Sale, work: () => Promise<void>): void {
    if (busy.has(whose) || instances().length === 0) return;
    busy.add(whose);
    void work()
      .catch((error: Error) => witness.onUnexpected(error.stack ?? error.message))
      .finally(() => busy.delete(whose));
  }

  return {
    beginErrand(errand: Errand, now = false): void {
      if (errand.state !== 'open' || (!now && errand.dueAt > clock.now())) return;
      const looksUp = errand.kind === 'refund' && errand.isUncertain && chance(3);
      begin(errand, () => (looksUp ? lookUpRefund(errand) : request(errand)));
    },
    beginPage(page: Page, now = false): void {
      // A payment is followed with its own token, also after the token that started it is gone.
      const isIdle = page.state !== 'open' || (page.sale.token === null && !page.started);
      if (isIdle || (!now && page.dueAt > clock.now())) return;
      begin(page, () => act(page));
    },
    beginSale(sale: Sale): void {
      if (sale.token === null) begin(sale, () => mint(sale));
    },
    /** Pauses the token of a sale for good. Returns false if the outcome is not known. */
    async pause({ token, name }: Sale): Promise<boolean> {
      const answer = await ask(anyInstance(), 'pause', PAUSE, { token });
      note(`pauses the token of ${name}: ${JSON.stringify(answer)}`);
      return answer?.data?.answer?.__typename === 'PauseTokenSuccess';
    },
    /** "Let every system that requests money repeat, with the same keys, what it has requested since then." */
    repeatSince(errands: readonly Errand[], since: Date): void {
      for (const errand of errands)
        if (errand.state === 'done' && errand.requestedAt! >= since)
          Object.assign(errand, { state: 'open', isUncertain: true });
    },
  };
}
