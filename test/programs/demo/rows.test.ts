import { expect, test } from 'vitest';
import type { Disputed } from '../../../widget/demo/dashboard/disputed.ts';
import type { TableRow } from '../../../widget/demo/dashboard/live-table.ts';
import type { Dispute, PixPayment, WebhookDelivery } from '../../../widget/demo/dashboard/operations.ts';
import { deliveryRow, disputeRow, pixPaymentRow } from '../../../widget/demo/dashboard/rows.ts';
import { textOf } from '../../support/lit.ts';

const PAID: PixPayment = {
  ...{ paymentId: 'psa_1', method: 'PIX', ltc: null, customer: { name: 'Ana', email: null } },
  ...{ status: 'PAID', amountCents: 4_990, description: 'Caneca', version: 4 },
  ...{ createdAt: '2026-03-02T12:00:00Z', paidAt: '2026-03-02T12:00:03Z', paidLate: false },
  ...{ refundedAt: null, refundedCents: 0, refundableCents: 4_990, failureReason: null },
  ...{ returnedCredits: [], refunds: [] },
};

const NONE = { openCents: 0, lostCents: 0, areAllKnown: true };
const NONE_LOADED = { openCents: 0, lostCents: 0 };

test('A refund by PIX that its bank has not completed is on its way back in the row of its payment', () => {
  const statusOf = (changed: Partial<PixPayment>) =>
    textOf(
      pixPaymentRow(
        { ...PAID, ...changed },
        { now: new Date('2026-03-02T12:01:00Z'), disputed: NONE, open: null },
      ).cells[0],
    ).replaceAll('\u00a0', ' ');
  const refund = { refundId: 'ref_1', amountCents: 990, failureReason: null, completedAt: null };
  const processing = statusOf({
    ...{ refundableCents: 4_000, version: 5 },
    refunds: [{ ...refund, status: 'PROCESSING' }],
  });
  expect(processing).toContain('Pago');
  expect(processing).toContain('R$ 9,90 a caminho de volta');
  expect(processing).not.toContain('estornados');
  const completed = statusOf({
    ...{ refundableCents: 4_000, refundedCents: 990, version: 6 },
    refunds: [{ ...refund, status: 'COMPLETED', completedAt: '2026-03-02T12:00:09Z' }],
  });
  expect(completed).toContain('R$ 9,90 estornados');
  expect(completed).not.toContain('a caminho');
});

test('A dispute that was lost is no longer open in the row of its payment, and nothing of it is on its way back', () => {
  const statusOf = (
    disputed: Omit<Disputed, 'areAllKnown'> & Partial<Disputed>,
    changed: Partial<PixPayment> = {},
  ) =>
    textOf(
      pixPaymentRow(
        { ...PAID, refundableCents: 3_990, ...changed },
        {
          now: new Date('2026-03-02T12:01:00Z'),
          disputed: { areAllKnown: false, ...disputed },
          open: null,
        },
      ).cells[0],
    ).replaceAll('\u00a0', ' ');
  expect(statusOf({ openCents: 1_000, lostCents: 0 })).toContain('R$ 10,00 em disputa');
  const lost = statusOf({ openCents: 0, lostCents: 1_000 });
  expect(lost).toContain('R$ 10,00 perdidos em disputa');
  expect(lost).not.toContain('a caminho');
  // A dispute whose refunds are not loaded shows no refund either.
  for (const refunds of [[], null]) expect(statusOf(NONE_LOADED, { refunds })).not.toContain('a caminho');
  expect(statusOf({ ...NONE_LOADED, areAllKnown: true }, { refunds: null })).toContain(
    'R$ 10,00 a caminho de volta',
  );
});

test('A row says in Portuguese why a payment has failed, and leaves the words of a bank', () => {
  const reasonOf = (failureReason: string) =>
    textOf(
      pixPaymentRow(
        { ...PAID, status: 'FAILED', failureReason },
        { now: new Date('2026-03-02T12:01:00Z'), disputed: NONE, open: null },
      ).cells[0],
    );
  expect(reasonOf('paid_elsewhere')).toContain('o pedido foi pago de outro jeito');
  expect(reasonOf('canceled')).toContain('pago depois de cancelado, e devolvido');
  expect(reasonOf('underpaid')).toContain('o valor recebido não cobre a compra');
  expect(reasonOf('Saldo insuficiente')).toContain('Saldo insuficiente');
});

test.each([
  ['the connection was refused', 'a conexão foi recusada'],
  ['no complete answer within 10 seconds', 'sem resposta completa a tempo'],
  ['the name of the host could not be resolved', 'o endereço não existe'],
  ['the host could not be reached', 'o endereço está fora de alcance'],
  ['the connection was closed before the answer was complete', 'a conexão foi interrompida'],
  ['no secure connection could be made (CERT_HAS_EXPIRED)', 'sem conexão segura'],
  ['the URL does not lead to a public https address', 'o endereço não é público'],
  ['the answer was not HTTP', 'a resposta não pôde ser lida'],
  ['the request failed (EMFILE)', 'sem resposta'],
])('A row says of a delivery in which %s: %s', (error, text) => {
  const attempt = { at: '2026-03-02T12:00:00Z', responseStatus: null, error, durationMs: 3 };
  const delivery: WebhookDelivery = {
    ...{ webhookId: 'whd_1', event: 'payment.paid', url: 'https://loja.example', status: 'PENDING' },
    ...{ attempts: [attempt], nextAttemptAt: null, createdAt: '2026-03-02T12:00:00Z' },
  };
  const shown = textOf(deliveryRow(delivery, new Date('2026-03-02T12:01:00Z')).cells[2]);
  expect(shown).toContain(text);
  expect(shown).not.toContain(error);
});

test('The button of a row names what was sold, for how much and to whom', () => {
  const nameOf = ({ cells }: TableRow) => textOf(cells[3]).replaceAll('\u00a0', ' ');
  const now = new Date('2026-03-02T12:01:00Z');
  const open = () => undefined;
  const pix = (changed: Partial<PixPayment>) =>
    nameOf(pixPaymentRow({ ...PAID, ...changed }, { now, disputed: NONE, open }));
  expect(pix({})).toContain('Estornar Caneca, R$ 49,90, Ana');
  expect(pix({ description: null, customer: { name: null, email: 'ana@padaria.example' } })).toContain(
    'Estornar psa_1, R$ 49,90, ana@padaria.example',
  );
  expect(pix({ customer: null })).toContain('Estornar Caneca, R$ 49,90');
  const dispute: Dispute = {
    ...{ disputeId: 'dsp_1', status: 'OPEN', reason: 'FRAUD', amountCents: 4_990, blockedCents: 4_990 },
    ...{
      evidence: [],
      files: [],
      evidenceDueAt: '2026-03-09T12:00:00Z',
      createdAt: null,
      closedAt: null,
      version: 1,
    },
    of: { __typename: 'Payment', paymentId: 'psa_1', description: 'Caneca', customer: { name: 'Ana' } },
  };
  expect(nameOf(disputeRow(dispute, { now, open }))).toContain('disputa de R$ 49,90, Ana, Caneca');
});
