import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { type AnswerTamper, createAsk, type Data, ERRORS } from './ask.ts';
import type { Instance } from './instance.ts';
import { SUBACCOUNT } from './service.ts';

const SECOND = 1_000;

/** A bill that a merchant wants to pay exactly once. */
export interface Invoice {
  readonly number: number;
  readonly kind: 'withdrawal' | 'subaccount';
  readonly method: 'PIX' | 'PIX_TURBO' | 'LTC';
  readonly destination: string;
  readonly amountCents: number;
}

/** A payout in the form of an answer. */
export interface PayoutAnswer {
  readonly __typename: 'Payout' | 'SubaccountPayout';
  readonly id: string;
  readonly withdrawalId: string | null;
  readonly code: string | null;
  readonly amountCents: number;
  readonly method?: string;
  readonly destination?: string;
  readonly pixKey?: string | null;
  readonly status: string;
  readonly final: boolean;
  readonly inDoubt: boolean;
  readonly version: number;
  readonly guidance?: string;
  readonly reversed?: boolean;
  readonly payoutId?: string | null;
}

/** One try to pay an invoice: an idempotency key, and its answers. */
export interface Attempt {
  readonly invoice: Invoice;
  readonly key: string;
  /** The payout in the newest answer. */
  payout: PayoutAnswer | null;
  id: string | null;
  /** Set if a request with this key has ended without an answer. */
  isUncertain: boolean;
  /** The instant at which the client acts next. */
  dueAt: Date;
  /** Set if the answers allow another attempt for this invoice. */
  isOver: boolean;
  stream: { close(): Promise<void> } | null;
}

/** Compares the client's answers with the truth. */
export interface Witness {
  /** Called before the client requests a payout with this key. */
  onRequest(attempt: Attempt): void;
  onShown(attempt: Attempt, payout: PayoutAnswer, where: string): void;
  /** Called when an answer says that there is no such payout. */
  onAbsent(attempt: Attempt, where: string): void;
  /** Called with each payout in a list, by any requester. */
  onListed(payout: PayoutAnswer): void;
  onUnexpected(what: string): void;
}

export type Outcome = 'open' | 'paid' | 'given up';

const PAYOUT = `__typename id withdrawalId code amountCents method destination status final inDoubt version`;
const SUBACCOUNT_PAYOUT = `__typename id payoutId withdrawalId code amountCents pixKey status reversed guidance final inDoubt version`;
const REQUEST_PAYOUT = `mutation ($input: RequestPayoutInput!) { answer: requestPayout(input: $input) {
  ... on RequestPayoutSuccess { __typename payout { ${PAYOUT} } } ${ERRORS} } }`;
const REQUEST_SUBACCOUNT_PAYOUT = `mutation ($input: RequestSubaccountPayoutInput!) { answer: requestSubaccountPayout(input: $input) {
  ... on RequestSubaccountPayoutSuccess { __typename payout: subaccountPayout { ${SUBACCOUNT_PAYOUT} } } ${ERRORS} } }`;
const BY_ID = `query ($id: ID!) { answer: node(id: $id) { ... on Payout { ${PAYOUT} } } }`;
const SUBACCOUNTS_BY_ID = `query ($id: ID!) { answer: node(id: $id) { ... on SubaccountPayout { ${SUBACCOUNT_PAYOUT} } } }`;
const BY_CODE = `query ($code: String) { answer: payout(code: $code) { ${PAYOUT} } }`;
const BY_REFERENCE = `query ($subaccountId: String!, $reference: String!) {
  answer: subaccountPayout(subaccountId: $subaccountId, reference: $reference) { ${SUBACCOUNT_PAYOUT} } }`;
const LIST = `query { answer: payouts(first: 50) { nodes { ${PAYOUT} } } }`;
const UNRESOLVED = `query { answer: requestsInDoubt { nodes {
  idempotencyKey payout { ${PAYOUT} } subaccountPayout { ${SUBACCOUNT_PAYOUT} } } } }`;
const UPDATES = `subscription ($id: ID) { payoutUpdates(id: $id) { payout { ${PAYOUT} } } }`;
const SUBACCOUNT_UPDATES = `subscription ($subaccountId: String!, $reference: String!) {
  payoutUpdates: subaccountPayoutUpdates(subaccountId: $subaccountId, reference: $reference) { payout: subaccountPayout { ${SUBACCOUNT_PAYOUT} } } }`;

/** The number of attempts after which a client gives up. */
const MOST_ATTEMPTS = 4;

