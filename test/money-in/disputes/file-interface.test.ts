import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { sql as raw } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { MAX_FILE_BYTES } from '../../../server/src/money-in/disputes/files.ts';
import { createVerifier } from '../../../server/src/programs/verify/verifier.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { jpeg, pdf, png } from '../../support/evidence-files.ts';
import type { RestAnswer, RestClient } from '../../support/rest.ts';
import { stallUploads } from '../../support/stalled-uploads.ts';

// Evidence as files, over REST, which alone takes bytes and answers them, and over GraphQL, which shows their names.

const SUBMIT = `mutation ($input: SubmitDisputeEvidenceInput!) { submitDisputeEvidence(input: $input) { __typename
  ... on SubmitDisputeEvidenceSuccess { dispute { status version evidence { text fileIds }
    files { fileId name mediaType sizeBytes sha256 createdAt } } }
  ... on UserError { code message } ... on ValidationError { fields { path message } } } }`;

const DELETE = `mutation ($disputeId: String!, $fileId: String!) { deleteDisputeFile(disputeId: $disputeId, fileId: $fileId) {
  __typename ... on DeleteDisputeFileSuccess { dispute { version files { name } } }
  ... on UserError { code message } ... on ValidationError { fields { path message } } } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant() {
  const tenant = { accountId: await addAccount(app), environment: 'live' } as const;
  const key = await addKey(app, tenant);
  const open = () => app.controls.openDispute(tenant, { amountCents: 2000 });
  return { tenant, key, client: app.client(key), rest: app.rest(key), open };
}

function upload(
  rest: RestClient,
  disputeId: string,
  {
    name = 'nota.pdf',
    type = 'application/pdf',
    body = pdf(),
    headers = {},
  }: { name?: string; type?: string; body?: Buffer; headers?: Record<string, string> } = {},
): Promise<RestAnswer> {
  return rest.send(`/disputes/${disputeId}/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body: new Uint8Array(body),
  });
}

const remove = (rest: RestClient, disputeId: string, fileId: string) =>
  rest.send(`/disputes/${disputeId}/files/${fileId}`, { method: 'DELETE' });

const download = (key: string, disputeId: string, fileId: string) =>
  fetch(`${app.url}/v1/disputes/${disputeId}/files/${fileId}`, {
    headers: { authorization: `Bearer ${key}` },
  });

const filesOf = async (rest: RestClient, disputeId: string) =>
  (await rest.get(`/disputes/${disputeId}`)).body.files;

