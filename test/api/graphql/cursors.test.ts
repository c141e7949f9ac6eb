import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { connectTo, createPostgresDatabase, takePostgresDatabase } from '../../support/database.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

const clock = createManualClock();
const start = async (databaseUrl: string): Promise<TestApp> =>
  startApp({ database: await connectTo(databaseUrl, clock), clock });

async function create(client: GraphQLClient): Promise<string> {
  const { createCardPayment } = await client.request(
    'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  return createCardPayment.cardPayment.orderCode;
}

/** The cursors of every payment, the newest first. */
async function listCursors(client: GraphQLClient): Promise<string[]> {
  const { cardPayments } = await client.request('{ cardPayments { edges { cursor } } }');
  return cardPayments.edges.map(({ cursor }: { cursor: string }) => cursor);
}

async function updatesCursor(client: GraphQLClient): Promise<string> {
  return (await client.request('{ updatesCursor }')).updatesCursor;
}

/** The items behind a cursor in the list. */
async function listed(client: GraphQLClient, after: string): Promise<string[]> {
  const LIST = 'query ($after: String) { cardPayments(after: $after) { nodes { orderCode } } }';
  const { status, body } = await client.send(LIST, { after });
  if (body.errors) throw Object.assign(new Error('refused'), { status, errors: body.errors });
  return body.data.cardPayments.nodes.map(({ orderCode }: { orderCode: string }) => orderCode);
}

/** The next update after a cursor. */
async function followed(client: GraphQLClient, after: string): Promise<string> {
  const ALL =
    'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { orderCode } } }';
  const stream = client.ws(ALL, { after });
  const { value } = await stream.next();
  await stream.close();
  if (value.errors) throw Object.assign(new Error('refused'), { errors: value.errors });
  return value.data.allCardPaymentUpdates.cardPayment.orderCode;
}

const refusedAfter = (message: string) => ({
  errors: [{ extensions: { code: 'BAD_USER_INPUT', fields: [{ path: 'after', message }] } }],
});
const NO_PLACE = { status: 400, ...refusedAfter('is not a cursor of this list') };
const NO_CURSOR = refusedAfter('is not a cursor of updates: give updatesCursor, or the cursor of an update');
const EXPIRED = { errors: [{ extensions: { code: 'CURSOR_EXPIRED', retryPolicy: 'AFTER_CHANGE' } }] };

/** The same cursor with one other character, which still spells 16 bytes. */
function changed(cursor: string): string {
  return (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1);
}

describe('the cursors of one server', () => {
  let app: TestApp;
  let other: GraphQLClient;
  beforeAll(async () => {
    app = await startApp();
    other = app.client(await addKey(app, { accountId: await addAccount(app) }));
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });

  test('a cursor shows a payer nothing of the account’s activity, and nobody the number of payments', async () => {
    const orderCode = await create(app.live);
    const payer = app.client(await addToken(app, { kind: 'payment', grant: { orderCode } }));
    const cursors: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const stream = payer.ws(
        'subscription ($code: String!) { cardPaymentUpdates(orderCode: $code) { cursor } }',
        {
          code: orderCode,
        },
      );
      cursors.push((await stream.data()).cardPaymentUpdates.cursor);
      await stream.close();
      await create(app.live);
    }
    cursors.push(...(await listCursors(app.live)));

    expect(new Set(cursors).size).toBe(cursors.length);
    const bytes = cursors.map((cursor) => {
      expect(cursor).toMatch(/^[\w-]{22}$/);
      return Buffer.from(cursor, 'base64url');
    });
    // Cursors of neighbouring positions would be nearly equal if any part of them were readable.
    for (const [index, one] of bytes.slice(1).entries())
      expect(one.filter((byte, at) => byte === bytes[index]![at]).length).toBeLessThan(8);
  });

  test('a cursor is refused for another purpose', async () => {
    const [ofList] = await listCursors(app.live);
    const ofUpdates = await updatesCursor(app.live);
    await expect(followed(app.live, ofList!)).rejects.toMatchObject(NO_CURSOR);
    await expect(listed(app.live, ofUpdates)).rejects.toMatchObject(NO_PLACE);
  });

  test.each(['another account', 'the other environment'])('a cursor is refused for %s', async (whose) => {
    const stranger = whose === 'another account' ? other : app.sandbox;
    const ofUpdates = await updatesCursor(app.live);
    const [ofList] = await listCursors(app.live);
    await expect(followed(stranger, ofUpdates)).rejects.toMatchObject(NO_CURSOR);
    await expect(listed(stranger, ofList!)).rejects.toMatchObject(NO_PLACE);
  });

  test('a cursor with one changed character is refused', async () => {
    const [ofList] = await listCursors(app.live);
    const ofUpdates = await updatesCursor(app.live);
    await expect(followed(app.live, changed(ofUpdates))).rejects.toMatchObject(NO_CURSOR);
    await expect(listed(app.live, changed(ofList!))).rejects.toMatchObject(NO_PLACE);
  });
});

describe('the cursors of one database', () => {
  test('a cursor is valid on a second instance and after a restart', async () => {
    const databaseUrl = await takePostgresDatabase();
    // Both instances start at once, so they have to agree on the key.
    const [one, two] = await Promise.all([start(databaseUrl), start(databaseUrl)]);
    const first = await create(one.live);
    const ofUpdates = await updatesCursor(one.live);
    const second = await create(two.live);
    const [ofList] = await listCursors(one.live);
    for (const app of [one, two]) {
      expect(await followed(app.live, ofUpdates)).toBe(second);
      expect(await listed(app.live, ofList!)).toEqual([first]);
      await app.close();
    }

    const again = await start(databaseUrl);
    expect(await followed(again.live, ofUpdates)).toBe(second);
    expect(await listed(again.live, ofList!)).toEqual([first]);
    expect(await listCursors(again.live)).toContain(ofList);
    await again.close();
    expect([...one.faults, ...two.faults, ...again.faults]).toEqual([]);
  });

  test('a cursor that is newer than a restored backup has expired', async () => {
    const databaseUrl = await createPostgresDatabase();
    const before = await start(databaseUrl);
    const first = await create(before.live);
    const kept = await updatesCursor(before.live);
    await before.close();
    const backupUrl = await createPostgresDatabase(new URL(databaseUrl).pathname.slice(1));

    const went = await start(databaseUrl);
    const second = await create(went.live);
    const lost = await updatesCursor(went.live);
    expect(await followed(went.live, kept)).toBe(second);
    await went.close();

    const restored = await start(backupUrl);
    await expect(followed(restored.live, lost)).rejects.toMatchObject(EXPIRED);
    const third = await create(restored.live);
    expect(await followed(restored.live, kept)).toBe(third);
    expect(third).not.toBe(first);
    await restored.close();
    expect([...before.faults, ...went.faults, ...restored.faults]).toEqual([]);
  });
});