/**
 * The client that follows the guidance of `schema.graphql` and of `server/docs` to the letter, and nothing else:
 *
 * - One idempotency key for each payout. Without an answer (a timeout, PreconditionError, an error of GraphQL):
 *   "repeat it with the same idempotencyKey, or look it up as saq_idem_<idempotencyKey>".
 * - RateLimitError: "Nothing was sent; wait that long". UpstreamError with `retryable`: "asking again may help", with the
 *   same key. With `moneyMayHaveMoved`: "do not repeat with a new key: look the payout up by lookupReference".
 * - Any other error without `moneyMayHaveMoved`: nothing was done. Where no earlier request with this key is without an
 *   answer, another key may be used.
 * - `inDoubt`: "Wait; do not request it again under another key."
 * - A withdrawal: COMPLETED and `final` is paid; DENIED and `final`, "the amount is back in the balance", may be paid
 *   once more. Without `final` only a webhook says so: wait.
 * - A payout of a subaccount: `guidance` alone. WAIT: wait. NONE: it is done. RETRY_WITH_NEW_KEY: "A new payout may be made,
 *   with a new idempotency key". CONTACT_SUPPORT: nothing that a program can do; it looks again later.
 * - "null says that there is none": it may be paid, with this key or with another.
 */
export function createClientOf({
  clock,
  random,
  instances,
  witness,
  count,
  note,
  tamper,
}: {
  clock: ManualClock;
  random: Random;
  instances: () => readonly Instance[];
  witness: Witness;
  count: (what: string) => void;
  note: (line: string) => void;
  tamper?: AnswerTamper | undefined;
}) {
  const chance = (oneIn: number) => random.below(oneIn) === 0;
  const attempts = new Map<Invoice, Attempt[]>();
  const busy = new Set<Attempt>();

  const ask = createAsk({ clock, random, tamper });
  const anyInstance = () => random.pick(instances());
  const waits = (attempt: Attempt, ms: number) => {
    attempt.dueAt = plusMs(clock.now(), ms);
  };
  const soon = () => random.pick([0, 0, 2, 5, 15, 60, 200, 1_000]) * SECOND;

  function see(attempt: Attempt, payout: PayoutAnswer, where: string): void {
    witness.onShown(attempt, payout, where);
    // "Of two answers the larger is the newer."
    if (!attempt.payout || payout.version >= attempt.payout.version) attempt.payout = payout;
    attempt.id = payout.id;
    attempt.isUncertain = false;
    if (attempt.payout.inDoubt) count('the client sees a payout in doubt');
    if (mayPayAgain(attempt.payout)) {
      const { withdrawalId, code } = attempt.payout;
      if (withdrawalId === null && code === null && !attempt.isOver) {
        count('never made');
        if (chance(2)) repeatLate(attempt);
      }
      attempt.isOver = true;
    }
    waits(attempt, soon());
  }

  function seeAbsent(attempt: Attempt, where: string): void {
    count(`absent: ${where}`);
    witness.onAbsent(attempt, where);
    attempt.isUncertain = false;
    attempt.payout = null;
    attempt.id = null;
    if (chance(2)) attempt.isOver = true;
    waits(attempt, soon());
  }

  /** A repetition by a proxy, or a request that was long on its way. Nobody reads its answer. */
  function repeatLate({ invoice, key }: Attempt): void {
    const at = plusMs(clock.now(), random.pick([0, 5, 60, 600, 3_000]) * SECOND);
    clock.schedule(at, () => {
      if (instances().length === 0) return;
      count('a request that arrives late');
      void send(invoice, key);
    });
  }

  function send({ kind, method, destination, amountCents }: Invoice, key: string) {
    const input =
      kind === 'withdrawal'
        ? { method, destination, amountCents, idempotencyKey: key }
        : { subaccountId: SUBACCOUNT, pixKey: destination, amountCents, idempotencyKey: key };
    const query = kind === 'withdrawal' ? REQUEST_PAYOUT : REQUEST_SUBACCOUNT_PAYOUT;
    return ask(anyInstance(), 'request', query, { input });
  }

  async function request(attempt: Attempt): Promise<void> {
    const { invoice, key } = attempt;
    witness.onRequest(attempt);
    const wasUncertain = attempt.isUncertain;
    attempt.isUncertain = true;
    const answer = await send(invoice, key);
    const said = answer?.data?.answer;
    note(`request ${key}: ${JSON.stringify(said ?? answer)}`);
    if (!said) {
      count('a request without an answer');
      return waits(attempt, soon());
    }
    count(`request: ${said.__typename}`);
    switch (said.__typename) {
      case 'RequestPayoutSuccess':
      case 'RequestSubaccountPayoutSuccess':
        return see(attempt, said.payout, 'request');
      case 'RateLimitError':
        // This request was not sent, which says nothing about an earlier one with the same key.
        attempt.isUncertain = wasUncertain;
        return waits(attempt, said.retryAfterSeconds * SECOND);
      case 'PreconditionError':
        return waits(attempt, soon());
      case 'UpstreamError':
        if (said.moneyMayHaveMoved) return waits(attempt, soon());
        attempt.isUncertain = wasUncertain;
        if (said.retryable) return waits(attempt, soon());
        return refused(attempt);
      case 'IdempotencyError':
        return witness.onUnexpected(`the key ${key} is refused: ${said.message}`);
      default:
        attempt.isUncertain = wasUncertain;
        return refused(attempt);
    }
  }

  function refused(attempt: Attempt): void {
    if (!attempt.isUncertain && !attempt.payout && chance(2)) attempt.isOver = true;
    waits(attempt, soon());
  }

  /** Looks a payout up in any of the possible ways. */
  async function lookUp(attempt: Attempt): Promise<void> {
    const { invoice, key, payout, id } = attempt;
    const isSubaccounts = invoice.kind === 'subaccount';
    const way = random.pick(['id', 'id', 'name', 'list', 'unresolved'] as const);
    if (way === 'name' && isSubaccounts)
      return await look('by reference', BY_REFERENCE, {
        subaccountId: SUBACCOUNT,
        reference: random.pick([null, payout?.withdrawalId, payout?.code]) ?? `saq_idem_${key}`,
      });
    if (way === 'name' && payout?.code) return await look('by code', BY_CODE, { code: payout.code });
    if (way === 'list' && !isSubaccounts) {
      const nodes = (await ask(anyInstance(), 'list', LIST, {}))?.data?.answer?.nodes as
        | PayoutAnswer[]
        | undefined;
      for (const each of nodes ?? []) witness.onListed(each);
      const mine = nodes?.find((each) => each.id === id);
      if (mine) return see(attempt, mine, 'list');
      return waits(attempt, soon());
    }
    if (way === 'unresolved') {
      const open = (await ask(anyInstance(), 'unresolved', UNRESOLVED, {}))?.data?.answer?.nodes as
        | Data[]
        | undefined;
      const mine = open?.find(({ idempotencyKey }) => idempotencyKey === key);
      const shown = mine?.payout ?? mine?.subaccountPayout;
      if (shown) return see(attempt, shown, 'unresolved');
      return waits(attempt, soon());
    }
    if (id) return await look('by id', isSubaccounts ? SUBACCOUNTS_BY_ID : BY_ID, { id });
    if (isSubaccounts)
      return await look('by reference', BY_REFERENCE, {
        subaccountId: SUBACCOUNT,
        reference: `saq_idem_${key}`,
      });

    async function look(where: string, query: string, variables: object): Promise<void> {
      const answer = await ask(anyInstance(), where, query, variables);
      note(`look ${where} ${key}: ${JSON.stringify(answer)}`);
      if (!answer?.data || answer.errors.length > 0) return waits(attempt, soon());
      if (answer.data.answer === null) return seeAbsent(attempt, where);
      see(attempt, answer.data.answer, where);
    }
  }

  function follow(attempt: Attempt): void {
    const { invoice, key, id } = attempt;
    const instance = anyInstance();
    const stream =
      invoice.kind === 'withdrawal'
        ? instance.client.sse(UPDATES, { id: id! })
        : instance.client.sse(SUBACCOUNT_UPDATES, { subaccountId: SUBACCOUNT, reference: `saq_idem_${key}` });
    attempt.stream = stream;
    count('a payout is followed');
    void (async () => {
      let version = 0;
      try {
        for await (const { data } of stream) {
          const payout = data?.payoutUpdates?.payout as PayoutAnswer | undefined;
          if (!payout || attempt.stream !== stream) break;
          const altered = tamper ? tamper({ answer: payout }, 'update').answer : payout;
          note(`update ${key}: ${JSON.stringify(altered)}`);
          if (!altered) continue;
          if (altered.version < version)
            witness.onUnexpected(
              `the updates of ${key} go back from version ${version} to ${altered.version}`,
            );
          version = altered.version;
          count('an update');
          see(attempt, altered, 'update');
        }
      } catch {
        // The instance was killed; the client continues in other ways.
      }
      if (attempt.stream === stream) attempt.stream = null;
    })();
  }

  function unfollow(attempt: Attempt): Promise<void> {
    const { stream } = attempt;
    attempt.stream = null;
    return stream?.close() ?? Promise.resolve();
  }

  function newAttempt(invoice: Invoice): Attempt {
    const before = attempts.get(invoice) ?? [];
    const attempt: Attempt = {
      invoice,
      payout: null,
      id: null,
      isUncertain: false,
      isOver: false,
      stream: null,
      key: `fatura-${invoice.number}.${before.length + 1}`,
      dueAt: clock.now(),
    };
    attempts.set(invoice, [...before, attempt]);
    return attempt;
  }

  async function act(attempt: Attempt): Promise<void> {
    const { payout, isUncertain, invoice } = attempt;
    if (!payout) {
      // "After a timeout, repeat it with the same idempotencyKey, or look it up as saq_idem_<idempotencyKey>."
      const looksUp = isUncertain && (invoice.kind === 'subaccount' || attempt.id !== null) && chance(2);
      return looksUp ? lookUp(attempt) : request(attempt);
    }
    if (chance(6)) return request(attempt);
    if (!attempt.stream && chance(3)) {
      follow(attempt);
      return waits(attempt, 20 * SECOND);
    }
    return lookUp(attempt);
  }

  return {
    outcomeOf(invoice: Invoice): Outcome {
      const all = attempts.get(invoice) ?? [];
      const last = all.at(-1);
      if (last?.payout && isPaid(last.payout)) return 'paid';
      return all.length >= MOST_ATTEMPTS && last!.isOver ? 'given up' : 'open';
    },
    attemptsOf: (invoice: Invoice): readonly Attempt[] => attempts.get(invoice) ?? [],
    /** Begins the invoice's next step if it is due; with `now`, at once. */
    begin(invoice: Invoice, now = false): void {
      let attempt = attempts.get(invoice)?.at(-1) ?? newAttempt(invoice);
      if (busy.has(attempt)) return;
      if (attempt.isOver) {
        void unfollow(attempt);
        if (attempts.get(invoice)!.length >= MOST_ATTEMPTS) return;
        attempt = newAttempt(invoice);
        count('another key for an invoice');
      }
      if (!now && attempt.dueAt > clock.now()) return;
      // A paid invoice is read now and then, which changes nothing.
      if (attempt.payout && isPaid(attempt.payout) && !now) return;
      const acting = attempt;
      busy.add(acting);
      void act(acting)
        .catch((error: Error) => witness.onUnexpected(error.stack ?? error.message))
        .finally(() => busy.delete(acting));
    },
    /** Reads the newest payouts, as an operator's dashboard does. */
    list: (instance: Instance) => ask(instance, 'list', LIST, {}),
    /** Reads the payout by its id at an instance; undefined without an answer. */
    async readById(instance: Instance, id: string): Promise<PayoutAnswer | null | undefined> {
      const isSubaccounts = Buffer.from(id, 'base64').toString().startsWith('SubaccountPayout:');
      const answer = await ask(instance, 'by id', isSubaccounts ? SUBACCOUNTS_BY_ID : BY_ID, { id });
      return answer?.data && answer.errors.length === 0 ? answer.data.answer : undefined;
    },
    /** Reads the payouts of all its answers once more: any of them may have changed since. */
    async lookAgain(): Promise<void> {
      for (const attempt of [...attempts.values()].flat()) {
        if (attempt.id === null) continue;
        const payout = await this.readById(anyInstance(), attempt.id);
        if (payout) see(attempt, payout, 'in the end');
      }
    },
    /**
     * The facade was restored. "Read the state again", for versions are given twice; what was in doubt: "Request it with the same
     * key, and no other".
     */
    async readAgain() {
      for (const attempt of [...attempts.values()].flat()) {
        await unfollow(attempt);
        if (attempt.payout?.inDoubt) Object.assign(attempt, { payout: null, id: null, isUncertain: true });
        else if (attempt.payout) attempt.payout = { ...attempt.payout, version: 0 };
      }
    },
    async close() {
      await Promise.all([...attempts.values()].flat().map(unfollow));
    },
  };
}

function isPaid({ __typename, status, final, guidance }: PayoutAnswer): boolean {
  return __typename === 'Payout' ? status === 'COMPLETED' && final : guidance === 'NONE';
}

function mayPayAgain({ __typename, status, final, guidance }: PayoutAnswer): boolean {
  return __typename === 'Payout' ? status === 'DENIED' && final : guidance === 'RETRY_WITH_NEW_KEY';
}
