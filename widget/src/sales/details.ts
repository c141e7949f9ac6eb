// The chunk of the details of a sale, and of the form of its refund.
import type { TemplateResult } from 'lit';
import { newKey, PageRequest } from '../board/page-request.ts';
import { arrive } from '../import-again.ts';
import {
  createDetailsPanel,
  type DetailsPanel,
  type DetailsParts,
  type Fact,
  type Step,
} from '../list/details.ts';
import { centsOf } from '../list/filter-fields.ts';
import type { RefundRequest } from './events.ts';
import { texts as portuguese } from './locales/pt-BR.details.ts';
import type { Texts } from './locales/texts.ts';
import type { Sale, SaleDetails } from './operations.ts';

/** A sale in its panel, whose rest may not have been read yet. */
type Shown = Sale & Partial<SaleDetails>;

/** The words for the service's own reasons; any other one is in the words of a bank or of an acquirer. */
const REASONS: Record<string, keyof Texts | undefined> = {
  paid_elsewhere: 'paidElsewhere',
  canceled: 'paidAfterCancel',
  underpaid: 'underpaid',
};

export function createDetails(parts: DetailsParts<Sale, Texts>): DetailsPanel {
  const { texts } = parts;
  const form = createRefundForm(parts, (id) => panel.onRow(id));
  const money = (cents: number | null | undefined) =>
    typeof cents === 'number' ? texts.formats.money(cents) : null;
  const words = (name: keyof Texts, amountCents?: number) =>
    texts.text(name, { amount: money(amountCents) ?? '' });

  function facts(sale: Shown): [string, Fact[]][] {
    const { status, customer, splits, unresolved } = sale;
    const parts = splits?.reduce((sum, { amountCents }) => sum + amountCents, 0);
    return [
      [
        '',
        [
          [words('status'), unresolved && words('unresolved')],
          [words('method'), words(sale.method)],
          [words('fee'), money(sale.serviceFeeCents)],
          [words('net'), money(sale.netAmountCents)],
          [words('parts'), parts ? money(parts) : null],
          [words('otherPaid'), money(sale.otherPaidCents)],
          [words('refundedSoFar'), sale.refundedCents ? money(sale.refundedCents) : null],
          [words('refundable'), status === 'PAID' && money(sale.refundableCents)],
          [words('description'), sale.description],
          [words('orderId'), sale.orderId],
          [words('externalId'), sale.externalId],
          [words('code'), sale.reference],
          [words('endToEndId'), sale.endToEndId],
        ],
      ],
      [
        words('payer'),
        [
          [words('name'), customer?.name],
          [words('email'), customer?.email],
          [words('taxId'), sale.customer?.taxId],
          [words('customerId'), sale.customer?.externalId],
        ],
      ],
    ];
  }

  function history(sale: Shown): Step[] {
    const { status, createdAt, canceledAt, expiresAt, paidAt, paidLate, releasedAt, refundedAt } = sale;
    const { refunds, disputes = [], returnedCredits = [], failureReason } = sale;
    const steps: (Step | false)[] = [
      { at: createdAt, words: words('stepCreated') },
      status === 'PENDING' && !!expiresAt && { at: expiresAt, words: words('stepExpires') },
      status === 'EXPIRED' && !canceledAt && { at: expiresAt, words: words('stepExpired') },
      !!canceledAt && { at: canceledAt, words: words('canceled') },
      !!paidAt && { at: paidAt, words: words(paidLate ? 'stepPaidLate' : 'stepPaid') },
      !!releasedAt && { at: releasedAt, words: words('stepReleased') },
      status === 'FAILED' && {
        at: null,
        words: words('stepFailed'),
        ...(failureReason && REASONS[failureReason]
          ? { note: words(REASONS[failureReason]) }
          : { quote: failureReason }),
      },
      // The refunds say the same, if there are any.
      !!refundedAt && !refunds && { at: refundedAt, words: words('stepRefunded') },
      ...returnedCredits.flatMap(({ amountCents, receivedAt, returnedAt }) => [
        { at: receivedAt, words: words('stepCredit', amountCents) },
        { at: returnedAt, words: words(returnedAt ? 'stepReturned' : 'stepReturning', amountCents) },
      ]),
      ...(refunds ?? []).flatMap(({ amountCents, createdAt: at, reason, ...end }) => [
        { at, words: words('stepRefund', amountCents), note: reason },
        end.status === 'COMPLETED' && { at: end.completedAt, words: words('stepRefundDone', amountCents) },
        end.status === 'FAILED' && {
          at: end.failedAt,
          words: words('stepRefundFailed', amountCents),
          quote: end.failureReason,
        },
      ]),
      ...(disputes ?? []).flatMap(({ amountCents, createdAt: at, closedAt, status: end }) => [
        { at, words: words('stepDispute', amountCents) },
        end === 'WON' && { at: closedAt, words: words('stepDisputeWon') },
        end === 'LOST' && { at: closedAt, words: words('stepDisputeLost') },
        end === 'FORGIVEN' && { at: closedAt, words: words('stepDisputeForgiven') },
      ]),
    ];
    return steps.filter((step) => step !== false);
  }

  const panel = createDetailsPanel<Sale, SaleDetails, Texts>(parts, {
    describe: (sale) => ({
      title: words('title', sale.amountCents),
      status: [words(sale.status), sale.status],
      facts: facts(sale),
      history: history(sale),
      actions: form.render(sale),
    }),
    reset: form.reset,
    portuguese,
  });
  return panel;
}

