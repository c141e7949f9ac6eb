// A project for each code generator: its settings, the operations that it reads, and code that uses the result. A
// wrong type is an error there. So is a line that expects an error and has none: `any` would allow everything.

/** The scalars as the settings of every generator map them. server/docs/clients.md says the same. */
export const SCALARS = {
  Cents: 'number',
  DateTime: 'string',
  Decimal: 'string',
  Url: 'string',
  _Any: 'unknown',
} as const;

export interface Project {
  /** The commands, each a package's program with its arguments. */
  run: [program: string, ...args: string[]][];
  files: Record<string, string>;
}

const PAYMENTS =
  'query Payments($first: Int!) { cardPayments(first: $first) { totalCount nodes { orderCode amountCents status expiresAt checkoutUrl description } } }';
const CREATE =
  'mutation Create($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on UserError { code message } } }';
const UPDATES =
  'subscription Updates($after: String) { allCardPaymentUpdates(after: $after) { cursor occurredAt cardPayment { status } } }';

/** Uses the result of the query: each scalar has its type, an enum its values, and nullable fields are checked. */
const USE = `
// A failed field is null, and \`errors\` has the reason.
const payment = payments.cardPayments?.nodes[0];
if (payment) {
  const cents: number = payment.amountCents;
  const expires: string = payment.expiresAt;
  const isPaid: boolean = payment.status === 'PAID';
  // @ts-expect-error: an amount is no text
  const text: string = payment.amountCents;
  // @ts-expect-error: an instant is no number
  const millis: number = payment.expiresAt;
  // @ts-expect-error: no page for a payment of another service
  const url: string = payment.checkoutUrl;
  // @ts-expect-error: no such status
  const isLost: boolean = payment.status === 'LOST';
  console.log(cents, expires, isPaid, text, millis, url, isLost);
}
`;
const scalarsOf = (print: (name: string, type: string) => string) =>
  Object.entries(SCALARS).map(([name, type]) => print(name, type));

/** The operations of a project whose `graphql` gives typed documents, and the uses of their types. */
const OPERATIONS = `export const query = graphql(\`${PAYMENTS}\`);
export const create = graphql(\`${CREATE}\`);
export const updates = graphql(\`${UPDATES}\`);
declare const payments: ResultOf<typeof query>;
${USE}
export const variables: VariablesOf<typeof create> = { input: { valueCents: 4990 } };
// @ts-expect-error: an amount in cents is a number
export const wrong: VariablesOf<typeof create> = { input: { valueCents: '49.90' } };
export const after: VariablesOf<typeof updates> = {};
`;

