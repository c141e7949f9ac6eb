// Compiled against the packed types by package.test.ts and never run. Lines that must not compile are marked.
import { PsaCheckout, type PsaCheckoutEventMap } from '@psa/checkout';
import { PsaDisputes as DisputesComponent } from '@psa/checkout/disputes/react';
import type { Payout, PsaPayouts } from '@psa/checkout/payouts';
import { PsaPayouts as PayoutsComponent } from '@psa/checkout/payouts/react';
import { PsaCheckout as Component } from '@psa/checkout/react';
import { PsaSales as SalesComponent } from '@psa/checkout/sales/react';
import { PsaStatement as StatementComponent } from '@psa/checkout/statement/react';
import type { PsaWallet } from '@psa/checkout/wallet';

const element = document.querySelector('psa-checkout');
const own: PsaCheckout | null = element;
export const phases: 'paid' | undefined = own?.phase === 'paid' ? own.phase : undefined;
// @ts-expect-error the status is read-only
if (element) element.status = 'PAID';

element?.addEventListener('psa-error', ({ detail }) => detail.code === 'unsafe_url');
document.body.addEventListener('psa-paid', ({ detail }) => detail.payment.amountCents.toFixed());
element?.addEventListener('psa-created', ({ detail: { payment, method } }) =>
  payment.__typename === 'Payment' ? payment.pix?.copyPaste : `${payment.checkoutUrl} ${method}`,
);
element?.addEventListener('psa-method-change', ({ detail }) => detail.method === 'pix');
element?.addEventListener('psa-pix-copied', ({ detail }) => detail.payment.amountCents);
void element?.start('pix');
// @ts-expect-error no such code
element?.addEventListener('psa-error', ({ detail }) => detail.code === 'no_such_code');

export const detail: PsaCheckoutEventMap['psa-status-change']['detail']['status'] = 'REFUNDED';
export const made = new PsaCheckout();

export const right = (
  <psa-checkout
    mode="redirect"
    methods="pix card"
    transport="sse"
    amount-cents={4990}
    labels={{ pay: 'Assinar', unsafe_url: 'Endereço inseguro' }}
    renewToken={async () => 'ps_checkout_next'}
    onpsa-status-change={({ detail: { status, previous } }) => status !== previous}
    className="pay"
    slot="side"
    disabled
  />
);
// @ts-expect-error no such mode
export const wrong = <psa-checkout mode="blink" />;
// @ts-expect-error no such method
export const unpayable = <psa-checkout methods="boleto" />;
// @ts-expect-error no such attribute
export const unknown = <psa-checkout amount={1} />;

// React sets a property of the element if it has one of that name.
export const byProperty = <psa-checkout amountCents={4990} orderCode="PSC-1" resumeKey="caneca" />;
// @ts-expect-error no amount
export const noAmount = <psa-checkout amountCents="much" />;

// The components accept the tags' attributes.
export const component = (
  <Component
    methods="pix"
    amountCents={4990}
    customer={{ externalId: 'u-17' }}
    onpsa-paid={({ detail }) => detail.payment.amountCents}
    ref={(placed) => void placed?.refresh()}
  >
    Pagar
  </Component>
);
export const tableComponent = (
  <PayoutsComponent page-size={20} onpsa-payout-select={({ detail }) => detail.payout} />
);
// @ts-expect-error no such method
export const unpayableComponent = <Component methods="boleto" />;

const table: PsaPayouts | null = document.querySelector('psa-payouts');
export const amounts = table?.payouts.map(({ amountCents }: Payout) => amountCents);
table?.addEventListener('psa-phase-change', ({ detail }) => detail.phase === 'ready');
// @ts-expect-error a phase of the other element
table?.addEventListener('psa-phase-change', ({ detail }) => detail.phase === 'paid');
table?.addEventListener('click', ({ clientX }) => clientX);
table?.addEventListener('psa-payout-select', ({ detail }) => detail.payout.withdrawalId?.length);
export const list = (
  <psa-payouts
    statuses="PENDING PROCESSING"
    sort="-amount"
    page-size={20}
    renewToken={async () => 'ps_dashboard_next'}
    labels={{ payouts: 'Repasses' }}
    onpsa-payout-update={({ detail: { payout, previous } }) => payout.status !== previous}
  />
);
export const tableByProperty = <psa-payouts pageSize={20} />;
const wallet: PsaWallet | null = document.querySelector('psa-wallet');
wallet?.addEventListener('psa-wallet-update', ({ detail }) => detail.previous.balanceCents);
export const figures = <psa-wallet figures="available ltc" history="7d" />;
export const sales = (
  <psa-sales
    details
    actions="refund"
    search="ana@psa.example"
    onpsa-refund-request={({ detail }) =>
      detail.respondWith(Promise.resolve({ message: detail.sale.reference }))
    }
  />
);
export const salesComponent = <SalesComponent createdAfter="2026-03-01T00:00:00Z" statuses="PAID" />;
export const statement = (
  <psa-statement kinds="PAYOUT" export onpsa-entry-select={({ detail }) => detail.entry.reference} />
);
export const statementComponent = (
  <StatementComponent createdAfter="2026-03-01T00:00:00Z" labels={{ PAYOUT: 'Repasse' }} />
);
export const disputes = (
  <psa-disputes
    details
    actions="defence accept"
    onpsa-defence-request={({ detail: { text, files, respondWith } }) =>
      respondWith(Promise.resolve({ message: `${files[0]?.name}: ${text}` }))
    }
  />
);
export const disputesComponent = <DisputesComponent statuses="OPEN" labels={{ OPEN: 'Nova' }} />;
// @ts-expect-error no such order
export const unsorted = <psa-payouts sort="colour" />;
