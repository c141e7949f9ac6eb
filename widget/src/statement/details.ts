// The chunk of the details of an entry.
import { arrive } from '../import-again.ts';
import { createDetailsPanel, type DetailsPanel, type DetailsParts, type Fact } from '../list/details.ts';
import { texts as portuguese } from './locales/pt-BR.details.ts';
import type { Texts } from './locales/texts.ts';
import type { EntryResource, WalletEntry, WholeEntry } from './operations.ts';
import type { StatementHost } from './statement-host.ts';

/** An entry in its panel, whose rest may not have been read yet. */
type Shown = WalletEntry & Partial<Pick<WholeEntry, 'resource' | 'unexplainedCents'>>;

/** The names of what an entry belongs to, by the types of the server. */
const NAMES: Record<string, keyof Texts | undefined> = {
  CardPayment: 'sale',
  Payment: 'sale',
  Charge: 'sale',
  Refund: 'REFUND',
  Dispute: 'dispute',
  Payout: 'PAYOUT',
  Subaccount: 'subaccount',
};

/** The codes that the details of a resource have. */
function codesOf(resource: EntryResource | null | undefined): unknown[] {
  return resource ? [resource.code, resource.payoutCode, resource.of?.code] : [];
}

export function createDetails(parts: DetailsParts<WalletEntry, Texts>): DetailsPanel {
  const { texts } = parts;
  const host = parts.host as StatementHost;
  const text = (name: keyof Texts) => texts.text(name);
  const money = (cents: number | null | undefined) =>
    typeof cents === 'number' ? texts.formats.money(cents) : null;

  function entryFacts(entry: Shown): Fact[] {
    const { amountCents, reference, createdAt, subaccountId, unexplainedCents, resource } = entry;
    const { day, hour } = texts.formats;
    const at = new Date(createdAt);
    return [
      [text('created'), `${day(at)}, ${hour(at)}`],
      [text('amount'), amountCents ? host.amountOf(entry) : null],
      [text('serviceFee'), entry.serviceFeeCents ? money(entry.serviceFeeCents) : null],
      [text('moved'), host.movesOf({ ...entry, serviceFeeCents: 0 })],
      [text('balance'), money(entry.after.balanceCents)],
      // What the entry belongs to says the same below.
      [text('code'), codesOf(resource).includes(reference) ? null : reference],
      [text('subaccount'), codesOf(resource).includes(subaccountId) ? null : subaccountId],
      [text('unexplained'), unexplainedCents ? money(unexplainedCents) : null],
    ];
  }

  function resourceFacts({ of, ...resource }: EntryResource): Fact[] {
    const sale = of ?? resource;
    return [
      [text('code'), resource.code ?? resource.payoutCode],
      [text('withdrawalId'), resource.withdrawalId],
      [text('destination'), resource.destination],
      [text('reason'), resource.reason],
      [text('name'), resource.name],
      [text('saleCode'), of?.code],
      [text('description'), sale.description],
      [text('orderId'), sale.orderId],
      [text('payer'), sale.customer?.name],
      [text('email'), sale.customer?.email],
    ];
  }

  function walletFacts(after: Partial<WholeEntry['after']>): Fact[] {
    const { cryptoBalanceLtc: ltc } = after;
    return [
      [text('pendingAfter'), money(after.pendingReleaseCents)],
      [text('blockedAfter'), money(after.disputeBlockedCents)],
      [text('subaccountsAfter'), money(after.subaccountsBalanceCents)],
      [text('receivableAfter'), after.receivableCents ? money(after.receivableCents) : null],
      [text('ltcAfter'), Number(ltc) ? texts.formats.ltc(ltc!) : null],
    ];
  }

  return createDetailsPanel<WalletEntry, WholeEntry, Texts>(parts, {
    describe(entry: Shown) {
      const { kind, resource, after } = entry;
      const name = resource ? NAMES[resource.__typename] : undefined;
      return {
        title: text(kind),
        facts: [
          ['', entryFacts(entry)],
          ...(resource && name ? [[text(name), resourceFacts(resource)] as const] : []),
          [text('walletAfter'), walletFacts(after)],
        ],
        history: [],
      };
    },
    portuguese,
  });
}

arrive('statement.details', { createDetails });