export const PROJECTS: Record<string, Project> = {
  'GraphQL Code Generator': {
    run: [['@graphql-codegen/cli/cjs/bin.js', '--config', 'codegen.json']],
    files: {
      'codegen.json': JSON.stringify({
        schema: 'schema.graphql',
        documents: ['use.ts'],
        generates: {
          'gql/': {
            preset: 'client',
            config: { scalars: SCALARS, strictScalars: true, useTypeImports: true, enumsAsTypes: true },
          },
        },
      }),
      'use.ts': `
import type { ResultOf, VariablesOf } from '@graphql-typed-document-node/core';
import { graphql } from './gql/gql';
${OPERATIONS}`,
    },
  },

  'gql.tada': {
    run: [['gql.tada/bin/cli.js', 'generate-output']],
    files: {
      'tsconfig.json': JSON.stringify({
        extends: './tsconfig.base.json',
        compilerOptions: {
          plugins: [
            {
              name: 'gql.tada/ts-plugin',
              schema: './schema.graphql',
              tadaOutputLocation: './graphql-env.d.ts',
            },
          ],
        },
      }),
      'use.ts': `
import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';
const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { ${scalarsOf((name, type) => `${name}: ${type}`).join('; ')} };
}>();
${OPERATIONS}`,
    },
  },

  'Relay compiler': {
    run: [['relay-compiler/cli.js', 'relay.config.json']],
    files: {
      'relay.config.json': JSON.stringify({
        src: '.',
        schema: 'schema.graphql',
        language: 'typescript',
        customScalarTypes: SCALARS,
        excludes: ['**/node_modules/**', '**/__generated__/**'],
      }),
      'use.ts': `
import { graphql } from 'relay-runtime';
import type { useCreateMutation$variables } from './__generated__/useCreateMutation.graphql';
import type { usePaymentsQuery$data } from './__generated__/usePaymentsQuery.graphql';
import type { useUpdatesSubscription$variables } from './__generated__/useUpdatesSubscription.graphql';
export const query = graphql\`${PAYMENTS.replace('Payments', 'usePaymentsQuery')}\`;
export const create = graphql\`${CREATE.replace('Create', 'useCreateMutation')}\`;
export const updates = graphql\`${UPDATES.replace('Updates', 'useUpdatesSubscription')}\`;
declare const payments: usePaymentsQuery$data;
${USE}
export const variables: useCreateMutation$variables = { input: { valueCents: 4990 } };
// @ts-expect-error: an amount in cents is a number
export const wrong: useCreateMutation$variables = { input: { valueCents: '49.90' } };
export const after: useUpdatesSubscription$variables = {};
`,
    },
  },

  GenQL: {
    run: [
      [
        '@genql/cli/dist/cli.js',
        ...['--schema', 'schema.graphql', '--output', 'genql'],
        ...scalarsOf((name, type) => `--scalar=${name}:${type}`),
      ],
    ],
    files: {
      'use.ts': `
import { createClient } from './genql/index';
const client = createClient({ url: 'http://localhost:4000/graphql' });
const payments = await client.query({
  cardPayments: {
    __args: { first: 2 },
    totalCount: true,
    nodes: { orderCode: true, amountCents: true, status: true, expiresAt: true, checkoutUrl: true },
  },
});
${USE}
export const created = client.mutation({
  createCardPayment: { __args: { input: { valueCents: 4990 } }, on_CardPaymentSuccess: { cardPayment: { orderCode: true } } },
});
export const wrong = client.mutation({
  // @ts-expect-error: an amount in cents is a number
  createCardPayment: { __args: { input: { valueCents: '49.90' } }, __typename: true },
});
`,
    },
  },

  'urql Graphcache': {
    run: [],
    files: {
      'introspect.mjs': `
import { readFileSync, writeFileSync } from 'node:fs';
import { minifyIntrospectionQuery } from '@urql/introspection';
import { buildSchema, introspectionFromSchema } from 'graphql';
const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
writeFileSync('introspection.json', JSON.stringify(minifyIntrospectionQuery(introspectionFromSchema(schema))));
`,
      'use.ts': `
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import introspection from './introspection.json' with { type: 'json' };

/** A payment of the schema's type has an \`id\`; an object without one is a part of its parent. */
export function open(fetch: typeof globalThis.fetch): Client {
  return new Client({
    url: 'http://localhost:4000/graphql',
    preferGetMethod: false,
    fetch,
    exchanges: [
      cacheExchange({ schema: introspection, keys: { CardPaymentConnection: () => null } }),
      fetchExchange,
    ],
  });
}
`,
      'run.mjs': `
import { open } from './out/use.js';
const id = Buffer.from('CardPayment:PSC-1').toString('base64');
const payment = { __typename: 'CardPayment', id, status: 'PENDING', amountCents: 4990 };
let asked = 0;
const client = open(async () => {
  asked += 1;
  const nodes = [asked === 1 ? payment : { ...payment, description: 'Caneca' }];
  const data = { __typename: 'Query', cardPayments: { __typename: 'CardPaymentConnection', nodes } };
  return new Response(JSON.stringify({ data }), { headers: { 'content-type': 'application/json' } });
});
await client.query('{ cardPayments(first: 2) { nodes { id status amountCents } } }', {}).toPromise();
// The schema says that a description may be null: the other fields are there at once.
const results = [];
await new Promise((resolve) => {
  client.query('{ cardPayments(first: 2) { nodes { id status description } } }', {}).subscribe(({ data, stale }) => {
    results.push({ nodes: data?.cardPayments?.nodes, stale });
    if (!stale) resolve();
  });
});
console.log(JSON.stringify({ results, asked }));
`,
    },
  },
};
