import { beforeAll, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { NotFoundError, ValidationError } from '../../../server/src/kernel/errors.ts';
import type { DisputedResource } from '../../../server/src/money-in/disputes/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { RefundRail } from '../../../server/src/rails/refund.ts';
import { MAGIC_PAYERS } from '../../../server/src/rails/simulated/pix.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { expectBooksHold } from '../../laws/books.ts';
import { approved, card } from '../../support/cards.ts';
import { type Core, startCore, startTwoCores } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { embedded } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

describeOnDatabase('disputes', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  describePort(embedded(() => database));

  test.each(['payment', 'card_payment', 'charge'] as const)(
    'What is disputed of a %s is refunded by nobody, and the rest is',
    async (type) => {
      const core = await startCore({ database });
      await core.controls.credit(core.tenant, 100_000);
      const resource = await sell(core, type);
      const before = await find(core, resource);
      const dispute = await claim(core, resource, 2_000);
      expect(dispute).toMatchObject({ status: 'open', amountCents: 2_000, resource });
      // The status stays `paid`, and a refund without an amount takes all that is left.
      expect(await find(core, resource)).toMatchObject({ status: 'paid', disputedCents: 2_000 });
      for (const amountCents of [2_991, 4_990])
        await expect(refund(core, resource, amountCents)).rejects.toMatchObject({
          code: 'DISPUTE_STATE',
          message: expect.stringContaining('R$ 20,00 is disputed'),
        });
      await expect(refund(core, resource, 4_991)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
      expect((await refund(core, resource)).refund).toMatchObject({ amountCents: 2_990 });
      await core.work.settled();
      await expect(refund(core, resource)).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
      expect(await find(core, resource)).toMatchObject({ status: 'paid', refundedCents: 2_990 });
      expect(await claim(core, resource, 1)).toBeNull();
      // After a won dispute the payment can be refunded.
      await core.controls.closeDispute(core.tenant, dispute!.disputeId, 'won');
      expect((await refund(core, resource)).refund).toMatchObject({ amountCents: 2_000 });
      await core.work.settled();
      const after = await find(core, resource);
      expect(after).toMatchObject({ status: 'refunded', disputedCents: 0, refundedCents: 4_990 });
      if (type !== 'card_payment') expect(after!.version).toBe(before!.version + 6);
      expect(await claim(core, resource, 1)).toBeNull();
      await expectBooksHold(database, core.tenant);
      expect(core.faults).toEqual([]);
    },
  );

  test('What is lost is never refunded, also once it is forgiven', async () => {
    const core = await startCore({ database });
    const resource = await sell(core, 'payment');
    const { disputeId } = (await claim(core, resource, 10_000))!;
    for (const outcome of ['lost', 'forgiven'] as const) {
      await core.controls.closeDispute(core.tenant, disputeId, outcome);
      await expect(refund(core, resource)).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
    }
    expect(await find(core, resource)).toMatchObject({ status: 'paid', disputedCents: 4_990 });
    expect((await core.balances()).dispute_hold).toBe(0);
  });

  const ENDS = (['payment', 'card_payment', 'charge'] as const).flatMap((type) =>
    (['completed', 'failed'] as const).map((end) => [type, end] as const),
  );
  test.each(ENDS)(
    'A claim on a %s that comes while a refund is under way takes the rest, and all where the refund is %s',
    async (type, end) => {
      const { core, endRefunds } = await startSlow();
      const resource = await sell(core, type, { refunds: end });
      await refund(core, resource, 3_000);
      const dispute = (await claim(core, resource, 4_990))!;
      expect(dispute).toMatchObject({ status: 'open', version: 1, amountCents: 1_990 });
      await endRefunds();
      const amountCents = end === 'failed' ? 4_990 : 1_990;
      expect(await find(core, resource)).toMatchObject({
        status: 'paid',
        refundingCents: 0,
        disputedCents: amountCents,
        refundedCents: 4_990 - amountCents,
      });
      const after = await core.disputes.find(core.tenant, dispute.disputeId);
      expect(after).toMatchObject({ status: 'open', version: end === 'failed' ? 2 : 1, amountCents });
      expect((await core.balances()).dispute_hold).toBe(amountCents);
      expect(await claim(core, resource, 4_990)).toBeNull();
      await core.controls.closeDispute(core.tenant, dispute.disputeId, 'won');
      expect(await find(core, resource)).toMatchObject({ disputedCents: 0 });
      expect((await core.balances()).dispute_hold).toBe(0);
      await expectBooksHold(database, core.tenant);
      expect(core.faults).toEqual([]);
    },
  );

  test.each(['completed', 'failed'] as const)(
    'A claim on what a refund holds as a whole has a dispute once that has %s, under its name once',
    async (end) => {
      const { core, endRefunds } = await startSlow();
      const resource = await sell(core, 'payment', { refunds: end });
      await refund(core, resource);
      for (let call = 0; call < 2; call += 1)
        expect(
          await core.controls.disputePayment(core.tenant, resource, { amountCents: 5_000, name: 'med-1' }),
        ).toBeNull();
      expect(await core.disputes.count(core.tenant, {})).toBe(0);
      await endRefunds();
      const found = await core.controls.listDisputes(core.tenant, { limit: 9 });
      expect(found).toMatchObject(
        end === 'failed' ? [{ status: 'open', version: 1, amountCents: 4_990, resource }] : [],
      );
      expect(await find(core, resource)).toMatchObject(
        end === 'failed'
          ? { status: 'paid', disputedCents: 4_990 }
          : { status: 'refunded', disputedCents: 0 },
      );
      // During the refund the dispute holds its amount, too: a payer is not paid twice.
      if (end === 'failed')
        await expect(refund(core, resource)).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
      await expectBooksHold(database, core.tenant);
    },
  );

  test('Of two refunds under way, each that fails adds its part, and a dispute that is won lacks nothing', async () => {
    const { core, endRefunds } = await startSlow();
    const [held, freed] = [
      await sell(core, 'payment', { refunds: 'failed' }),
      await sell(core, 'payment', { refunds: 'failed' }),
    ];
    for (const resource of [held, freed])
      for (const cents of [1_000, 2_000]) await refund(core, resource, cents);
    const [first, won] = [(await claim(core, held, 4_000))!, (await claim(core, freed, 4_990))!];
    const second = await claim(core, held, 4_000);
    expect([first.amountCents, second]).toEqual([1_990, null]);
    await core.controls.closeDispute(core.tenant, won.disputeId, 'won');
    await core.controls.closeDispute(core.tenant, first.disputeId, 'lost');
    await endRefunds();
    // The first claim lacked 2,010, and the second gets what is left. A lost dispute still holds its claimed amount.
    const found = await core.controls.listDisputes(core.tenant, { limit: 9 });
    expect(found.map(({ status, amountCents }) => [status, amountCents]).sort()).toEqual([
      ['lost', 4_000],
      ['open', 990],
      ['won', 1_990],
    ]);
    expect(await find(core, held)).toMatchObject({ disputedCents: 4_990, refundingCents: 0 });
    expect(await find(core, freed)).toMatchObject({ disputedCents: 0, refundingCents: 0 });
    expect((await core.balances()).dispute_hold).toBe(4_990);
    await expectBooksHold(database, core.tenant);
  });

  test('A dispute that has grown is under review once the time for its evidence is over', async () => {
    const { core, endRefunds } = await startSlow();
    const resource = await sell(core, 'payment', { refunds: 'failed' });
    await refund(core, resource, 1_000);
    const { disputeId, evidenceDueAt } = (await claim(core, resource, 4_990))!;
    await endRefunds();
    const found = () => core.disputes.findMany(core.tenant, [disputeId]);
    expect(await found()).toMatchObject([{ status: 'open', amountCents: 4_990, evidenceDueAt }]);
    await core.pass(evidenceDueAt.getTime() - core.clock.ms());
    expect(await found()).toMatchObject([{ status: 'under_review', amountCents: 4_990 }]);
  });

  test.each(['contesta-ganha@psa.example', 'contesta-perde@psa.example'])(
    'A claim of the bank (%s) on what a refund holds is not lost, also where the banks decide first',
    async (email) => {
      const { core, endRefunds } = await startSlow({ lastsMs: 8 * DAY });
      const resource = await sell(core, 'payment', { email, refunds: 'failed' });
      await refund(core, resource);
      const run = (kind: string, key: string) => core.handlers[kind]!({ ...core.tenant, key, kind } as never);
      const receive = () => run('dispute.receive', `${txidOf(resource.id)} first`);
      core.clock.advance(MINUTE);
      await receive();
      await receive();
      expect(await core.disputes.count(core.tenant, {})).toBe(0);
      await core.pass(7 * DAY);
      await endRefunds();
      const isWon = email === 'contesta-ganha@psa.example';
      expect(await core.controls.listDisputes(core.tenant, { limit: 9 })).toMatchObject(
        isWon ? [] : [{ status: 'lost', version: 2, amountCents: 4_990 }],
      );
      expect((await core.balances()).dispute_hold).toBe(isWon ? 0 : 4_990);
      expect(await find(core, resource)).toMatchObject({ disputedCents: isWon ? 0 : 4_990 });
      await expectBooksHold(database, core.tenant);
    },
  );

  test.each(['payment', 'card_payment'] as const)(
    'Of a claim and a refund of a %s at the same moment, at two instances, one has the money',
    async (type) => {
      const [one, two] = await startTwoCores();
      const winners = new Set<string>();
      for (let round = 0; round < 8; round += 1) {
        const resource = await sell(one, type);
        const claimed = () => claim(one, resource, 4_990).then((dispute) => dispute && 'claim');
        const refunded = () =>
          refund(two, resource, 4_990).then(
            () => 'refund',
            () => null,
          );
        const steps = round % 2 === 0 ? [claimed, refunded] : [refunded, claimed];
        // Each of the two comes first once; then they race.
        const outcomes = await (round < 2 ? inTurn(steps) : Promise.all(steps.map((step) => step())));
        const won = outcomes.filter((outcome) => outcome !== null);
        expect(won).toHaveLength(1);
        winners.add(won[0]!);
        await one.work.settled();
        const { refundedCents, refundingCents, disputedCents } = (await find(one, resource))!;
        expect(refundedCents! + refundingCents! + disputedCents!).toBe(4_990);
      }
      expect(winners).toEqual(new Set(['claim', 'refund']));
      await expectBooksHold(one.database, one.tenant);
    },
  );

  test('A PIX is claimed up to 80 days after it was paid, and a card at any time', async () => {
    const core = await startCore({ database, follows: false });
    const [pix, late, byCard] = [
      await sell(core, 'payment'),
      await sell(core, 'payment'),
      await sell(core, 'card_payment'),
    ];
    core.clock.jumpTo(plusMs(core.clock.now(), 80 * DAY));
    expect(await claim(core, pix, 1)).toMatchObject({ amountCents: 1 });
    core.clock.advance(1);
    expect(await claim(core, late, 1)).toBeNull();
    core.clock.jumpTo(plusMs(core.clock.now(), 400 * DAY));
    expect(await claim(core, byCard, 1)).toMatchObject({ amountCents: 1 });
  });

  test('Nothing is claimed of what was not paid, is another account’s, or is in sandbox', async () => {
    const [core, other] = [await startCore({ database }), await startCore({ database })];
    const { payment } = await core.payments.create(core.tenant, { valueCents: 4990 });
    const unpaid = { type: 'payment', id: payment.paymentId } as const;
    expect(await claim(core, unpaid, 1)).toBeNull();
    const foreign = await sell(other, 'payment');
    for (const resource of [foreign, { type: 'card_payment', id: 'nothing' } as const])
      await expect(claim(core, resource, 1)).rejects.toBeInstanceOf(NotFoundError);
    const sandbox = { ...core.tenant, environment: 'sandbox' } as const;
    await expect(core.controls.disputePayment(sandbox, unpaid, { amountCents: 1 })).rejects.toMatchObject({
      code: 'NOT_IN_SANDBOX',
    });
    expect(await core.controls.listDisputes(core.tenant, { limit: 1 })).toEqual([]);
  });

  test('Evidence is submitted once under a key, ten times in all, and takes the dispute under review', async () => {
    const core = await startCore({ database });
    const id = await core.controls.openDispute(core.tenant, { amountCents: 300 });
    const submit = (input: object) => core.disputes.submitEvidence(core.tenant, id, input);
    const keyed = { text: 'Entregue', idempotencyKey: 'e-1' };
    const answers = await Promise.all([1, 2, 3].map(() => submit(keyed)));
    expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true, true]);
    await expect(submit({ ...keyed, text: 'Outro' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    for (let count = 1; count < 10; count += 1)
      await submit({ documents: [{ url: `https://loja.example/${count}.pdf` }] });
    await expect(submit({ text: 'x' })).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
    // The key still returns the dispute, in its current state.
    expect(await submit(keyed)).toMatchObject({
      replayed: true,
      dispute: { status: 'under_review', version: 11 },
    });
    const dispute = (await core.disputes.find(core.tenant, id))!;
    expect(dispute.evidence).toHaveLength(10);
    expect(dispute.evidence[0]).toEqual({
      text: 'Entregue',
      documents: [],
      fileIds: [],
      submittedAt: core.clock.now(),
    });
    const evidence = { text: 'x' };
    for (const wrong of ['', 'x', 'with \u0000', 'dsp_other'])
      await expect(core.disputes.submitEvidence(core.tenant, wrong, evidence)).rejects.toThrow(
        ValidationError,
      );
    const unknown = `dsp_${'0'.repeat(24)}`;
    await expect(core.disputes.submitEvidence(core.tenant, unknown, evidence)).rejects.toThrow(NotFoundError);
    const other = await startCore({ database });
    await expect(other.disputes.submitEvidence(other.tenant, id, { text: 'x' })).rejects.toBeInstanceOf(
      NotFoundError,
    );
  });

  test('A claim that the merchant accepts is lost at once, and stays so whatever the bank decides', async () => {
    const core = await startCore({ database, follows: false });
    const [open, reviewed, won] = [
      await core.controls.openDispute(core.tenant, { amountCents: 300 }),
      await core.controls.openDispute(core.tenant, { amountCents: 300 }),
      await core.controls.openDispute(core.tenant, { amountCents: 300 }),
    ];
    await core.disputes.submitEvidence(core.tenant, reviewed, { text: 'x' });
    for (const id of [open, reviewed]) {
      const now = core.clock.now();
      const accepted = await core.disputes.accept(core.tenant, id);
      const dispute = { status: 'lost', closedAt: now, acceptedAt: now };
      expect(accepted).toMatchObject({ replayed: false, dispute });
      core.clock.advance(1_000);
      expect(await core.disputes.accept(core.tenant, id)).toEqual({ ...accepted, replayed: true });
      await expect(core.controls.closeDispute(core.tenant, id, 'won')).rejects.toThrow(ValidationError);
      await expect(core.disputes.submitEvidence(core.tenant, id, { text: 'x' })).rejects.toMatchObject({
        code: 'DISPUTE_STATE',
      });
    }
    expect(await core.balances()).toMatchObject({ dispute_hold: 900 });
    await core.controls.closeDispute(core.tenant, open, 'forgiven');
    expect((await core.disputes.accept(core.tenant, open)).dispute.status).toBe('forgiven');
    await core.controls.closeDispute(core.tenant, won, 'won');
    await expect(core.disputes.accept(core.tenant, won)).rejects.toMatchObject({ code: 'DISPUTE_STATE' });
    await expect(core.disputes.accept(core.tenant, `dsp_${'0'.repeat(24)}`)).rejects.toThrow(NotFoundError);
    await expect(core.disputes.accept(core.tenant, 'x')).rejects.toThrow(ValidationError);
    expect(await tasks(core)).toEqual([]);
  });

  test('The end of the time takes a dispute under review by itself, once', async () => {
    const core = await startCore({ database, follows: false });
    const [silent, answered, decided] = await Promise.all(
      [1, 2, 3].map(() => core.controls.openDispute(core.tenant, { amountCents: 300 })),
    );
    await core.disputes.submitEvidence(core.tenant, answered!, { text: 'x' });
    await core.controls.closeDispute(core.tenant, decided!, 'won');
    // A dispute without a deadline has no task.
    expect(await tasks(core)).toEqual([silent]);
    await core.pass(5 * DAY - 1);
    expect((await core.disputes.find(core.tenant, silent!))?.status).toBe('open');
    await core.pass(1);
    const ids = [silent!, answered!, decided!];
    expect(
      (await core.disputes.findMany(core.tenant, ids)).map((each) => [each!.status, each!.version]),
    ).toEqual([
      ['under_review', 2],
      ['under_review', 2],
      ['won', 2],
    ]);
    await expect(core.disputes.submitEvidence(core.tenant, silent!, { text: 'x' })).rejects.toMatchObject({
      code: 'DISPUTE_STATE',
    });
    expect(await tasks(core)).toEqual([]);
  });

  test('The disputes of payments are listed with each, oldest first', async () => {
    const core = await startCore({ database });
    const [first, second, none] = [
      await sell(core, 'payment'),
      await sell(core, 'payment'),
      await sell(core, 'payment'),
    ];
    const made = [await claim(core, first, 10), await claim(core, second, 20), await claim(core, first, 30)];
    const ids = [second.id, none.id, first.id];
    const found = await core.disputes.ofResources(core.tenant, 'payment', ids);
    expect(found.map((each) => each!.map(({ disputeId }) => disputeId))).toEqual([
      ...[[made[1]!.disputeId], [], [made[0]!.disputeId, made[2]!.disputeId]],
    ]);
    expect(await core.disputes.ofResources(core.tenant, 'card_payment', ids)).toEqual([[], [], []]);
  });

  // ── The payers of the simulation ─────────────────────────────────────────────────────────────

  test.each([
    ['contesta@psa.example', 'under_review', 4_990],
    ['contesta-ganha@psa.example', 'won', 0],
    ['contesta-perde@psa.example', 'lost', 4_990],
  ] as const)(
    '%s disputes a minute after it has paid, and is %s seven days later',
    async (email, end, held) => {
      expect(MAGIC_PAYERS[email]).toBeDefined();
      const core = await startCore({ database, follows: false });
      const resource = await sell(core, 'payment', { email });
      await core.pass(MINUTE - 1);
      expect(await core.controls.listDisputes(core.tenant, { limit: 9 })).toEqual([]);
      await core.pass(1);
      const [dispute, ...others] = await core.controls.listDisputes(core.tenant, { limit: 9 });
      expect([dispute, others]).toMatchObject([{ status: 'open', amountCents: 4_990, resource }, []]);
      expect((await core.balances()).dispute_hold).toBe(4_990);
      await core.pass(7 * DAY - 1);
      expect(await core.disputes.find(core.tenant, dispute!.disputeId)).toMatchObject({
        status: 'under_review',
      });
      await core.pass(1);
      expect(await core.disputes.find(core.tenant, dispute!.disputeId)).toMatchObject({ status: end });
      expect((await core.balances()).dispute_hold).toBe(held);
      await core.pass(30 * DAY);
      expect(await core.controls.listDisputes(core.tenant, { limit: 9 })).toHaveLength(1);
      expect(core.faults).toEqual([]);
    },
  );

  test('A claim that is announced twice, late, or behind its decision has one dispute', async () => {
    const core = await startCore({ database, follows: false });
    const resource = await sell(core, 'payment', { email: 'contesta-perde@psa.example' });
    const key = `${txidOf(resource.id)} again`;
    const receive = () =>
      core.handlers['dispute.receive']!({ ...core.tenant, key, kind: 'dispute.receive' } as never);
    await receive();
    expect(await core.controls.listDisputes(core.tenant, { limit: 9 })).toEqual([]);
    // The server did not run for nine days.
    core.clock.advance(9 * DAY);
    await Promise.all([receive(), receive()]);
    await receive();
    expect(await core.controls.listDisputes(core.tenant, { limit: 9 })).toMatchObject([
      { status: 'lost', amountCents: 4_990 },
    ]);
    await core.controls.closeDispute(
      core.tenant,
      (await core.controls.listDisputes(core.tenant, { limit: 1 }))[0]!.disputeId,
      'forgiven',
    );
    await receive();
    expect(await core.controls.listDisputes(core.tenant, { limit: 9 })).toMatchObject([
      { status: 'forgiven' },
    ]);
  });

  test('A PIX that is sent back is not disputed, and neither is one of the sandbox', async () => {
    const core = await startCore({ database, follows: false });
    const customer = { email: 'contesta@psa.example' };
    const { payment } = await core.payments.create(core.tenant, { valueCents: 4990, customer });
    await core.pix.pay({ txid: txidOf(payment.paymentId), amountCents: 4_991 });
    const sandbox = { ...core.tenant, environment: 'sandbox' } as const;
    const test = (await core.payments.create(sandbox, { valueCents: 4990, customer })).payment;
    await core.pix.pay({ txid: txidOf(test.paymentId) });
    await core.pass(DAY);
    expect(await core.payments.find(sandbox, test.paymentId)).toMatchObject({ status: 'paid' });
    expect(await core.disputes.count(core.tenant, {})).toBe(0);
    expect(await core.disputes.count(sandbox, {})).toBe(0);
  });

  test('A claim whose credit has not been recorded yet is not lost', async () => {
    const core = await startCore({ database, follows: false });
    const customer = { email: 'contesta@psa.example' };
    const { payment } = await core.payments.create(core.tenant, { valueCents: 4990, customer });
    await core.pix.pay({ txid: txidOf(payment.paymentId) });
    core.clock.advance(MINUTE);
    const key = `${txidOf(payment.paymentId)} first`;
    await core.handlers['dispute.receive']!({ ...core.tenant, key, kind: 'dispute.receive' } as never);
    expect(await core.disputes.count(core.tenant, { status: ['open'] })).toBe(1);
  });

  /** Starts a core whose refunds stay pending until a test ends them. */
  async function startSlow({ lastsMs = 10 * SECOND } = {}) {
    let areHeld = true;
    const slow = <Rail extends RefundRail>(rail: Rail): Rail => ({
      ...rail,
      refund: async (refund) =>
        areHeld
          ? { status: 'pending', settlesAt: new Date(core.clock.now().getTime() + lastsMs) }
          : rail.refund(refund),
    });
    const core: Core = await startCore({ database, follows: false, pix: slow, acquirer: slow });
    async function endRefunds(): Promise<void> {
      areHeld = false;
      await core.pass(lastsMs);
    }
    return { core, endRefunds };
  }

  async function tasks(core: Core): Promise<string[]> {
    const rows = await database.sql
      .selectFrom('task')
      .select('key')
      .where('account_id', '=', core.tenant.accountId)
      .where('kind', '=', 'dispute.evidence_due')
      .orderBy('key')
      .execute();
    return rows.map(({ key }) => key);
  }
});

async function sell(
  core: Core,
  type: DisputedResource['type'],
  { email = 'ana@example.com', refunds }: { email?: string; refunds?: 'completed' | 'failed' } = {},
): Promise<DisputedResource> {
  if (type === 'card_payment') {
    const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990 });
    await core.cardPayments.pay(
      payment.orderCode,
      refunds === 'failed' ? card('4000000000005126') : approved(),
    );
    return { type, id: payment.orderCode };
  }
  const id =
    type === 'charge'
      ? (await core.charges.create(core.tenant, { valueCents: 4990 })).charge.chargeId
      : (await core.payments.create(core.tenant, { valueCents: 4990, customer: { email } })).payment
          .paymentId;
  const txid = txidOf(id);
  await core.pix.pay({ txid });
  if (refunds === 'failed') await core.pix.setReturns(txid, 'refused');
  await core[type === 'charge' ? 'charges' : 'payments'].receive(core.tenant, id);
  return { type, id };
}

function find(core: Core, { type, id }: DisputedResource) {
  if (type === 'charge') return core.charges.find(core.tenant, id);
  return type === 'payment' ? core.payments.find(core.tenant, id) : core.cardPayments.find(core.tenant, id);
}

function claim(core: Core, resource: DisputedResource, amountCents: number) {
  return core.controls.disputePayment(core.tenant, resource, { amountCents });
}

function refund(core: Core, resource: DisputedResource, amountCents?: number) {
  return core.refunds.request(core.tenant, resource, { amountCents });
}

async function inTurn<Value>(steps: readonly (() => Promise<Value>)[]): Promise<Value[]> {
  const done: Value[] = [];
  for (const step of steps) done.push(await step());
  return done;
}