describe('a file of a dispute', () => {
  test('It is answered as it came, to be saved, and stored as nobody can read it', async () => {
    const { key, rest, open, client } = await merchant();
    const disputeId = await open();
    const bytes = pdf('Entregue na portaria');
    const name = 'Nota nº 7; "x" fora.pdf'.replaceAll('"', "'");
    const { status, body: file, headers } = await upload(rest, disputeId, { name, body: bytes });
    expect({ status, file }).toEqual({
      status: 201,
      file: {
        fileId: expect.stringMatching(/^dsf_[0-9a-f]{24}$/),
        name,
        mediaType: 'application/pdf',
        sizeBytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        createdAt: app.clock.now().toISOString(),
      },
    });
    expect(headers.get('idempotent-replayed')).toBeNull();
    const answer = await download(key, disputeId, file.fileId);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="Nota n_ 7; 'x' fora.pdf"; filename*=UTF-8''Nota%20n%C2%BA%207%3B%20%27x%27%20fora.pdf`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'no-store',
    });
    const row = await app.database.sql
      .selectFrom('dispute_file')
      .selectAll()
      .where('file_id', '=', file.fileId)
      .executeTakeFirstOrThrow();
    expect(Buffer.from(row.sealed).includes('%PDF')).toBe(false);

    // It waits for a submission: the dispute is open, and the banks have not seen it.
    const { body: dispute } = await rest.get(`/disputes/${disputeId}`);
    expect(dispute).toMatchObject({ status: 'open', evidence: [], files: [file] });
    const input = { disputeId, fileIds: [file.fileId] };
    expect((await client.request(SUBMIT, { input })).submitDisputeEvidence.dispute).toEqual({
      status: 'UNDER_REVIEW',
      version: 3,
      evidence: [{ text: null, fileIds: [file.fileId] }],
      files: [file],
    });
    expect((await rest.get(`/disputes/${disputeId}`)).body.evidence).toMatchObject([
      { fileIds: [file.fileId], documents: [] },
    ]);
  });

  test('The same bytes are one file, and so is what has the same key', async () => {
    const { rest, open } = await merchant();
    const [disputeId, other] = [await open(), await open()];
    const first = await upload(rest, disputeId);
    const again = await upload(rest, disputeId, { name: 'outra.pdf' });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await upload(rest, other)).body.fileId).not.toBe(first.body.fileId);

    const keyed = { headers: { 'idempotency-key': 'arquivo-1' }, body: pdf('2') };
    const second = await upload(rest, disputeId, keyed);
    const repeated = await upload(rest, disputeId, keyed);
    expect([repeated.body, repeated.headers.get('idempotent-replayed')]).toEqual([second.body, 'true']);
    for (const change of [{ body: pdf('3') }, { name: 'b.pdf' }])
      expect(await upload(rest, disputeId, { ...keyed, ...change })).toMatchObject({
        status: 409,
        body: { code: 'IDEMPOTENCY_CONFLICT' },
      });
    expect(await filesOf(rest, disputeId)).toEqual([first.body, second.body]);
    const { body } = await upload(rest, disputeId, { headers: { 'idempotency-key': 'x'.repeat(129) } });
    expect(body.error).toContain('Idempotency-Key: ');
  });

  test('A dispute has three, whatever comes at once, and none once it takes no evidence', async () => {
    const { rest, open, tenant } = await merchant();
    const disputeId = await open();
    await upload(rest, disputeId, { type: 'image/png', name: 'a.png', body: png() });
    await upload(rest, disputeId, { type: 'image/jpeg', name: 'a.jpg', body: jpeg() });
    const both = await Promise.all(['a', 'b'].map((note) => upload(rest, disputeId, { body: pdf(note) })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(both.find(({ status }) => status === 409)!.body.code).toBe('DISPUTE_STATE');
    const files = await filesOf(rest, disputeId);
    expect(files).toHaveLength(3);
    await app.controls.closeDispute(tenant, disputeId, 'won');
    const late = await upload(rest, disputeId, { body: pdf('late') });
    expect([late.status, late.body.code]).toEqual([409, 'DISPUTE_STATE']);
    // What is there is replayed, and read, also later.
    const { sha256 } = files[0];
    const replay = await upload(rest, disputeId, { type: 'image/png', name: 'a.png', body: png() });
    expect([replay.status, replay.body.sha256]).toEqual([201, sha256]);
  });

  test('A submission names files of its own dispute, each once', async () => {
    const { client, rest, open } = await merchant();
    const stranger = await merchant();
    const [disputeId, other] = [await open(), await stranger.open()];
    const { fileId } = (await upload(rest, disputeId)).body;
    const foreign = (await upload(stranger.rest, other, { body: pdf('foreign') })).body.fileId;
    for (const [fileIds, path] of [
      [[foreign], 'input.fileIds.0'],
      [[fileId, `dsf_${'0'.repeat(24)}`], 'input.fileIds.1'],
      [[fileId, fileId], 'input.fileIds'],
      [['a', 'b', 'c', 'd'], 'input.fileIds'],
      [['../a'], 'input.fileIds.0'],
      [[], 'input.text'],
    ] as const) {
      const { submitDisputeEvidence } = await client.request(SUBMIT, { input: { disputeId, fileIds } });
      expect(submitDisputeEvidence.fields).toMatchObject([{ path }]);
      const { status, body } = await rest.post(`/disputes/${disputeId}/evidence`, { fileIds });
      expect([status, body.error]).toEqual([
        400,
        expect.stringContaining(`${path.slice('input.'.length)}: `),
      ]);
    }
    expect((await rest.get(`/disputes/${disputeId}`)).body.evidence).toEqual([]);
  });
});

describe('a file that was uploaded by mistake', () => {
  const stored = async (fileId: string) =>
    (
      await app.database.sql
        .selectFrom('dispute_file')
        .select('file_id')
        .where('file_id', '=', fileId)
        .execute()
    ).length;

  test('It is deleted with its bytes, by either interface, and makes room for another one', async () => {
    const { client, rest, open, key } = await merchant();
    const disputeId = await open();
    const [first, second, third] = await Promise.all(
      ['1', '2', '3'].map(async (note) => (await upload(rest, disputeId, { body: pdf(note) })).body.fileId),
    );
    expect(await remove(rest, disputeId, first)).toMatchObject({ status: 200, body: { deleted: true } });
    const { deleteDisputeFile } = await client.request(DELETE, { disputeId, fileId: second });
    expect(deleteDisputeFile).toMatchObject({ dispute: { version: 6, files: [{ name: 'nota.pdf' }] } });
    expect([await stored(first), await stored(second), await stored(third)]).toEqual([0, 0, 1]);
    expect((await download(key, disputeId, first)).status).toBe(404);
    expect(await remove(rest, disputeId, first)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect((await upload(rest, disputeId, { body: pdf('4') })).status).toBe(201);
    // The upload of a file that was deleted is not repeated by its key.
    const keyed = { headers: { 'idempotency-key': 'arquivo-1' }, body: pdf('5') };
    const { fileId } = (await upload(rest, disputeId, keyed)).body;
    await remove(rest, disputeId, fileId);
    expect((await upload(rest, disputeId, keyed)).status).toBe(404);
  });

  test('It stays once a submission has it, or the dispute takes no evidence, and for others', async () => {
    const { client, rest, open, tenant } = await merchant();
    const stranger = await merchant();
    const disputeId = await open();
    const submitted = (await upload(rest, disputeId)).body.fileId;
    const other = (await upload(rest, disputeId, { body: pdf('other') })).body.fileId;
    await client.request(SUBMIT, { input: { disputeId, fileIds: [submitted] } });
    const state = { status: 409, body: { code: 'DISPUTE_STATE' } };
    expect(await remove(rest, disputeId, submitted)).toMatchObject(state);
    expect(await remove(stranger.rest, disputeId, other)).toMatchObject({ status: 404 });
    expect(await remove(rest, await open(), other)).toMatchObject({ status: 404 });
    expect(await remove(rest, disputeId, 'dsf_x')).toMatchObject({ status: 400 });
    const wrong = await client.request(DELETE, { disputeId, fileId: 'dsf_x' });
    expect(wrong.deleteDisputeFile.fields).toMatchObject([{ path: 'fileId' }]);
    await app.controls.closeDispute(tenant, disputeId, 'lost');
    expect(await remove(rest, disputeId, other)).toMatchObject(state);
    expect([await stored(submitted), await stored(other)]).toEqual([1, 1]);
  });
});

test('A submission whose file is lost, cut or no longer listed breaks a law of the books', async () => {
  const { client, rest, open, tenant } = await merchant();
  const disputeId = await open();
  const { fileId } = (await upload(rest, disputeId)).body;
  await client.request(SUBMIT, { input: { disputeId, fileIds: [fileId] } });
  const { sql: database } = app.database;
  const verifier = createVerifier({
    ...{ database: app.database, clock: app.clock, isFacade: false, pause: async () => undefined },
  });
  const broken = async () => {
    const input = { accountId: tenant.accountId, law: 'evidence-has-files', sinceLast: false };
    const { findings, undecided } = await verifier.verify(input);
    expect(undecided).toEqual([]);
    return findings.map(({ key }) => key);
  };
  expect(await broken()).toEqual([]);
  const give = (accountId: string) =>
    raw`update dispute_file set account_id = ${accountId} where file_id = ${fileId}`.execute(database);
  await give(await addAccount(app));
  expect(await broken()).toEqual([disputeId]);
  await give(tenant.accountId);
  await raw`update dispute set files = '[]' where id = ${disputeId}`.execute(database);
  expect(await broken()).toEqual([disputeId]);
  await raw`update dispute set files = ${JSON.stringify([{ fileId, sizeBytes: 1 }])}::jsonb where id = ${disputeId}`.execute(
    database,
  );
  expect(await broken()).toEqual([disputeId]);
  await raw`delete from dispute_file where file_id = ${fileId}`.execute(database);
  expect(await broken()).toEqual([disputeId]);
  // The erasure of a person deletes the bytes of disputes that are decided.
  await app.controls.closeDispute(tenant, disputeId, 'won');
  expect(await broken()).toEqual([]);
});

describe('an upload that is refused', () => {
  test('Other types, bytes, names, disputes and parameters are refused by name', async () => {
    const { rest, open, key } = await merchant();
    const stranger = await merchant();
    const disputeId = await open();
    for (const [change, status, words] of [
      [{ type: 'text/html' }, 400, 'Content-Type: must be application/pdf or image/png or image/jpeg'],
      [{ type: '' }, 400, 'Content-Type: '],
      [{ type: 'multipart/form-data; boundary=x' }, 400, 'Content-Type: '],
      [{ headers: { 'content-encoding': 'gzip' } }, 400, 'Content-Encoding'],
      [{ type: 'image/png', name: 'a.png' }, 400, 'body: must be a whole file of image/png'],
      [{ body: Buffer.alloc(0) }, 400, 'The body is empty'],
      [{ name: 'nota.html' }, 400, 'name: must end in .pdf'],
      [{ name: 'a\0.pdf' }, 400, 'name: '],
      [{ name: 'a\r\nx: y.pdf' }, 400, 'name: '],
      [{ name: '../../etc/passwd.pdf' }, 400, 'name: '],
      [{ name: '' }, 400, 'name: '],
    ] as const) {
      const answer = await upload(rest, disputeId, change);
      expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(words)]);
    }
    for (const path of [`/disputes/${disputeId}/files`, `/disputes/${disputeId}/files?name=a.pdf&size=1`])
      expect(
        (await rest.send(path, { method: 'POST', headers: { 'content-type': 'application/pdf' }, body: 'x' }))
          .status,
      ).toBe(400);
    expect((await upload(stranger.rest, disputeId)).body).toMatchObject({ code: 'NOT_FOUND' });
    expect((await upload(rest, `dsp_${'0'.repeat(24)}`)).status).toBe(404);
    expect(await filesOf(rest, disputeId)).toEqual([]);

    const { fileId } = (await upload(rest, disputeId)).body;
    expect((await download(stranger.key, disputeId, fileId)).status).toBe(404);
    expect((await download(stranger.key, await stranger.open(), fileId)).status).toBe(404);
    expect((await download(key, await open(), fileId)).status).toBe(404);
    expect((await download(key, disputeId, `dsf_${'0'.repeat(24)}`)).status).toBe(404);
    expect((await download(key, disputeId, 'dsf_x')).status).toBe(400);
  });

  test('No token and no restricted key uploads or downloads', async () => {
    const { tenant, rest, open } = await merchant();
    const disputeId = await open();
    const { fileId } = (await upload(rest, disputeId)).body;
    const restricted = await addKey(app, { ...tenant, permissions: ['statement.read'] });
    const dashboard = await addToken(app, { ...tenant, kind: 'dashboard', grant: { scopes: ['disputes'] } });
    const payer = await addToken(app, { ...tenant, kind: 'payment', grant: { orderCode: 'PSC-1' } });
    for (const [credential, status] of [
      [restricted, 403],
      [dashboard, 401],
      [payer, 401],
      ['', 401],
    ] as const) {
      expect((await download(credential, disputeId, fileId)).status).toBe(status);
      expect((await upload(app.rest(credential), disputeId, { body: pdf('2') })).status).toBe(status);
    }
  });

  /** Sends the head of an upload, then parts of its body; ends it unless it is cut off. Answers null if nothing comes. */
  function send(
    key: string,
    disputeId: string,
    headers: Record<string, string>,
    parts: Buffer[],
    cutOff = false,
  ) {
    return new Promise<{ status: number; error: string } | null>((resolve) => {
      const sent = request(`${app.url}/v1/disputes/${disputeId}/files?name=a.pdf`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/pdf', ...headers },
      });
      sent.on('response', async (response) => {
        const chunks = await response.toArray();
        resolve({ status: response.statusCode!, ...JSON.parse(Buffer.concat(chunks).toString()) });
      });
      sent.on('error', () => resolve(null));
      sent.flushHeaders();
      for (const part of parts) sent.write(part);
      if (cutOff) setImmediate(() => sent.destroy());
      else sent.end();
    });
  }

  test('5 MB are taken, and one byte more is refused, by its length before it is sent, or while it is', async () => {
    const { key, rest, open } = await merchant();
    const disputeId = await open();
    const largest = pdf('x'.repeat(MAX_FILE_BYTES - pdf().length));
    const { status, body } = await upload(rest, disputeId, { body: largest });
    expect([status, body.sizeBytes]).toEqual([201, MAX_FILE_BYTES]);
    expect(
      Buffer.from(await (await download(key, disputeId, body.fileId)).arrayBuffer()).equals(largest),
    ).toBe(true);
    const tooLarge = { status: 413, error: `The body must have at most ${MAX_FILE_BYTES} bytes` };
    const length = { 'content-length': String(MAX_FILE_BYTES + 1) };
    expect(await send(key, disputeId, length, [Buffer.alloc(1)])).toMatchObject(tooLarge);
    const chunks = [largest, Buffer.alloc(1)];
    expect(await send(key, disputeId, { 'transfer-encoding': 'chunked' }, chunks)).toMatchObject(tooLarge);
    expect(await filesOf(rest, disputeId)).toHaveLength(1);
  });

  test('Three files of an account are open at once, and each that ends makes room', async () => {
    const { key, rest, open } = await merchant();
    const disputeId = await open();
    const { fileId } = (await upload(rest, disputeId)).body;
    /** Downloads until it is answered so. */
    const becomes = async (wanted: number, words: string) => {
      for (;;) {
        const answer = await download(key, disputeId, fileId);
        const text = await answer.text();
        if (answer.status === wanted) return expect(text).toContain(words);
      }
    };
    const end = stallUploads(app.url, key, disputeId);
    onTestFinished(end);
    await becomes(429, '3 open files of one account');
    end();
    await becomes(200, '%PDF');
  });

  test('An upload that is cut off stores nothing, and makes room for others', async () => {
    const { key, rest, open } = await merchant();
    const disputeId = await open();
    const length = { 'content-length': '100000' };
    for (let nth = 0; nth < 5; nth += 1) expect(await send(key, disputeId, length, [pdf()], true)).toBeNull();
    expect((await upload(rest, disputeId)).status).toBe(201);
    expect(await filesOf(rest, disputeId)).toHaveLength(1);
  });
});
