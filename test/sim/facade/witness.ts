import type { Attempt, Invoice, Outcome, PayoutAnswer, Witness } from './client.ts';
import type { Service, TruePayout } from './service.ts';

const OTHERS = 'no payout is reported as another one';
const ABSENT = 'no payout is reported absent that exists or may yet be made';
const TWICE = 'no invoice is paid twice';
const FINAL = 'what is final is never contradicted';
const ID = 'an id never changes its meaning';
const UNEXPECTED = 'an answer can be acted on';
const END = 'in the end every invoice is paid, or the reason is known';

/** Compares the client's answers with the service's own tables. */
export interface Judge extends Witness {
  /** Called when the service has created a payout. */
  onMade(payout: TruePayout): void;
  /** Called with the payout that is shown for an id. */
  onId(id: string, payout: PayoutAnswer, where: string): void;
  /** Every id that was ever shown. */
  ids(): readonly string[];
  checkOnce(invoice: Invoice): void;
  checkEnd(invoice: Invoice, outcome: Outcome, attempts: readonly Attempt[]): void;
}

export function createJudge({
  service,
  invoices,
  found,
  count,
}: {
  service: Service;
  invoices: readonly Invoice[];
  found: (law: string, what: string) => void;
  count: (what: string) => void;
}): Judge {
  /** The invoice of each key. */
  const invoiceOf = new Map<string, Invoice>();
  /** The payout that each id was shown with; null while it has none. */
  const meanings = new Map<string, string | null>();
  /** Keys that an answer has reported absent, with that answer, until they are used again. */
  const absent = new Map<string, string>();

  const truthOf = ({ withdrawalId, code }: PayoutAnswer) => {
    const name = withdrawalId ?? code;
    return name === null ? undefined : service.named(name);
  };
  const isNamed = ({ withdrawalId, code }: PayoutAnswer) => withdrawalId !== null || code !== null;

  function checkTruth(payout: PayoutAnswer, where: string, key: string | null): void {
    const difference = differenceOf(payout, truthOf(payout), key);
    if (difference !== null) found(OTHERS, `${where}: ${JSON.stringify(payout)}: ${difference}`);
  }

  /** Checks that the client stays in doubt about an invoice only if nobody can know more. */
  function checkKnown(invoice: Invoice, attempts: readonly Attempt[]): void {
    const last = attempts.at(-1);
    if (last?.payout?.inDoubt && isUndecidable(invoice, last)) count('an invoice that nobody can decide');
    else found(END, `invoice ${invoice.number}: ${last?.key} ${JSON.stringify(last?.payout ?? null)}`);
  }

  /**
   * The document gives a withdrawal no key, and masks its PIX key. If no webhook has named it completely, or if
   * another payout looks like it, only a person can find its outcome.
   */
  function isUndecidable(invoice: Invoice, { key }: Attempt): boolean {
    if (invoice.kind === 'subaccount') return false;
    const looksAlike = ({ kind, key: other, amountCents, method, destination }: TruePayout) =>
      kind === 'withdrawal' &&
      other !== key &&
      amountCents === invoice.amountCents &&
      method === invoice.method.toLowerCase() &&
      service.habits.mask(destination) === service.habits.mask(invoice.destination);
    const isRival = (other: Invoice) =>
      other !== invoice &&
      other.method === invoice.method &&
      other.amountCents === invoice.amountCents &&
      other.destination === invoice.destination;
    return (
      !service.habits.hasDates ||
      service.withKey(key).some((payout) => !payout.isNamed) ||
      service.payouts.some(looksAlike) ||
      invoices.some(isRival)
    );
  }

  const judge: Judge = {
    ids: () => [...meanings.keys()],
    onId(id, payout, where) {
      const before = meanings.get(id) ?? null;
      const name = truthOf(payout)?.id ?? payout.withdrawalId;
      if (before !== null && name !== null && before !== name)
        found(ID, `${id} was ${before}, and is ${name} (${where})`);
      meanings.set(id, before ?? name);
    },
    onMade({ key, code }) {
      if (key === null) return;
      const invoice = invoiceOf.get(key);
      if (!invoice) found(TWICE, `${code} was requested with the key ${key}, which no client has used`);
      if (absent.has(key)) found(ABSENT, `${code} is made for ${key}, after ${absent.get(key)}`);
      if (invoice) judge.checkOnce(invoice);
    },
    checkOnce(invoice) {
      const keys = [...invoiceOf].flatMap(([key, each]) => (each === invoice ? [key] : []));
      const paying = keys.flatMap(service.withKey).filter(({ status }) => status !== 'failed');
      const names = paying.map(({ code, key }) => `${code} of ${key}`).join(', ');
      if (paying.length > 1) found(TWICE, `invoice ${invoice.number}: ${names}`);
    },
    onRequest({ invoice, key }) {
      invoiceOf.set(key, invoice);
      absent.delete(key);
    },
    onShown(attempt, payout, where) {
      const { key, invoice, payout: before } = attempt;
      judge.onId(payout.id, payout, where);
      if (before?.inDoubt && before.id !== payout.id)
        found(ID, `${before.id} of ${key} has become ${payout.id} (${where})`);
      const mayPayAgain = payout.status === 'DENIED' || payout.guidance === 'RETRY_WITH_NEW_KEY';
      if (isNamed(payout)) checkTruth(payout, where, key);
      else if (payout.final || mayPayAgain) judge.onAbsent(attempt, `${where}: ${JSON.stringify(payout)}`);
      else if (payout.amountCents !== invoice.amountCents)
        found(OTHERS, `${where}: ${JSON.stringify(payout)} of ${invoice.amountCents}`);
    },
    onAbsent({ key }, where) {
      const [made] = service.withKey(key);
      if (made) found(ABSENT, `${key} is ${made.code} (${where})`);
      if (service.mayStillMake(key)) found(ABSENT, `${key} may still be made (${where})`);
      absent.set(key, where);
    },
    onListed(payout) {
      if (!isNamed(payout)) return;
      judge.onId(payout.id, payout, 'list');
      checkTruth(payout, 'list', null);
    },
    onUnexpected: (what) => found(UNEXPECTED, what),
    checkEnd(invoice, outcome, attempts) {
      count(`an invoice of a ${invoice.kind}: ${outcome}`);
      const made = attempts.flatMap(({ key }) => service.withKey(key));
      const paid = made.filter(({ status }) => status === 'completed').length;
      if (paid > 1) found(TWICE, `invoice ${invoice.number} is paid ${paid} times`);
      for (const { payout, key } of attempts) {
        const truth = payout && (payout.final || payout.guidance === 'NONE') ? truthOf(payout) : undefined;
        if (truth && (payout!.status === 'COMPLETED') !== (truth.status === 'completed'))
          found(FINAL, `${key} ends as ${payout!.status}, and the service says ${truth.status}`);
      }
      if (outcome === 'paid' && paid !== 1)
        found(FINAL, `invoice ${invoice.number} is known as paid, and is paid ${paid} times`);
      if (outcome === 'given up' && paid > 0)
        found(FINAL, `invoice ${invoice.number} was given up, and is paid`);
      if (outcome === 'open') checkKnown(invoice, attempts);
    },
  };
  return judge;
}

/** `key`: the key of the payout's request; null if it is unknown. */
function differenceOf(
  payout: PayoutAnswer,
  truth: TruePayout | undefined,
  key: string | null,
): string | null {
  if (!truth) return 'the service has no such payout';
  if (key !== null && truth.key !== key) return `it was made for ${truth.key}, and is shown for ${key}`;
  if (truth.amountCents !== payout.amountCents) return `its amount is ${truth.amountCents}`;
  const method = payout.method?.toLowerCase() ?? 'unknown';
  if (method !== 'unknown' && method !== truth.method) return `its method is ${truth.method}`;
  const shown = payout.destination ?? payout.pixKey ?? null;
  return shown === null || mayBeOf(shown, truth.destination)
    ? null
    : `its destination is ${truth.destination}`;
}

/** Whether a shown, possibly masked destination can be this one. */
function mayBeOf(shown: string, destination: string): boolean {
  const parts = shown.split(/[*…•]+/);
  if (parts.length === 1) return shown === destination || shown === '(not told)';
  return destination.startsWith(parts[0]!) && destination.endsWith(parts.at(-1)!);
}
