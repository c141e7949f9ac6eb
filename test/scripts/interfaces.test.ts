import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBreakingSchemaChanges } from '../../server/scripts/interfaces.mjs';
import { type Description, findBreakingRestChanges } from '../../server/scripts/rest-changes.mjs';
import { ScriptsFixture } from '../support/scripts-fixture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// ── GraphQL ─────────────────────────────────────────────────────────────────────────────────────

const SCHEMA = `
  type Query { payout(id: ID!, first: Int): Payout! }
  type Payout { id: ID! feeCents: Int! status: Status! note: String }
  enum Status { PENDING PAID }
  input RequestPayoutInput { amountCents: Int! note: String }
  type Mutation { requestPayout(input: RequestPayoutInput!): Payout! }`;

/** The names of the changes that break a client if the schema has the second text in place of the first. */
async function brokenBy(before: string, after: string): Promise<string[]> {
  expect(SCHEMA).toContain(before);
  const changes = await findBreakingSchemaChanges(SCHEMA, SCHEMA.replace(before, after));
  return changes.map(({ name }) => name);
}

describe('The comparison of the GraphQL schema', () => {
  it.each([
    ['a field that is gone', ' feeCents: Int!', '', 'Payout.feeCents'],
    ['a field that may be null now', 'feeCents: Int!', 'feeCents: Int', 'Payout.feeCents'],
    ['a field of another type', 'feeCents: Int!', 'feeCents: String!', 'Payout.feeCents'],
    ['a required argument', 'first: Int', 'first: Int!', 'Query.payout.first'],
    [
      'a required member of an input',
      'note: String }\n  type M',
      'note: String! }\n  type M',
      'RequestPayoutInput.note',
    ],
    ['a value of an enum that is gone', 'PENDING PAID', 'PAID', 'Status.PENDING'],
  ])('The comparison of the GraphQL schema reports %s', async (_, before, after, name) => {
    expect(await brokenBy(before, after)).toEqual([name]);
  });

  it.each([
    ['a new field', 'note: String }\n  enum', 'note: String code: String! }\n  enum'],
    ['a field that is never null any more', 'status: Status! note: String', 'status: Status! note: String!'],
    ['a new argument that may be left out', 'first: Int', 'first: Int, after: String'],
    ['a new member of an input that may be left out', 'amountCents: Int!', 'amountCents: Int! code: String'],
    ['a new value of an enum', 'PENDING PAID', 'PENDING PAID DENIED'],
  ])('The comparison of the GraphQL schema lets %s pass', async (_, before, after) => {
    expect(await brokenBy(before, after)).toEqual([]);
  });
});

// ── REST ────────────────────────────────────────────────────────────────────────────────────────

const REST = JSON.parse(readFileSync(join(root, 'server/released/openapi.json'), 'utf8'));

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it changes
type Any = any;
const list = (description: Any) => description.paths['/v1/payouts'].get;
const request = (description: Any) => description.paths['/v1/payouts'].post;
const body = (description: Any) => request(description).requestBody.content['application/json'].schema;
const payout = (description: Any) => description.components.schemas.Payout;

type Plant = (description: Any) => void;

function changesOf(plant: Plant, prepare: Plant = () => undefined): string[] {
  const before: Description = structuredClone(REST);
  prepare(before);
  const after = structuredClone(before);
  plant(after);
  expect(after).not.toEqual(before);
  return [...new Set(findBreakingRestChanges(before, after).map(({ name }) => name))];
}

