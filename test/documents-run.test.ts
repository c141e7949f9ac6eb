import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDocuments, repository } from './support/documents.ts';
import { createClient } from './support/graphql.ts';
import { type Program, runProgram } from './support/program.ts';

// The shell commands of the documents, as a reader types them: all commands of a document in one shell, in their
// order, against a server for them.

/** Blocks that are not run here, each by its first line, with the reason. */
const NOT_RUN: Record<string, Record<string, string>> = {
  'README.md': { 'npm test': 'runs every test, this one among them' },
  'server/README.md': {
    'npx @psa/server': 'is on no registry yet; test/packages.test.ts installs and starts it',
  },
  'server/docs/guide.md': {
    'curl -sN http://localhost:4000/graphql -H "authorization: Bearer $KEY" \\': 'runs until it is stopped',
    'curl -s "http://localhost:4000/v1/disputes/dsp_65f0c0ffee65f0c0ffee65f0/files?name=receipt.pdf" \\':
      'needs a claim of a bank: money-in/disputes/file-interface.test.ts',
  },
  'server/docs/operate.md': {
    'useradd --system psa': 'makes a user of the machine, and clones from a network',
    'psa() {': 'needs systemd, and its file of variables',
    'for port in 4000 4001; do': 'needs systemd; test/cluster/proxies.test.ts restarts instances like this',
  },
};

const LIVE_KEY = 'ps_live_documents0123456789';
const TEST_KEY = 'ps_test_documents0123456789';
const STARTS = /\bnpm start\b/;

const documents = readDocuments().map(({ path, blocks }) => ({
  path,
  blocks: blocks
    .filter(({ language }) => language === 'sh')
    .map(({ line, code }) => ({ path, line, code, first: code.split('\n')[0]! })),
}));
const isRun = ({ path, first }: { path: string; first: string }) => !NOT_RUN[path]?.[first];
const starting = documents.flatMap(({ blocks }) => blocks.filter(({ code }) => STARTS.test(code)));
const commands = documents
  .map(({ path, blocks }) => ({
    path,
    blocks: blocks.filter((block) => isRun(block) && !starting.includes(block)),
  }))
  .filter(({ blocks }) => blocks.length > 0);

const folder = mkdtempSync(join(tmpdir(), 'psa-documents-'));
const environment = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? folder,
  PSA_DATA_DIR: join(folder, 'data'),
};
/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let server: Program;
/** The placeholders of the documents, each with its value in this run. */
let substitutes: [placeholder: string | RegExp, value: string][];

beforeAll(async () => {
  server = runProgram(
    { ...environment, PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY, PSA_BOOTSTRAP_TEST_KEY: TEST_KEY },
    'built',
  );
  const url = await server.started;
  const logo = join(folder, 'logo.png');
  writeFileSync(logo, Buffer.from(PIXEL, 'base64'));
  substitutes = [
    [/(?<= )\/tmp$/gm, folder],
    ['http://localhost:4000', url],
    ['ps_live_…', LIVE_KEY],
    ['ps_test_…', TEST_KEY],
    ...(await resources(url)),
    ['/var/backups', folder],
    ['/etc/psa', folder],
    ['.data-restored', join(folder, 'restored')],
    [/\bPORT=\d+/g, 'PORT=0'],
    ['logo.png', logo],
  ];
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.exited;
  rmSync(folder, { recursive: true, force: true });
});

/** Creates one of each resource that a document names. */
async function resources(url: string): Promise<[string, string][]> {
  const data = await createClient(`${url}/graphql`, LIVE_KEY).request(`mutation {
    createSubaccount(input: { name: "Ana", externalId: "42" }) {
      ... on CreateSubaccountSuccess { subaccount { subaccountId } }
    }
    createCardPayment(input: { valueCents: 4990 }) {
      ... on CreateCardPaymentSuccess { cardPayment { orderCode } }
    }
    createPayment(input: { valueCents: 4990 }) {
      ... on CreatePaymentSuccess { payment { paymentId pix { copyPaste } } }
    }
    byLtc: createPayment(input: { valueCents: 4990, method: LTC }) {
      ... on CreatePaymentSuccess { payment { paymentId } }
    }
    createSubscription(input: { valueCents: 4990, interval: MONTHLY }) {
      ... on CreateSubscriptionSuccess { subscription { subscriptionId } }
    }
    createCheckoutToken(input: { amount: { fixedCents: 4990 } }) {
      ... on CreateCheckoutTokenSuccess { token }
    }
  }`);
  const psa = async (command: string) => {
    const { output } = await run(`node server/dist/psa.js ${command} --json`, environment);
    return JSON.parse(output);
  };
  const [account] = (await psa('accounts list')).accounts;
  const { key } = await psa('keys create --sandbox');
  return [
    ['sacc_…', data.createSubaccount.subaccount.subaccountId],
    ['PSC-…', data.createCardPayment.cardPayment.orderCode],
    ['psa_sub_…', data.createSubscription.subscription.subscriptionId],
    ['ltc credit psa_…', `ltc credit ${data.byLtc.payment.paymentId}`],
    ['psa_…', data.createPayment.payment.paymentId],
    ['000201…', data.createPayment.payment.pix.copyPaste],
    ['tok_…', data.createCheckoutToken.token],
    ['acc_…', account.id],
    ['key_…', key.id],
  ];
}

test.each(commands)('the commands of $path succeed one after the other', async ({ blocks }) => {
  const script = blocks.map(({ line, code }) => `echo "── line ${line}"\n${filledIn(code)}`).join('\n');
  // Every placeholder has a value.
  expect(script).not.toContain('…');
  const { code, output } = await run(script, environment);
  expect(code, output).toBe(0);
  // curl succeeds for every answer, so errors are searched for.
  expect(output).not.toMatch(/"errors?":|"code":"[A-Z_]+"/);
});

test.each(starting)('a server is started by the command of $path: $first', async ({ code }) => {
  const child = bash(filledIn(code), { ...environment, PSA_DATA_DIR: 'memory', PORT: '0' });
  let output = '';
  const started = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        if (output.includes('Ctrl-C stops it')) resolve();
      });
    child.on('exit', () => reject(new Error(output)));
  });
  try {
    await started;
    expect(output).toMatch(/PSA is running at http:\/\/localhost:\d+/);
  } finally {
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    if (ended) process.kill(-child.pid!, 'SIGTERM');
    await ended;
  }
});

test('the list of blocks that are not run names only blocks that the documents have', () => {
  const missing = Object.entries(NOT_RUN).flatMap(([path, blocks]) =>
    Object.keys(blocks).filter(
      (first) =>
        !documents.some(
          (document) => document.path === path && document.blocks.some((each) => each.first === first),
        ),
    ),
  );
  expect(missing).toEqual([]);
});

function filledIn(code: string): string {
  return substitutes.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), code);
}

/** Starts a shell in the repository, with a process group of its own. */
function bash(script: string, env: Record<string, string>) {
  const args = ['-euo', 'pipefail', '-c', script];
  return spawn('bash', args, { cwd: repository, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs a script to its end. */
async function run(
  script: string,
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = bash(script, env);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  return { code, output };
}
