// npm run lighthouse: Lighthouse's scores of the demo's pages and of the hosted pages, on a phone and on a desktop.
// It fails below 95.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../server/scripts/build.mjs';
import { ensureInstalled } from '../server/scripts/install.mjs';
import { fail } from '../server/scripts/progress.mjs';

const USAGE = `Usage: npm run lighthouse [-- [--report FOLDER] [PATH…]]

Starts the built server with the demo on 127.0.0.1 and prints Lighthouse's scores, for a phone and for a desk, each the
median of three runs: of the shop, the simulator, the gallery, and the hosted pages of a card payment, of a PIX, of a payment by
LTC and of a subscription. Fails where performance, accessibility, best practices or SEO is below 95. Hosted pages are not to be
indexed: they have no score for SEO.

  PATH             other pages, such as /demo/thank-you
  --report FOLDER  keeps Lighthouse's reports there, as HTML

Lighthouse is installed the first time (some 100 MB from the npm registry). Chromium is CHROME_PATH or CHROME_BIN, else
the one that is installed.
`;

const LEAST = 95;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const DEMO = ['/demo/', '/simulator', '/demo/gallery'];
const KEY = 'ps_live_lighthouse0123456789';
const RUNS = 3;

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(USAGE);
} else {
  const at = args.indexOf('--report');
  const report = at < 0 ? undefined : (args.splice(at, 2)[1] ?? fail('--report needs a folder'));
  await look(args, report);
}

/** @param {string[]} chosen paths; without one, all @param {string | undefined} folder for reports */
async function look(chosen, folder) {
  await ensureInstalled();
  await ensureBuilt();
  const { tsImport } = await import('tsx/esm/api');
  const load = (/** @type {string} */ path) => tsImport(path, import.meta.url);
  const { ensurePeer } = await load('./bench/peers/install.ts');
  const { runProgram } = await load('./support/program.ts');
  const { launchOptions } = await load('./support/launch-options.ts');
  if (!(await ensurePeer('lighthouse'))) fail('Lighthouse could not be installed.');
  const modules = new URL('./bench/peers/lighthouse/node_modules/', import.meta.url);
  const { default: lighthouse, desktopConfig } = await import(
    new URL('lighthouse/core/index.js', modules).href
  );
  const { launch } = await import(new URL('chrome-launcher/dist/index.js', modules).href);

  const server = runProgram(
    { PSA_DATA_DIR: 'memory', NODE_ENV: 'production', PSA_BOOTSTRAP_LIVE_KEY: KEY },
    'built',
  );
  const { args: chromeFlags, executablePath } = launchOptions('browser');
  const chrome = await launch({
    chromePath: process.env.CHROME_PATH ?? executablePath,
    chromeFlags: [...chromeFlags, '--headless=new'],
  });
  let ok = true;
  try {
    const url = (await server.started).replace('localhost', '127.0.0.1');
    const paths = chosen.length > 0 ? chosen : [...DEMO, ...(await hostedPages(url))];
    for (const path of paths)
      for (const [device, config] of /** @type {const} */ ([
        ['mobile', undefined],
        ['desktop', desktopConfig],
      ])) {
        const runs = [];
        for (let run = 0; run < RUNS; run++) {
          const options = {
            port: chrome.port,
            onlyCategories: isHosted(path) ? CATEGORIES.filter((name) => name !== 'seo') : CATEGORIES,
            output: 'html',
            logLevel: 'error',
          };
          runs.push(await lighthouse(new URL(path, url).href, options, config));
        }
        ok = tell(`${path} ${device}`, runs) && ok;
        if (folder) {
          mkdirSync(folder, { recursive: true });
          writeFileSync(join(folder, `${path.replace(/\W+/g, '-')}${device}.html`), runs[0].report);
        }
      }
  } finally {
    chrome.kill();
    server.child.kill('SIGTERM');
    await server.exited;
  }
  if (!ok) process.exitCode = 1;
}

/** @param {string} path */
function isHosted(path) {
  return path.startsWith('/checkout/') || path.startsWith('/pix/');
}

/** Creates a payment by card, by PIX and by LTC, and a subscription, and returns the paths of their pages. @param {string} url */
async function hostedPages(url) {
  const query = `mutation {
    card: createCardPayment(input: { valueCents: 4990, description: "Caneca" }) {
      ... on CreateCardPaymentSuccess { payment: cardPayment { checkoutUrl } }
    }
    pix: createPayment(input: { valueCents: 4990, description: "Caneca" }) {
      ... on CreatePaymentSuccess { payment { checkoutUrl } }
    }
    ltc: createPayment(input: { valueCents: 4990, description: "Caneca", method: LTC }) {
      ... on CreatePaymentSuccess { payment { checkoutUrl } }
    }
    recurring: createSubscription(input: { valueCents: 4990, description: "Clube do café", interval: MONTHLY }) {
      ... on CreateSubscriptionSuccess { payment: subscription { checkoutUrl } }
    }
  }`;
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ query }),
  });
  const { data } = await response.json();
  return [data.card, data.pix, data.ltc, data.recurring].map(
    ({ payment }) => new URL(payment.checkoutUrl).pathname,
  );
}

/**
 * Prints the scores, and the audits that cost points. Returns whether the scores suffice.
 * @param {string} name @param {any[]} runs
 */
function tell(name, runs) {
  const median = (/** @type {string} */ category) =>
    runs.map(({ lhr }) => Math.round(lhr.categories[category].score * 100)).sort((a, b) => a - b)[
      Math.floor(runs.length / 2)
    ] ?? 0;
  const scores = Object.keys(runs[0].lhr.categories).map((category) => ({
    category,
    score: median(category),
  }));
  const ok = scores.every(({ score }) => score >= LEAST);
  console.log(
    `${ok ? '✓' : '✗'} ${name}: ${scores.map(({ category, score }) => `${category} ${score}`).join(', ')}`,
  );
  const [{ lhr }] = runs;
  for (const { category } of scores)
    for (const { id, weight } of lhr.categories[category].auditRefs) {
      const { score, title, displayValue = '' } = lhr.audits[id];
      if (weight > 0 && score !== null && score < 0.9)
        console.log(`    ${category}: ${title} ${displayValue}`);
    }
  return ok;
}