describe('The comparison of the REST description', () => {
  it('The comparison of the REST description reports an event that is not sent any more, and a member that it lost', () => {
    const body = (...members: string[]) => ({
      type: 'object',
      properties: Object.fromEntries(members.map((member) => [member, { type: 'string' }])),
      required: members,
    });
    const sends = (events: Record<string, object>): Description => ({
      ...REST,
      webhooks: Object.fromEntries(
        Object.entries(events).map(([event, schema]) => [
          event,
          { post: { requestBody: { content: { 'application/json': { schema } } } } },
        ]),
      ),
    });
    const before = sends({ 'payment.paid': body('event', 'paidAt'), 'payment.failed': body('event') });
    const after = sends({ 'payment.paid': body('event', 'more'), 'payment.expired': body('event') });
    expect(findBreakingRestChanges(before, after).map(({ name }) => name)).toEqual([
      'webhooks/payment.paid: paidAt',
      'webhooks/payment.failed',
    ]);
    expect(findBreakingRestChanges({ ...REST, webhooks: {} }, before)).toEqual([]);
  });

  it('The comparison of the REST description finds nothing where nothing has changed', () => {
    expect(findBreakingRestChanges(REST, structuredClone(REST))).toEqual([]);
  });

  it.each<[string, Plant, string[], prepare?: Plant]>([
    ['a path that is gone', (d) => delete d.paths['/v1/payouts'], ['POST /v1/payouts', 'GET /v1/payouts']],
    ['an operation that is gone', (d) => delete d.paths['/v1/payouts'].post, ['POST /v1/payouts']],
    ['another way to authenticate', (d) => d.security.push({ cookie: [] }), ['security']],
    [
      'a new parameter that is required',
      (d) =>
        list(d).parameters.push({ name: 'since', in: 'query', required: true, schema: { type: 'string' } }),
      ['GET /v1/payouts query since'],
    ],
    ['a parameter that is gone', (d) => list(d).parameters.splice(1, 1), ['GET /v1/payouts query offset']],
    [
      'a parameter that may be less',
      (d) => Object.assign(list(d).parameters[0].schema, { maximum: 50 }),
      ['GET /v1/payouts query limit'],
    ],
    [
      'a parameter with another default',
      (d) => Object.assign(list(d).parameters[0].schema, { default: 20 }),
      ['GET /v1/payouts query limit'],
    ],
    ['a body that is not read any more', (d) => delete request(d).requestBody, ['POST /v1/payouts']],
    [
      'a new member of a body that is required',
      (d) => {
        body(d).properties.reason = { type: 'string' };
        body(d).required.push('reason');
      },
      ['POST /v1/payouts: reason'],
    ],
    [
      'a member of a body that is required now',
      (d) => body(d).required.push('idempotencyKey'),
      ['POST /v1/payouts: idempotencyKey'],
    ],
    [
      'a member of a body that is gone',
      (d) => delete body(d).properties.idempotencyKey,
      ['POST /v1/payouts: idempotencyKey'],
    ],
    [
      'a member of a body that may not be null any more',
      (d) => body(d).properties.idempotencyKey.anyOf.pop(),
      ['POST /v1/payouts: idempotencyKey'],
    ],
    [
      'a value that a body may not have any more',
      (d) => body(d).properties.method.enum.pop(),
      ['POST /v1/payouts: method'],
    ],
    [
      'a body with a narrower type',
      (d) => Object.assign(body(d).properties.amount.anyOf[0], { type: 'integer' }),
      ['POST /v1/payouts: amount'],
    ],
    [
      'a body with a limit that is new',
      (d) => Object.assign(body(d).properties.walletAddress, { maxLength: 10 }),
      ['POST /v1/payouts: walletAddress'],
    ],
    [
      'a body whose other members are refused now',
      (d) => Object.assign(body(d), { additionalProperties: false }),
      ['POST /v1/payouts'],
      (d) => delete body(d).additionalProperties,
    ],
    ['a success that is gone', (d) => delete list(d).responses['200'], ['GET /v1/payouts 200']],
    [
      'a header that is gone',
      (d) => delete list(d).responses['200'].headers['RateLimit-Reset'],
      ['GET /v1/payouts 200 RateLimit-Reset'],
    ],
    ['a member of an answer that is gone', (d) => delete payout(d).properties.fee, ['schemas/Payout: fee']],
    [
      'a member of an answer that may be left out now',
      (d) =>
        Object.assign(payout(d), {
          required: payout(d).required.filter((name: string) => name !== 'amount'),
        }),
      ['schemas/Payout: amount'],
    ],
    [
      'a member of an answer that may be null now',
      (d) =>
        Object.assign(payout(d).properties, { fee: { anyOf: [payout(d).properties.fee, { type: 'null' }] } }),
      ['schemas/Payout: fee'],
    ],
    [
      'a member of an answer with another type',
      (d) => Object.assign(payout(d).properties.fee, { type: 'string' }),
      ['schemas/Payout: fee'],
    ],
    [
      'a member of an answer that may be any text now',
      (d) => delete payout(d).properties.status.enum,
      ['schemas/Payout: status'],
    ],
    [
      'a member of a body that no alternative has',
      (d) => {
        Object.assign(body(d), { oneOf: [{ required: ['amount'] }, { required: ['amountCents'] }] });
        delete body(d).properties.walletAddress;
      },
      ['POST /v1/payouts: walletAddress'],
    ],
    [
      'a keyword that the comparison does not know',
      (d) => Object.assign(body(d).properties.amount, { multipleOf: 5 }),
      ['POST /v1/payouts: amount'],
    ],
  ])('The comparison of the REST description reports %s', (_, plant, names, prepare) => {
    expect(changesOf(plant, prepare)).toEqual(names);
  });

  it.each<[string, Plant, prepare?: Plant]>([
    ['a new path', (d) => Object.assign(d.paths, { '/v2/payouts': d.paths['/v1/payouts'] })],
    ['other words', (d) => Object.assign(request(d), { summary: 'x', description: 'y' })],
    [
      'a new parameter that may be left out',
      (d) =>
        list(d).parameters.push({ name: 'since', in: 'query', required: false, schema: { type: 'string' } }),
    ],
    ['a parameter that may be more', (d) => Object.assign(list(d).parameters[0].schema, { maximum: 500 })],
    [
      'a new member of a body that may be left out',
      (d) => Object.assign(body(d).properties, { reason: { type: 'string' } }),
    ],
    ['a member of a body that may be left out now', (d) => body(d).required.pop()],
    [
      'another member in place of a required one',
      (d) => {
        const { properties, required } = body(d);
        Object.assign(body(d), {
          properties: { ...properties, amountCents: { type: 'integer' } },
          required: required.filter((name: string) => name !== 'amount'),
          oneOf: [{ required: ['amount'] }, { required: ['amountCents'] }],
        });
      },
      (d) => {
        delete body(d).oneOf;
        delete body(d).properties.amountCents;
        body(d).required.push('amount');
      },
    ],
    ['the format of integers', (d) => delete list(d).parameters[0].schema.format],
    ['a new value that a body may have', (d) => body(d).properties.method.enum.push('boleto')],
    [
      'a new member of an answer',
      (d) => {
        payout(d).properties.reason = { type: 'string' };
        payout(d).required.push('reason');
      },
    ],
    ['a new value of an answer', (d) => payout(d).properties.status.enum.push('returned')],
    ['an answer with a narrower type', (d) => Object.assign(payout(d).properties.fee, { type: 'integer' })],
    ['a new refusal', (d) => Object.assign(list(d).responses, { 418: { description: 'x' } })],
    ['a refusal that is gone', (d) => delete list(d).responses['500']],
  ])('The comparison of the REST description lets %s pass', (_, plant, prepare) => {
    expect(changesOf(plant, prepare)).toEqual([]);
  });
});