/** The refunds that a user has requested of one sale. */
interface Draft {
  request: PageRequest;
  /** The attempts that the page has not done, by their amounts: a retry has the same key, and another amount is another refund. */
  attempts: Map<number, Attempt>;
  last: Attempt | undefined;
  /** The most that a refund might take, and the number of refunds, at the last attempt. */
  seen: string;
  isInvalid: boolean;
}

type Attempt = Pick<RefundRequest, 'amountCents' | 'maxCents' | 'idempotencyKey'>;

/** The most that a refund may take: 0 until the sale was read, and what no refund has given back if the service does not report it. */
function mostOf({ refundableCents, amountCents, refundedCents }: Shown): number {
  if (refundableCents === undefined) return 0;
  return refundableCents ?? amountCents - (refundedCents ?? 0);
}

/** Creates the form that requests the refund of a sale from the page. `onSent`: called when the page has done so. */
function createRefundForm({ html, host, texts }: DetailsParts<Sale, Texts>, onSent: (id: string) => void) {
  /** The drafts under the ids of their sales. An attempt stays while the panel is closed or shows another sale: it may have been done. */
  const drafts = new Map<string, Draft>();
  let shownId = '';

  function draftOf({ id }: Sale): Draft {
    const draft = drafts.get(id) ?? {
      request: new PageRequest(host),
      attempts: new Map(),
      last: undefined,
      seen: '',
      isInvalid: false,
    };
    drafts.set(id, draft);
    return draft;
  }

  function clear(): void {
    const disclosure = host.renderRoot.querySelector<HTMLDetailsElement>('.panel details');
    disclosure?.querySelector('form')?.reset();
    if (disclosure) disclosure.open = false;
  }

  function send(form: HTMLFormElement, sale: Shown, maxCents: number): void {
    const draft = draftOf(sale);
    const { request, attempts } = draft;
    if (request.state === 'sending') return;
    // The page has taken the last attempt over, and the sale has changed: that attempt is among its refunds.
    const seen = `${maxCents} ${sale.refunds?.length}`;
    if (!request.state && draft.seen !== seen) attempts.clear();
    const text = String(new FormData(form).get('amount'));
    const amountCents = centsOf(text, texts.formats.number(1.5)[1]) ?? 0;
    // What an attempt has taken already may be more than what is left.
    const known = attempts.get(amountCents);
    draft.isInvalid = !known && (amountCents < 1 || amountCents > maxCents);
    host.requestUpdate();
    if (draft.isInvalid) {
      form.querySelector('input')?.focus();
      return;
    }
    const attempt = known ?? { amountCents, maxCents, idempotencyKey: newKey() };
    attempts.set(amountCents, attempt);
    draft.last = attempt;
    draft.seen = seen;
    const detail: Omit<RefundRequest, 'respondWith'> = { sale, ...attempt };
    void request.send('psa-refund-request', detail).then(() => {
      if (request.state !== 'done') return;
      attempts.delete(amountCents);
      if (shownId === sale.id) clear();
      onSent(sale.id);
    });
  }

  return {
    reset() {
      for (const [id, draft] of drafts) {
        draft.isInvalid = false;
        if (draft.request.state === 'done' && !draft.attempts.size) drafts.delete(id);
      }
    },
    render(sale: Shown): TemplateResult | '' {
      shownId = sale.id;
      const { request, last, isInvalid } = draftOf(sale);
      const { state, message } = request;
      const most = sale.status === 'PAID' ? mostOf(sale) : 0;
      const actions = (host as { actions?: string }).actions ?? '';
      if (!/\brefund\b/.test(actions) || (!most && !state)) return '';
      // The amount without an answer can be tried again, also where it has left nothing to refund.
      const open = state === 'sending' || state === 'failed' ? last : undefined;
      const amount = texts.formats.money(most);
      const problem = isInvalid
        ? texts.text('refundInvalid', { amount })
        : state === 'failed'
          ? texts.text('refundFailed')
          : message;
      return html`
        ${
          most || open
            ? html`<details .open=${state === 'sending' || !!problem}>
              <summary part="refund-button" .textContent=${texts.text('refund')}></summary>
              <form novalidate @submit=${(event: Event) => {
                event.preventDefault();
                send(event.target as HTMLFormElement, sale, most);
              }}>
                <label for="refund-amount" .textContent=${texts.text('refundAmount')}></label>
                <input id="refund-amount" name="amount" inputmode="decimal" autocomplete="off" ?readonly=${!most}
                  .defaultValue=${texts.formats.money(open?.amountCents ?? most).replace(/[^\d.,]/g, '')}
                  aria-invalid=${isInvalid ? 'true' : 'false'} aria-describedby="refund-most refund-problem" />
                <p class="hint" id="refund-most" .textContent=${most ? texts.text('refundMost', { amount }) : ''}></p>
                <button part="refund-send-button" class="new" aria-disabled=${state === 'sending' ? 'true' : 'false'}
                  .textContent=${texts.text(state === 'sending' ? 'refundSending' : 'refund')}></button>
              </form>
            </details>`
            : ''
        }
        <p id="refund-problem" role="status" class=${problem ? 'invalid' : ''} .textContent=${problem || (state === 'done' ? texts.text('refundSent') : '')}></p>
      `;
    },
  };
}

arrive('sales.details', { createDetails });
