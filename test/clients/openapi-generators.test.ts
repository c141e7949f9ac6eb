import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeOperations } from '../../server/src/api/http/openapi.ts';
import { createOperations } from '../../server/src/programs/modes/parts.ts';
import { DESCRIBED_WEBHOOKS } from '../../server/src/webhooks/sent-events.ts';
import { ensurePeer } from '../bench/peers/install.ts';
import { OPENAPI_PROJECTS } from './generators/openapi-projects.ts';
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
