// The chunk of the details of a payout.
import { arrive } from '../import-again.ts';
import {
  createDetailsPanel,
  type DetailsPanel,
  type DetailsParts,
  type Fact,
  type Step,
} from '../list/details.ts';
import { texts as portuguese } from './locales/pt-BR.details.ts';
import type { Texts } from './locales/texts.ts';
import type { Payout, PayoutDetails } from './operations.ts';
import type { PayoutsHost } from './payouts-host.ts';

/** A payout in its panel, whose rest may not have been read yet. */
type Shown = Payout & Partial<PayoutDetails>;

export function createDetails(parts: DetailsParts<Payout, Texts>): DetailsPanel {
  const { texts } = parts;
  const host = parts.host as PayoutsHost;
  const money = (cents: number | null | undefined) =>
    typeof cents === 'number' ? texts.formats.money(cents) : null;
  const text = (name: keyof Texts) => texts.text(name);

  function facts(payout: Shown): Fact[] {
    const { destination, destinationKind: kind, amountLtc } = payout;
    return [
      [text('status'), payout.inDoubt && text('inDoubt')],
      [text('method'), host.methodOf(payout)],
      [text('destination'), destination],
      [text('destinationKind'), kind && kind !== 'UNKNOWN' && text(kind)],
      [text('serviceFee'), money(payout.serviceFeeCents)],
      [text('net'), money(payout.netAmountCents)],
      [text('debitedLtc'), amountLtc && texts.formats.ltc(amountLtc)],
      [text('code'), payout.code],
      [text('withdrawalId'), payout.withdrawalId],
      [text('externalId'), payout.externalId],
      [text('endToEndId'), payout.endToEndId],
    ];
  }

  function history(payout: Shown): Step[] {
    const { status, inDoubt, requestedAt, processedAt, returnedAt } = payout;
    const { words, quote } = host.reasonOf(payout);
    const isBack = text('deniedHint');
    const hasArrived = status === 'COMPLETED' || status === 'RETURNED';
    const steps: (Step | false)[] = [
      !!requestedAt && { at: requestedAt, words: text('stepRequested') },
      status === 'PENDING' && { at: null, words: text('pendingHint') },
      status === 'PROCESSING' && !inDoubt && { at: null, words: text('processingHint') },
      !!inDoubt && { at: payout.knownBy, words: text('stepKnown') },
      hasArrived && { at: processedAt, words: text('COMPLETED') },
      status === 'DENIED' && {
        at: processedAt,
        words: text('DENIED'),
        note: words ? `${words}. ${isBack}.` : isBack,
        quote,
      },
      status === 'RETURNED' && { at: returnedAt, words: text('RETURNED'), note: isBack },
    ];
    return steps.filter((step) => step !== false);
  }

  return createDetailsPanel<Payout, PayoutDetails, Texts>(parts, {
    describe: (payout) => ({
      title: texts.text('title', { amount: texts.formats.money(payout.amountCents) }),
      status: [text(payout.status), payout.status],
      facts: [['', facts(payout)]],
      history: history(payout),
    }),
    portuguese,
  });
}

arrive('payouts.details', { createDetails });
