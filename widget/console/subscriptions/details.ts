// The details of a subscription: its cycles, and its cancellation.
import type { TemplateResult } from 'lit';
import { PageRequest } from '../../src/board/page-request.ts';
import {
  createDetailsPanel,
  type Details,
  type DetailsPanel,
  type DetailsParts,
  type Step,
} from '../../src/list/details.ts';
import { keepFocus } from '../keep-focus.ts';
import { intervalText } from './cells.ts';
import type { Cycle, Subscription, WholeSubscription } from './operations.ts';
import type { Texts } from './texts.ts';

/** A subscription in its panel, whose rest may not have been read yet. */
type Shown = Subscription & Partial<WholeSubscription>;

/** The name of a step by the status of its cycle, and the instant at which it stands. */
const STEPS = {
  PAID: ['stepPaid', 'paidAt'],
  SCHEDULED: ['stepDue', 'dueAt'],
  RETRYING: ['stepRetry', 'nextAttemptAt'],
  FAILED: ['stepFailed', 'dueAt'],
  CANCELED: ['stepCanceled', 'dueAt'],
  UNKNOWN: ['UNKNOWN', 'dueAt'],
} as const;

export function createDetails(parts: DetailsParts<Subscription, Texts>): DetailsPanel {
  const { texts } = parts;
  const money = (cents: number) => texts.formats.money(cents);
  const renderCancellation = createCancellation(parts, (id) => panel.onRow(id));

  function describe(subscription: Shown): Details {
    const { status, cancelReason, amountCents, description, customer, subscriptionId } = subscription;
    const { nextDueAt, checkoutUrl } = subscription;
    const reason = cancelReason && cancelReason !== 'UNKNOWN' ? texts.text(cancelReason) : '';
    const interval = intervalText(subscription, texts);
    return {
      title: texts.text('title', { amount: money(amountCents), interval }).trim(),
      status: [[texts.text(status), reason].filter(Boolean).join(' '), status],
      facts: [
        [
          '',
          [
            [texts.text('next'), nextDueAt && texts.formats.day(new Date(nextDueAt))],
            [texts.text('cycles'), cyclesText(subscription)],
            [texts.text('description'), description],
            [texts.text('code'), subscriptionId],
            [texts.text('page'), status === 'PENDING' && checkoutUrl],
          ],
        ],
        [
          texts.text('payer'),
          [
            [texts.text('name'), customer?.name],
            [texts.text('email'), customer?.email],
            [texts.text('taxId'), subscription.customer?.taxId],
            [texts.text('customerId'), subscription.customer?.externalId],
          ],
        ],
      ],
      history: historyOf(subscription),
      actions: renderCancellation(subscription),
    };
  }

  function cyclesText({ cycles, endsAfterCycles }: Shown): string {
    if (!cycles) return '';
    const { totalCount, nodes } = cycles;
    const count = texts.formats.number(totalCount);
    const all = endsAfterCycles
      ? texts.text('cyclesOf', { count, total: endsAfterCycles })
      : texts.text('cyclesEndless', { count });
    return nodes.length < totalCount ? texts.text('cyclesShown', { cycles: all, shown: nodes.length }) : all;
  }

  function historyOf(subscription: Shown): Step[] {
    const { status, createdAt, expiresAt, canceledAt, cycles, returnedCredits = [] } = subscription;
    return [
      { at: createdAt, words: texts.text('stepCreated') },
      ...(status === 'PENDING' && expiresAt ? [{ at: expiresAt, words: texts.text('stepExpires') }] : []),
      // Two cycles may be paid in one second.
      ...(cycles?.nodes ?? []).map(stepOf).reverse(),
      ...returnedCredits.flatMap(({ amountCents, receivedAt, returnedAt }) => {
        const amount = money(amountCents);
        return [
          { at: receivedAt, words: texts.text('stepCredit', { amount }) },
          { at: returnedAt, words: texts.text(returnedAt ? 'stepReturned' : 'stepReturning', { amount }) },
        ];
      }),
      ...(status === 'EXPIRED' ? [{ at: expiresAt, words: texts.text(status) }] : []),
      ...(status === 'CANCELED' ? [{ at: canceledAt, words: texts.text(status) }] : []),
      ...(status === 'COMPLETED' && cycles ? [{ at: null, words: texts.text(status) }] : []),
    ];
  }

  function stepOf(cycle: Cycle): Step {
    const { number, status, amountCents, attempts, failureReason, payment } = cycle;
    const [name, instant] = STEPS[status] ?? STEPS.UNKNOWN;
    const refunded = payment?.refundedCents;
    const notes = [
      attempts > 1 && texts.text('attempts', { count: attempts }),
      failureReason,
      refunded ? texts.text('refunded', { amount: money(refunded) }) : '',
      payment?.paymentId,
    ];
    return {
      at: cycle[instant],
      words: texts.text(name, { number, amount: money(amountCents) }),
      note: notes.filter(Boolean).join(' · '),
    };
  }

  const panel = createDetailsPanel<Subscription, WholeSubscription, Texts>(parts, {
    describe,
    portuguese: {},
  });
  return panel;
}

/** Creates the function that renders the cancellation of a subscription, which the page requests. `onDone`: called once it is made. */
function createCancellation(
  { html, host, texts }: DetailsParts<Subscription, Texts>,
  onDone: (id: string) => void,
): (subscription: Subscription) => TemplateResult | '' {
  /** The requests under the ids of their subscriptions: one without an answer stays while another row is shown. */
  const requests = new Map<string, PageRequest>();
  let askingId = '';

  function ask(id: string): void {
    askingId = id;
    host.requestUpdate();
    void host.updateComplete.then(() =>
      host.renderRoot.querySelector<HTMLElement>(id ? '#keep' : '#cancel')?.focus(),
    );
  }

  return ({ id, subscriptionId, isFinal }) => {
    if (!(host as { mayCancel?: boolean }).mayCancel) return '';
    const request = requests.get(id) ?? new PageRequest(host);
    requests.set(id, request);
    const { state, message } = request;
    const isSending = state === 'sending';
    const answer = state === 'refused' ? message : state === 'failed' ? texts.text('cancelFailed') : '';
    if (isFinal || state === 'done')
      return html`<p id="canceled" role="status" class="hint" .textContent=${state === 'done' ? texts.text('canceledNow') : ''}></p>`;
    if (askingId !== id)
      return html`<div class="buttons"><button id="cancel" class="quiet" type="button" .textContent=${texts.text('cancel')} @click=${() => ask(id)}></button></div>`;
    return html`<form novalidate @submit=${(event: Event) => {
      event.preventDefault();
      void request.send('psa-cancel-request', { subscriptionId }).then(async () => {
        if (request.state !== 'done') return;
        onDone(id);
        await host.updateComplete;
        keepFocus(host.renderRoot.querySelector<HTMLElement>('#canceled'));
      });
    }}>
      <p id="price" .textContent=${texts.text('cancelPrice')}></p>
      <div class="buttons">
        <button class="new" aria-describedby="price" ?disabled=${isSending} .textContent=${texts.text(isSending ? 'canceling' : 'cancelNow')}></button>
        <button id="keep" class="quiet" type="button" ?disabled=${isSending} .textContent=${texts.text('keep')} @click=${() => ask('')}></button>
      </div>
      <p role="status" class="invalid" .textContent=${answer}></p>
    </form>`;
  };
}
