import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeOperations } from '../../server/src/api/http/openapi.ts';
import { createOperations } from '../../server/src/programs/modes/parts.ts';
import { DESCRIBED_WEBHOOKS, OPTIONAL_WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';
import { ensurePeer } from '../bench/peers/install.ts';
import { startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { findProgram } from '../support/debian.mjs';
import { startReceiver } from '../support/receiver.ts';
import { causeEveryEvent } from '../webhooks/every-event.ts';
import { withRefusals } from '../webhooks/happenings.ts';
import { LINTERS, MODELS, OPENAPI_PROJECTS } from './generators/openapi-projects.ts';
import { createWorkshop } from './generators/workshop.ts';

// The OpenAPI document in other projects' generators of clients, each in a project of its own with strict types.

const publicUrl = 'http://localhost:4000';
const operations = createOperations({ publicUrl } as Parameters<typeof createOperations>[0]);
const description = describeOperations(operations, publicUrl, DESCRIBED_WEBHOOKS);
const { compile, generate, remove } = createWorkshop('openapi', {
  input: { 'openapi.json': JSON.stringify(description) },
  // The clients that Hey API writes do not compile with exactOptionalPropertyTypes, whatever the document is.
  compilerOptions: { strict: true, noUncheckedIndexedAccess: true },
});

beforeAll(async () => {
  expect(await ensurePeer('openapi')).not.toBeNull();
}, 300_000);
afterAll(remove);

test.each(Object.keys(OPENAPI_PROJECTS))(
  'The client that %s generates from the OpenAPI document compiles with strict types, and refuses wrong ones',
  async (name) => {
    expect(await compile(await generate(name, OPENAPI_PROJECTS[name]!))).toBe('');
  },
  120_000,
);

test('Redocly and Spectral find nothing in the OpenAPI document but what only an operator knows', async () => {
  const project = await generate('linters', { run: [], files: { 'lint.mjs': LINTERS } });
  const warnings = execFileSync(process.execPath, ['lint.mjs'], { cwd: project }).toString();
  expect(JSON.parse(warnings)).toEqual([
    // The server of this document runs on this machine, and each server names its own address.
    ['Redocly', 'no-server-example.com', expect.stringContaining('#/servers/0/url')],
    // The support of the operator, whom the project does not know.
    ['Spectral', 'info-contact', expect.stringContaining('contact')],
  ]);
}, 120_000);

// ── Models in other languages ───────────────────────────────────────────────────────────────────

type Json = Record<string, unknown>;
const { components, paths } = JSON.parse(JSON.stringify(description)) as {
  components: { schemas: Json };
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { schema: Json; example?: Json }> } }>
  >;
};

/** The schema for a generator that knows no document around it. Instants are texts: Python has no standard reader of all of them. */
function alone(schema: Json): Json {
  const text = JSON.stringify({ ...schema, definitions: components.schemas });
  return JSON.parse(
    text.replaceAll('#/components/schemas/', '#/definitions/').replaceAll(',"format":"date-time"', ''),
  );
}

/** The bodies of the requests that the document shows, with their schemas. */
const examples = Object.values(paths)
  .flatMap((methods) => Object.values(methods))
  .map(({ requestBody }) => requestBody?.content['application/json'])
  .filter((content) => content?.example !== undefined);

describeOnDatabase('The models that quicktype makes for Python', (open, engine) => {
  test('The models read every webhook body and every example, write them again, and refuse a wrong type', async () => {
    const python = findProgram(['python3']);
    if (!python) throw new Error('The models are read by Python: install Debian’s "python3".');
    const core = await startCore({ database: await open(), follows: false, pix: withRefusals });
    const receiver = await startReceiver();
    await core.webhooks.configure(core.tenant, {
      url: receiver.url,
      optionalEvents: [...OPTIONAL_WEBHOOK_EVENTS],
    });
    await causeEveryEvent(core);
    const events = DESCRIBED_WEBHOOKS.map(({ event }) => event as string);
    const bodies: [name: string, body: Json][] = [
      ...receiver.received.map(({ body }): [string, Json] => {
        const sent = JSON.parse(body) as Json;
        return [`event${events.indexOf(sent.event as string)}`, sent];
      }),
      ...examples.map((content, index): [string, Json] => [`request${index}`, content!.example!]),
    ];
    expect(bodies.length).toBeGreaterThan(events.length + 10);

    const schemas = Object.fromEntries([
      ...events.map((event, index) => [`Event${index}`, alone({ $ref: refOf(event) })]),
      ...examples.map((content, index) => [`Request${index}`, alone(content!.schema)]),
    ]);
    const project = await generate(`quicktype ${engine}`, {
      run: [],
      files: {
        'schemas.json': JSON.stringify(schemas),
        'models.mjs': MODELS,
        'read.py': readFileSync(new URL('generators/read.py', import.meta.url), 'utf8'),
      },
    });
    execFileSync(process.execPath, ['models.mjs'], { cwd: project });
    const read = (given: typeof bodies) =>
      JSON.parse(
        execFileSync(python, ['read.py'], { cwd: project, input: JSON.stringify(given) }).toString(),
      );
    expect(read(bodies)).toEqual([]);
    const [name, body] = bodies.find(([, { event }]) => event === 'payment.paid')!;
    expect(read([[name, { ...body, amountCents: '4990' }]])).toHaveLength(1);
  }, 120_000);
});

const refOf = (event: string) =>
  `#/components/schemas/${event.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