/** A changelog as `changeset version` writes it, and as it is released. */
const WRAPPED =
  '# Changelog\n\n## 0.2.0\n\n### Minor Changes\n\n- 0ce8e85: ### What you must do\n\n  - Read.\n\n    More.\n\n## 0.1.0\n\nThe first.\n';
const UNWRAPPED =
  '# Changelog\n\n## 0.2.0\n\n### What you must do\n\n- Read.\n\n  More.\n\n## 0.1.0\n\nThe first.\n';

// ── The gate and the release ────────────────────────────────────────────────────────────────────

describe('Against the interfaces of the last release', () => {
  let fixture: ScriptsFixture;
  beforeEach(() => {
    fixture = new ScriptsFixture();
    fixture.link('server/node_modules');
    fixture.write('server/released/schema.graphql', SCHEMA);
    fixture.write('server/released/openapi.json', JSON.stringify(REST));
    fixture.write('schema.graphql', SCHEMA);
    describeAs(() => undefined);
    fixture.write(
      'gate.mjs',
      `import { runGates } from './server/scripts/gates.mjs';
       const [{ ok }] = await runGates(['interfaces']);
       process.exitCode = ok ? 0 : 1;`,
    );
  });
  afterEach(() => fixture[Symbol.dispose]());

  /** Replaces the description of the server's sources, and the freeze of migrations by one that only reports itself. */
  function describeAs(plant: (description: Any) => void): void {
    const description = structuredClone(REST);
    plant(description);
    fixture.write('now.json', JSON.stringify(description));
    fixture.write(
      'node_modules/tsx/dist/cli.mjs',
      `import { readFileSync, writeFileSync } from 'node:fs';
       if (process.argv[2] === 'server/scripts/print-openapi.ts') process.stdout.write(readFileSync('now.json', 'utf8'));
       else if (process.argv[2] === 'state/db/freeze.ts') writeFileSync('frozen', '');
       else throw new Error(process.argv[2]);`,
    );
  }

  const note = (type: string, text: string, name = '@psa/server') =>
    fixture.write('.changeset/a-note.md', `---\n'${name}': ${type}\n---\n\n${text}\n`);

  it('Unchanged interfaces pass the gate', async () => {
    expect(await fixture.script('gate.mjs')).toMatchObject({ code: 0 });
  });

  it('A break of GraphQL fails the gate, which names it', async () => {
    fixture.write('schema.graphql', SCHEMA.replace(' feeCents: Int!', ''));
    const { code, output } = await fixture.script('gate.mjs');
    expect(code).toBe(1);
    expect(output).toContain('`Payout.feeCents`: ');
    expect(output).toContain('.changeset/server.md');
  });

  it('A break of REST fails the gate, which names it', async () => {
    describeAs((d) => delete payout(d).properties.fee);
    const { code, output } = await fixture.script('gate.mjs');
    expect(code).toBe(1);
    expect(output).toContain('`schemas/Payout: fee`: The member was removed');
  });

  it.each([
    ['a changeset of type major that names it', 'major', '`schemas/Payout: fee` is gone.', '@psa/server', 0],
    ['a changeset of type minor', 'minor', '`schemas/Payout: fee` is gone.', '@psa/server', 1],
    ['a changeset that does not name it', 'major', 'The fee is gone.', '@psa/server', 1],
    ['a changeset that names something longer', 'major', '`schemas/Payout: fee.x` is gone', '@psa/server', 1],
    ['a changeset of the widget', 'major', '`schemas/Payout: fee` is gone.', '@psa/checkout', 1],
  ])('The gate judges a break by its changeset: %s', async (_, type, text, name, code) => {
    describeAs((d) => delete payout(d).properties.fee);
    note(type, text, name);
    expect(await fixture.script('gate.mjs')).toMatchObject({ code });
  });

  describe('a release', () => {
    beforeEach(() => {
      fixture.write('test/package.json', '{}');
      for (const folder of ['server', 'widget'])
        fixture.write(`${folder}/package.json`, JSON.stringify({ version: '0.1.0' }));
      for (const file of ['README.md', 'server/docs/operate.md', 'widget/docs/psa-checkout.md'])
        fixture.write(file, '');
      fixture.write('widget/README.md', '/widget/0.1.0/psa-checkout.js, psa-checkout-0.1.0.tgz');
      fixture.write(
        'node_modules/@changesets/cli/bin.js',
        `import { renameSync, writeFileSync } from 'node:fs';
         if (process.argv[2] !== 'version') throw new Error(process.argv[2]);
         renameSync('.changeset/a-note.md', 'folded.md');
         writeFileSync('server/CHANGELOG.md', ${JSON.stringify(WRAPPED)});
         writeFileSync('widget/package.json', '{"version":"0.2.0"}');`,
      );
      fixture.write('.changeset/config.json', '{}');
      // test/scripts/released-widgets.test.ts tests the widget's part of a release.
      fixture.write('server/scripts/released-widgets.mjs', steps('releasedWidgets', 'releaseWidget'));
      fixture.write('server/scripts/regenerate.mjs', steps('generatedFiles', 'regenerate'));
    });
    const steps = (...names: string[]) =>
      names.map((name) => `export const ${name} = async () => ({ ok: true, output: '' });`).join('\n');

    it('A release makes the present interfaces the baseline of later changes', async () => {
      fixture.write('schema.graphql', SCHEMA.replace(' feeCents: Int!', ''));
      note('major', '`Payout.feeCents` is gone.');
      const { code, output } = await fixture.script('server/scripts/release.mjs');
      expect({ code, output }).toMatchObject({ code: 0 });
      expect(fixture.read('server/released/schema.graphql')).not.toContain('feeCents');
      expect(fixture.read('test/frozen')).toBe('');
      expect(fixture.read('widget/README.md')).toBe('/widget/0.2.0/psa-checkout.js, psa-checkout-0.2.0.tgz');
      expect(await fixture.script('gate.mjs')).toMatchObject({ code: 0 });
    });

    it('A release stops before it writes anything where a break is not noted', async () => {
      fixture.write('schema.graphql', SCHEMA.replace(' feeCents: Int!', ''));
      note('minor', 'A field is gone.');
      expect(await fixture.script('server/scripts/release.mjs')).toMatchObject({ code: 1 });
      expect(fixture.read('server/released/schema.graphql')).toBe(SCHEMA);
      expect(fixture.read('.changeset/a-note.md')).toContain('minor');
    });

    it.each([
      ['0.1.0', 'minor'],
      ['1.4.0', 'major'],
    ])('A break after %s is folded as %s', async (version, type) => {
      fixture.write('server/package.json', JSON.stringify({ version }));
      note('major', 'A sentence.');
      expect(await fixture.script('server/scripts/release.mjs')).toMatchObject({ code: 0 });
      expect(fixture.read('server/CHANGELOG.md')).toBe(UNWRAPPED);
      expect(fixture.read('folded.md')).toMatch(new RegExp(`^'@psa/server': ${type}$`, 'm'));
    });

    it('A release needs a changeset', async () => {
      const { code, output } = await fixture.script('server/scripts/release.mjs');
      expect(code).toBe(1);
      expect(output).toContain('There is no changeset');
    });
  });
});
