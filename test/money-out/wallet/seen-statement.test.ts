import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { rowsOfSighting } from '../../../server/src/money-out/wallet/remote/sightings.ts';
import type { WalletEntry } from '../../../server/src/money-out/wallet/statement.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { scale } from '../../support/scale.ts';
import { FEE, kinds, type Sale, startSeen, WALLET, type Withdrawal } from './seen-story.ts';

const SECOND = 1_000;

test('Instants of the statement never go back, also if the clock was set back', () => {
  const wallet = { ...WALLET, balanceCents: 1 };
  const now = new Date('2026-03-02T12:00:00Z');
  const [opening] = rowsOfSighting(null, [], { wallet, seenTo: 0, hasMore: false, now });
  const [row] = rowsOfSighting(opening!, [], {
    ...{ wallet: { ...wallet, balanceCents: 3 }, seenTo: 1, hasMore: false },
    now: new Date('2026-03-02T11:00:00Z'),
  });
  expect(row).toMatchObject({ number: 2, occurredAt: now, changes: { amountCents: 2 } });
});

describeOnDatabase('the statement in front of another service', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  const logOf = async ({ accountId }: Tenant) =>
    (await database.sql.selectFrom('stream').select('version').where('account_id', '=', accountId).execute())
      .map(({ version }) => version)
      .reduce((left, right) => Math.max(left, right));

  /** Sets the log back, as a standby that was behind has it. */
  const setBack = ({ accountId }: Tenant, version: number) =>
    database.transaction(async (db) => {
      await sql`set local session_replication_role = replica`.execute(db);
      await sql`delete from event where account_id = ${accountId} and version > ${version}`.execute(db);
      await sql`update stream set version = ${version} where account_id = ${accountId} and version > ${version}`.execute(
        db,
      );
    });

  const sum = (entries: readonly WalletEntry[]) =>
    entries.reduce((all, { amountCents }) => all + amountCents, 0);

  test('At each sighting entries and what they do not explain are the change of the balance, whatever was seen when', async () => {
    const command = fc.record({
      act: fc.constantFrom('sell', 'pay', 'refund', 'correct', 'withdraw', 'deny', 'credit', 'see', 'show'),
      at: fc.nat(1_000),
      cents: fc.integer({ min: 100, max: 50_000 }),
      /** Whether the webhook arrives. */
      arrives: fc.boolean(),
    });
    const history = fc.array(command, { minLength: 20, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(history, async (commands) => {
        const story = await startSeen(database);
        const { service, clock } = story;
        const [sales, withdrawals]: [Sale[], Withdrawal[]] = [[], []];
        let credited = 0;
        const effectOf = (one: Sale | Withdrawal) =>
          'paidAt' in one
            ? one.status === 'paid'
              ? one.amountCents - FEE - one.refundedCents
              : 0
            : one.status === 'denied'
              ? 0
              : -one.amountCents;
        const show = (one: Sale | Withdrawal) =>
          'paidAt' in one ? story.showSale(one) : story.showWithdrawal(one);

        // What was before the first sighting, and is seen after it, is in the opening.
        const earlier: Sale = {
          ...{ id: `psa_${story.nextId()}`, status: 'paid', amountCents: 5_000, refundedCents: 0 },
          paidAt: clock.now(),
        };
        sales.push(earlier);
        clock.advance(1);
        await story.see();
        const first = service.balanceCents;

        async function check() {
          const { entries, closing } = await story.read();
          expect(closing.opening.balanceCents).toBe(first);
          expect(closing.closing.balanceCents).toBe(service.balanceCents);
          expect(sum(entries)).toBe(service.balanceCents - first);
          const named = entries.filter(({ kind }) => kind !== 'observed');
          expect(sum(named) + closing.unexplainedCents).toBe(service.balanceCents - first);
          let before = first;
          for (const { amountCents, after } of entries) {
            before += amountCents;
            expect(after.balanceCents).toBe(before);
          }
          for (const line of closing.lines)
            expect(line.amountCents).toBe(sum(entries.filter(({ kind }) => kind === line.kind)));
          return { named, closing };
        }

        for (const { act, at, cents, arrives } of commands) {
          clock.advance(10);
          const pick = <One>(of: readonly One[]) => of[at % Math.max(1, of.length)];
          const change = async (one: Sale | Withdrawal | undefined, to: object) => {
            if (!one) return;
            const before = effectOf(one);
            Object.assign(one, to);
            service.balanceCents += effectOf(one) - before;
            if (arrives) await show(one);
          };
          if (act === 'sell') {
            const sale: Sale = {
              ...{ id: `psa_${story.nextId()}`, status: 'pending', amountCents: cents, refundedCents: 0 },
              paidAt: null,
            };
            sales.push(sale);
            if (arrives) await story.showSale(sale);
          }
          if (act === 'pay')
            await change(pick(sales.filter(({ status }) => status === 'pending')), {
              status: 'paid',
              paidAt: clock.now(),
            });
          const paid = pick(sales.filter((sale) => sale.status === 'paid' && sale !== earlier));
          if (act === 'refund' && paid)
            await change(paid, { refundedCents: Math.min(paid.amountCents, paid.refundedCents + cents) });
          // The service has made a mistake: the payment never was one.
          if (act === 'correct') await change(paid, { status: 'failed', refundedCents: 0, paidAt: null });
          if (act === 'withdraw') {
            const withdrawal: Withdrawal = {
              ...{ id: story.nextId(), status: 'pending', amountCents: cents },
              requestedAt: clock.now(),
            };
            withdrawals.push(withdrawal);
            service.balanceCents -= cents;
            if (arrives) await story.showWithdrawal(withdrawal);
          }
          const open = withdrawals.filter(({ status }) => status === 'pending');
          if (act === 'deny') await change(pick(open), { status: 'denied' });
          if (act === 'credit') {
            service.balanceCents += cents;
            credited += cents;
          }
          const all = [...sales, ...withdrawals];
          if (act === 'show') await show(pick(all)!);
          if (act === 'see') {
            await story.see();
            await check();
          }
        }

        // Once all has been seen, each resource has what it moved, once, and the rest is what nobody can know.
        for (const one of [...sales, ...withdrawals]) await show(one);
        await story.see();
        const { named, closing } = await check();
        for (const one of [...sales, ...withdrawals])
          expect(sum(named.filter(({ resource }) => resource?.id === one.id))).toBe(
            one === earlier ? 0 : effectOf(one),
          );
        expect(closing.unexplainedCents).toBe(credited);
      }),
      { numRuns: scale('SEEN_STATEMENTS') },
    );
  });

  test('A correction is an entry of its own, dated by the sighting, with the instant at which it was seen', async () => {
    const story = await startSeen(database);
    const { service, clock } = story;
    await story.see();
    const sale: Sale = {
      ...{ id: 'psa_corrected', status: 'pending', amountCents: 1_007, refundedCents: 0, paidAt: null },
    };
    await story.showSale(sale);
    service.balanceCents += 1_000;
    await story.showSale({ ...sale, status: 'paid', paidAt: clock.now() });
    await story.see();
    service.balanceCents -= 1_000;
    await story.showSale({ ...sale, status: 'failed' });
    const seenAt = clock.now();
    await story.see();
    const { entries } = await story.read();
    expect(kinds(entries)).toEqual(['payment 1000', 'payment -1000']);
    expect(entries.map(({ feeCents }) => feeCents)).toEqual([FEE, -FEE]);
    expect(entries[1]).toMatchObject({ reference: sale.id, seenAt, unexplainedCents: 0 });
    expect(entries[1]!.createdAt.getTime()).toBeGreaterThan(seenAt.getTime());
  });

  test('What is seen late is an entry then, and a line of the opposite sign takes it from what is unexplained', async () => {
    const story = await startSeen(database);
    const { service, clock, statement, tenant } = story;
    await story.see();
    service.balanceCents += 1_000;
    const paidAt = clock.now();
    await story.see();
    expect((await story.read()).closing).toMatchObject({ unexplainedCents: 1_000 });
    const before = clock.now();
    // The wallet shows the same figures: the payment makes the sighting.
    await story.showSale({ id: 'psa_late', status: 'paid', amountCents: 1_007, refundedCents: 0, paidAt });
    await story.see();
    const { entries, closing } = await story.read();
    expect(kinds(entries)).toEqual(['observed 1000', 'observed -1000', 'payment 1000']);
    expect(closing).toMatchObject({ unexplainedCents: 0, lines: [{ kind: 'observed', feeCents: null }, {}] });
    const numbers = entries.map(({ number }) => number);
    expect(numbers).toEqual([...numbers].sort((left, right) => left - right));
    expect(await statement.at(tenant, before)).toMatchObject({ unexplainedCents: 1_000, entry: entries[0] });
    // Nothing has moved, so nothing is written.
    await story.see();
    expect((await story.read()).entries).toHaveLength(3);
  });

  test('A refund that a payment showed as a sum, and that is named later, moves nothing again', async () => {
    const story = await startSeen(database);
    const { service, clock, statement, tenant } = story;
    await story.see();
    const sale: Sale = {
      id: 'psa_refunded',
      status: 'pending',
      amountCents: 1_007,
      refundedCents: 0,
      paidAt: null,
    };
    await story.showSale(sale);
    const paid = { ...sale, status: 'paid' as const, paidAt: clock.now() };
    service.balanceCents += 700;
    await story.showSale({ ...paid, refundedCents: 300 });
    await story.see();
    const refund = (id: string, status: string, amountCents: number) =>
      story.eventOf('refund', id, status, {
        ...{ refundId: id, amountCents, resource: { type: 'payment', id: sale.id } },
        ...{ createdAt: clock.now(), completedAt: null, failedAt: null },
      });
    await story.showEvents(refund('ref_1', 'completed', 300));
    await story.see();
    expect(kinds((await story.read()).entries)).toEqual(['payment 1000', 'refund -300']);
    service.balanceCents -= 50;
    await story.showEvents(refund('ref_2', 'processing', 50));
    await story.see();
    // The sum has the second one, too, and then that fails.
    await story.showSale({ ...paid, refundedCents: 350 });
    service.balanceCents += 50;
    await story.showEvents(refund('ref_2', 'failed', 50));
    await story.see();
    const { entries, closing } = await story.read();
    expect(kinds(entries)).toEqual(['payment 1000', 'refund -300', 'refund -50', 'refund_failure 50']);
    expect(closing.unexplainedCents).toBe(0);
    const named = (reference: string) =>
      statement.list(tenant, { end: 'first', limit: 9, reference }).then(({ items }) => items.length);
    expect([await named(sale.id), await named('ref_2'), await named('none')]).toEqual([4, 2, 0]);
  });

  test('A fee that is shown later is a line of its own, and the sum of the fees is known then', async () => {
    const story = await startSeen(database);
    const { service, clock } = story;
    await story.see();
    const sale: Sale = { id: 'psa_fee', status: 'paid', amountCents: 1_007, refundedCents: 0, paidAt: null };
    service.balanceCents += 1_000;
    await story.showSale({ ...sale, paidAt: clock.now(), feeCents: null });
    await story.see();
    const line = async (kind: string) =>
      (await story.read()).closing.lines.find((each) => each.kind === kind) ?? null;
    expect(kinds((await story.read()).entries)).toEqual(['observed -7', 'payment 1007']);
    expect(await line('payment')).toMatchObject({ amountCents: 1_007, feeCents: null });
    await story.showSale({ ...sale, paidAt: clock.now() });
    await story.see();
    const { entries, closing } = await story.read();
    expect(kinds(entries.slice(2))).toEqual(['observed 7', 'payment -7']);
    expect(closing.unexplainedCents).toBe(0);
    expect(await line('payment')).toMatchObject({ amountCents: 1_000, feeCents: FEE });
    // The fee of another payment is not known.
    service.balanceCents += 10;
    await story.showSale({ ...sale, id: 'psa_none', amountCents: 10, paidAt: clock.now(), feeCents: null });
    await story.see();
    expect(await line('payment')).toMatchObject({ amountCents: 1_010, feeCents: null });
  });

  test('A wallet that a server of the version before has mirrored alone is seen', async () => {
    const story = await startSeen(database);
    const { service, tenant } = story;
    await story.see();
    service.balanceCents += 5;
    await sql`update observed set snapshot = snapshot || ${JSON.stringify({
      balanceCents: service.balanceCents,
      withdrawableCents: service.balanceCents,
    })}::jsonb
      where account_id = ${tenant.accountId} and resource = 'wallet'`.execute(database.sql);
    await story.see();
    expect(kinds((await story.read()).entries)).toEqual(['observed 5']);
  });

  test('Events of a standby that was behind count, although a lost log had others of their versions', async () => {
    const story = await startSeen(database);
    const { clock, tenant } = story;
    await story.see();
    const sale: Sale = { id: 'psa_1', status: 'pending', amountCents: 17, refundedCents: 0, paidAt: null };
    const behind = await logOf(tenant);
    for (const id of ['psa_lost', 'psa_gone']) await story.showSale({ ...sale, id });
    await story.see();
    await setBack(tenant, behind);
    await story.showSale({ ...sale, status: 'paid', paidAt: clock.now() });
    await story.showSale({ ...sale, id: 'psa_2' });
    await story.see();
    expect(kinds((await story.read()).entries)).toEqual(['observed -10', 'payment 10']);
  });

  test('More events than a sighting takes follow in sightings of the same figures', async () => {
    const story = await startSeen(database);
    const { service, clock, statement, tenant } = story;
    await story.see();
    const many = (status: string, paidAt: Date | null) =>
      Array.from({ length: 1_005 }, (_, nth) =>
        story.eventOf('payment', `psa_${nth}`, status, {
          ...{ paymentId: `psa_${nth}`, method: 'pix', amountCents: 10, feeCents: 0, returnedCredits: [] },
          ...{ expiresAt: clock.now(), paidAt, refundedAt: null, refundedCents: 0, refundingCents: 0 },
        }),
      );
    // Nothing has moved, and the place is kept.
    await story.showEvents(...many('pending', null));
    await story.see();
    expect((await story.read()).entries).toEqual([]);
    service.balanceCents += 10_050;
    await story.showEvents(...many('paid', clock.now()));
    // A caller waits for one sighting alone.
    await story.see({ once: true });
    expect(await statement.count(tenant, {})).toBe(996);
    await story.see();
    const { entries, closing } = await story.read();
    expect(entries.filter(({ kind }) => kind === 'payment')).toHaveLength(1_005);
    // Those of the first sighting that are behind the thousandth are in the second one.
    expect(kinds(entries.filter(({ kind }) => kind === 'observed'))).toEqual([
      'observed 100',
      'observed -100',
    ]);
    expect(closing).toMatchObject({ unexplainedCents: 0, closing: { balanceCents: 110_050 } });
    expect(await statement.count(tenant, {})).toBe(1_007);
  });

  test('A state that cannot be read hides no wallet', async () => {
    const story = await startSeen(database);
    const { service, faults } = story;
    await story.see();
    service.balanceCents += 5;
    await story.showEvents(story.eventOf('payment', 'psa_broken', 'paid', {}));
    await story.see();
    expect(kinds((await story.read()).entries)).toEqual(['observed 5']);
    expect(faults.splice(0)).toHaveLength(1);
  });

  test('A figure that the service leaves out moves nothing, and what it moved meanwhile is seen later', async () => {
    const story = await startSeen(database);
    const { service, clock, statement, tenant } = story;
    expect(await statement.at(tenant, clock.now())).toBeNull();
    await story.see();
    Object.assign(service, { pendingReleaseCents: null });
    service.balanceCents += 10;
    await story.see();
    Object.assign(service, { pendingReleaseCents: 40 });
    await story.see();
    const { entries, closing } = await story.read();
    expect(entries.map(({ pendingReleaseDeltaCents }) => pendingReleaseDeltaCents)).toEqual([0, 40]);
    expect(entries[0]!.after.pendingReleaseCents).toBeNull();
    expect(closing.closing.pendingReleaseCents).toBe(40);
    const [bucket] = await statement.history(tenant, {
      ...{ startsAt: new Date(clock.now().getTime() - 60 * SECOND), endsAt: clock.now() },
      ...{ interval: 'month', timeZone: 'America/Sao_Paulo' },
    });
    expect(bucket).toMatchObject({ inCents: 10, outCents: 0, closing: { balanceCents: 100_010 } });
  });
});
