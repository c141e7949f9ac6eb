import type { Project } from './projects.ts';

// A project for each generator of clients from the OpenAPI document: its command, and code that uses what it has generated. A
// wrong type is an error there, and so is a line that expects an error and has none.

/** Uses the answers as a shop does: amounts are numbers, statuses are words that are known, and what may be null is checked. */
const USE = `
export function use(payment: Payment): string {
  const cents: number = payment.amountCents;
  const isPaid: boolean = payment.status === 'paid';
  // @ts-expect-error: an amount is no text
  const text: string = payment.amountCents;
  // @ts-expect-error: no such status
  const isLost: boolean = payment.status === 'lost';
  // @ts-expect-error: null until the payment is paid
  const paidAt: string = payment.paidAt;
  return String([cents, isPaid, text, isLost, paidAt]);
}
`;

export const OPENAPI_PROJECTS: Record<string, Project> = {
  'openapi-typescript': {
    run: [['openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'api.ts']],
    files: {
      'use.ts': `
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './api.ts';
const { POST, GET } = createClient<paths>({ baseUrl: 'http://localhost:4000' });
type Payment = components['schemas']['Payment'];
${USE}
export const created = await POST('/v1/payments', { body: { valueCents: 4990 } });
export const read = await GET('/v1/payments/{id}', { params: { path: { id: 'psa_0' } } });
if (read.data) use(read.data);
if (read.error) console.log(read.error.error);
// @ts-expect-error: an amount in cents is a number
export const wrong = await POST('/v1/payments', { body: { valueCents: '49.90' } });
type Body<Event extends keyof webhooks> =
  webhooks[Event] extends { post: { requestBody: { content: { 'application/json': infer Body } } } } ? Body : never;
export function onPaid({ event, paymentId }: Body<'payment.paid'>): string {
  // @ts-expect-error: another event
  if (event === 'charge.paid') return '';
  return paymentId;
}
`,
    },
  },

  'Hey API': {
    run: [
      ['@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'api', '-c', '@hey-api/client-fetch'],
    ],
    files: {
      'use.ts': `
import { createPayment, getPayment, type Payment } from './api/index.ts';
${USE}
export const created = await createPayment({ body: { valueCents: 4990 } });
export const read = await getPayment({ path: { id: 'psa_0' } });
if (read.data) use(read.data);
// @ts-expect-error: an amount in cents is a number
export const wrong = await createPayment({ body: { valueCents: '49.90' } });
`,
    },
  },

  Orval: {
    run: [['orval/dist/bin/orval.mjs', '--input', 'openapi.json', '--output', 'api.ts', '--client', 'fetch']],
    files: {
      'use.ts': `
import { createPayment, getPayment, type Payment } from './api.ts';
${USE}
export const created = await createPayment({ valueCents: 4990 });
export const read = await getPayment('psa_0');
if (read.status === 200) use(read.data);
// @ts-expect-error: an amount in cents is a number
export const wrong = await createPayment({ valueCents: '49.90' });
`,
    },
  },

  'swagger-typescript-api': {
    run: [
      [
        'swagger-typescript-api/dist/cli.mjs',
        'generate',
        '--path',
        'openapi.json',
        '--output',
        '.',
        '--name',
        'api.ts',
      ],
    ],
    files: {
      'use.ts': `
import { Api, type Payment } from './api.ts';
const { v1 } = new Api({ baseUrl: 'http://localhost:4000' });
${USE}
export const created = await v1.createPayment({ valueCents: 4990 });
use((await v1.getPayment('psa_0')).data);
// @ts-expect-error: an amount in cents is a number
export const wrong = await v1.createPayment({ valueCents: '49.90' });
`,
    },
  },

  oazapfts: {
    run: [['oazapfts/dist/cli.js', 'openapi.json', 'api.ts']],
    files: {
      'use.ts': `
import { createPayment, getPayment, type Payment } from './api.ts';
${USE}
export const created = await createPayment({ valueCents: 4990 });
const read = await getPayment('psa_0');
if (read.status === 200) use(read.data);
// @ts-expect-error: an amount in cents is a number
export const wrong = await createPayment({ valueCents: '49.90' });
`,
    },
  },
};

/** Writes models in Python of JSON Schemas: the program of quicktype's manual. */
/** Lints the document with the recommended rules of Redocly and Spectral, and prints each warning. */
export const LINTERS = `import { readFileSync } from 'node:fs';
import { createConfig, lint } from '@redocly/openapi-core';
import { Ruleset, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';

const config = await createConfig({ extends: ['recommended'] });
const redocly = await lint({ ref: 'openapi.json', config });
const spectral = new Spectral();
spectral.setRuleset(new Ruleset({ extends: [oas] }));
const warnings = await spectral.run(JSON.parse(readFileSync('openapi.json', 'utf8')));
console.log(
  JSON.stringify([
    ...redocly.map(({ ruleId, message, location }) => ['Redocly', ruleId, location[0].pointer + ': ' + message]),
    ...warnings.map(({ code, message, path }) => ['Spectral', code, path.join('/') + ': ' + message]),
  ]),
);
`;

export const MODELS = `import { readFileSync, writeFileSync } from 'node:fs';
import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from 'quicktype-core';

const schemas = JSON.parse(readFileSync('schemas.json', 'utf8'));
const input = new JSONSchemaInput(new FetchingJSONSchemaStore());
for (const [name, schema] of Object.entries(schemas))
  await input.addSource({ name, schema: JSON.stringify(schema) });
const inputData = new InputData();
inputData.addInput(input);
const { lines } = await quicktype({ inputData, lang: 'python' });
writeFileSync('models.py', lines.join('\\n'));
`;
