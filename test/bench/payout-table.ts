// npm run bench -- payout-table: what a reader of <psa-payouts> sees while a thousand of its payouts change in a second.
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { PsaPayouts } from '../../widget/src/payouts/psa-payouts.ts';
import { launchBrowser } from '../support/browser.ts';
import { ensureChromium } from '../support/chromium.mjs';
import { startFakePayouts } from '../widget/fake-payouts.ts';
import { startFakeServer } from '../widget/fake-server.ts';

const ROWS = 10_000;
const CHANGES_A_SECOND = 1_000;
/** One change in ten is of a payout at the top of the table: few of the others are on the screen. */
const NTH_AT_THE_TOP = 10;
const ROWS_AT_THE_TOP = 60;
/** The least amount at the top, in cents. */
const TOP_CENTS = 95_000;
const PHASE_MS = process.argv.includes('--quick') ? 2_000 : 20_000;
const TICK_MS = 10;
/** The targets for the time until a change is on the screen, and for the longest task. */
const MAX_P99_MS = 100;
const MAX_TASK_MS = 50;

/** A page's record of one phase. */
interface Seen {
  /** The amounts that were painted into existing rows, and those of newly drawn rows. */
  shown: { id: string; cents: number; at: number; isRowNew: boolean }[];
  /** The durations of the tasks over 50 ms. */
  longTasks: number[];
  /** The frames in which a drawn row had moved from its first place. */
  moves: number;
  longestFrameMs: number;
}

declare global {
  interface Window {
    probe: { start(): void; stop(): Seen };
  }
}

const STANDALONE = fileURLToPath(new URL('../../widget/dist/standalone', import.meta.url));
const BODY =
  '<!doctype html><html lang="pt-BR"><title>Saques</title><link rel="icon" href="data:,"><script type="module" src="/widget/psa-payouts.js"></script><body style="margin:3rem"></body></html>';

await ensureChromium();
const payouts = await startFakePayouts();
const pages = await startFakeServer({
  files: { '/widget/': { folder: STANDALONE } },
  pages: { '/': { body: BODY } },
});
// A reader's browser optimizes code that runs often; the shell of the tests does not.
const browser = await launchBrowser('browser');
async function measure(page: Page): Promise<void> {
  const answer = await fetch(`${payouts.url}/world`, {
    method: 'POST',
    body: JSON.stringify({ count: ROWS }),
  });
  const { token } = (await answer.json()) as { token: string };
  await page.goto(pages.url);
  await page.evaluate(() => window.probe.start());
  await page.evaluate(
    ({ endpoint, token }) => {
      const element = document.createElement('psa-payouts');
      Object.assign(element, { endpoint, token, sort: '-amount', pageSize: 100 });
      document.body.append(element);
    },
    { endpoint: `${payouts.url}/graphql`, token },
  );
  await page.getByRole('button', { name: 'Carregar mais' }).click();
  await page.getByText('10.000 saques').waitFor({ timeout: 120_000 });
  await page.locator('psa-payouts').getByText('Ao vivo').waitFor();
  const load = new Load(token);
  for (let place = 0; place < ROWS_AT_THE_TOP; place++) load.changeAtTheTop();
  const top = page.locator('psa-payouts tbody tr').first();
  await top.getByText(/R\$\s9[5-9]\d,/).waitFor();
  const loading = await page.evaluate(() => window.probe.stop());

  await page.locator('psa-payouts tbody tr').nth(3).hover();
  const inside = await phase(page, load);
  await page.mouse.move(2, 2);
  const outside = await phase(page, load);
  const wrong = await wrongRows(page, load);

  const seen = [inside, outside];
  const rate = seen.reduce((sum, { perSecond }) => sum + perSecond, 0) / seen.length;
  const longest = Math.max(0, ...seen.flatMap(({ longTasks }) => longTasks));
  console.log(
    `${ROWS.toLocaleString('en')} payouts by amount, ${Math.round(rate).toLocaleString('en')} changes a second for ${(2 * PHASE_MS) / 1_000} s; the longest task while they were loaded: ${Math.max(0, ...loading.longTasks) || `at most ${MAX_TASK_MS}`} ms\n`,
  );
  const lines = [
    line(
      'change on the screen, pointer in the table, p99',
      inside.p99Ms,
      MAX_P99_MS,
      `ms, p50 ${figure(inside.p50Ms)}, of ${inside.changes} changes`,
    ),
    line(
      'change on the screen, pointer elsewhere, p99',
      outside.p99Ms,
      MAX_P99_MS,
      `ms, p50 ${figure(outside.p50Ms)}, of ${outside.changes} changes`,
    ),
    line(
      `tasks over ${MAX_TASK_MS} ms`,
      seen.flatMap(({ longTasks }) => longTasks).length,
      0,
      `the longest ${longest ? `${longest} ms` : `at most ${MAX_TASK_MS} ms`}, the longest frame ${figure(Math.max(inside.longestFrameMs, outside.longestFrameMs))} ms`,
    ),
    line('frames in which a row moved under the pointer', inside.moves, 0, ''),
    line('wrong rows afterwards', wrong, 0, `of ${ROWS.toLocaleString('en')}`),
    line('changes a second', CHANGES_A_SECOND * 0.98, rate, `${figure(rate)} were made`),
  ];
  for (const { text } of lines) console.log(text);
  if (lines.some(({ isMet }) => !isMet)) process.exitCode = 1;
}

function line(name: string, value: number, atMost: number, more: string) {
  const isMet = value <= atMost;
  return {
    isMet,
    text: `${isMet ? '✓' : '✗'} ${name.padEnd(50)} ${figure(value)} (≤ ${figure(atMost)}) ${more}`,
  };
}

const figure = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 });

/** The changes of one account, and when each was made. */
class Load {
  readonly #token: string;
  /** The amounts of the payouts by their numbers, from 1. */
  readonly amounts = new Map<number, number>();
  made = 0;
  /** The changes of each payout in the order in which they were made. */
  #changes = new Map<string, { cents: number; at: number; shownAt?: number }[]>();

  constructor(token: string) {
    this.#token = token;
  }

  change(): void {
    if (this.made % NTH_AT_THE_TOP === 0) {
      this.changeAtTheTop();
      return;
    }
    const among = ROWS - ROWS_AT_THE_TOP;
    this.#change(
      ROWS_AT_THE_TOP + 1 + ((this.made * 7_919) % among),
      1_000 + ((this.made * 104_729) % 90_000),
    );
  }

  changeAtTheTop(): void {
    const number = 1 + (Math.floor(this.made / NTH_AT_THE_TOP + this.made) % ROWS_AT_THE_TOP);
    // The amounts change in steps that leave about half of the visible rows in place.
    this.#change(number, TOP_CENTS + ((number * 83 + this.made * 7) % 4_999));
  }

  /** Compares the page with the changes. Returns the milliseconds from each change to the screen, ascending. */
  delays(shown: Seen['shown']): number[] {
    for (const { id, cents, at, isRowNew } of shown) {
      const changes = this.#changes.get(id) ?? [];
      const last = changes.findLastIndex((change) => change.cents === cents && change.at <= at);
      // A change before the last is superseded: it is on the screen with the last at the latest. The row may have
      // been drawn for another payout's change.
      for (const change of changes.slice(0, last + 1)) change.shownAt ??= isRowNew ? Number.NaN : at;
    }
    return [...this.#changes.values()]
      .flat()
      .map(({ at, shownAt = Number.NaN }) => shownAt - at)
      .filter((delay) => !Number.isNaN(delay))
      .sort((left, right) => left - right);
  }

  forget(): void {
    this.#changes.clear();
  }

  #change(number: number, amountCents: number): void {
    this.made += 1;
    this.amounts.set(number, amountCents);
    const id = `payout-${number}`;
    const changes = this.#changes.get(id) ?? [];
    this.#changes.set(id, changes);
    changes.push({ cents: amountCents, at: performance.timeOrigin + performance.now() });
    payouts.act({ token: this.#token, change: { number, values: { amountCents } } });
  }
}

/** Changes payouts for some seconds, at an even rate. */
async function phase(page: Page, load: Load) {
  load.forget();
  await page.evaluate(() => window.probe.start());
  const started = performance.now();
  const before = load.made;
  for (let passed = 0; passed < PHASE_MS; passed = performance.now() - started) {
    while (load.made - before < (passed / 1_000) * CHANGES_A_SECOND) load.change();
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const perSecond = ((load.made - before) / (performance.now() - started)) * 1_000;
  // The last changes are drawn, too.
  await page.waitForTimeout(1_000);
  const { shown, ...seen } = await page.evaluate(() => window.probe.stop());
  const delays = load.delays(shown);
  const quantile = (part: number) =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * part))] ?? Infinity;
  return { ...seen, perSecond, changes: delays.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

/** Counts the rows that differ from the server's list. */
async function wrongRows(page: Page, load: Load): Promise<number> {
  const rows = await page.evaluate(() => {
    const element = document.querySelector<PsaPayouts>('psa-payouts')!;
    return element.payouts.map(({ id, amountCents }) => ({ id, amountCents }));
  });
  let wrong = Math.abs(ROWS - new Set(rows.map(({ id }) => id)).size);
  for (const [index, { id, amountCents }] of rows.entries()) {
    const changed = load.amounts.get(Number(id.slice('payout-'.length)));
    const isUnsorted = index > 0 && rows[index - 1]!.amountCents < amountCents;
    if (isUnsorted || (changed !== undefined && changed !== amountCents)) wrong += 1;
  }
  return wrong;
}

/** Runs in the page: records the rows after each painted frame. */
function installProbe(): void {
  let seen: Seen;
  let isOn = false;
  let texts = new Map<string, string>();
  let places: string | undefined;
  let lastFrame = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen?.longTasks.push(duration);
  }).observe({ type: 'longtask' });
  const { port1, port2 } = new MessageChannel();
  const now = () => performance.timeOrigin + performance.now();

  port2.onmessage = () => {
    const at = now();
    const rows = [
      ...(document.querySelector('psa-payouts')?.shadowRoot?.querySelectorAll<HTMLElement>('tbody tr') ?? []),
    ];
    const next = new Map<string, string>();
    for (const row of rows) {
      const id = row.dataset.id ?? '';
      const text = row.querySelector('.amount b')?.textContent ?? '';
      const before = texts.get(id);
      if (before !== text)
        seen.shown.push({ id, cents: Number(text.replace(/\D/g, '')), at, isRowNew: before === undefined });
      next.set(id, text);
    }
    texts = next;
    const [first] = rows;
    const place = `${[...next.keys()].join()} ${first?.getBoundingClientRect().top}`;
    if (places !== undefined && place !== places) seen.moves += 1;
    places = place;
    seen.longestFrameMs = Math.max(seen.longestFrameMs, lastFrame && at - lastFrame);
    lastFrame = at;
    if (isOn) requestAnimationFrame(() => port1.postMessage(''));
  };

  window.probe = {
    start() {
      seen = { shown: [], longTasks: [], moves: 0, longestFrameMs: 0 };
      places = undefined;
      lastFrame = 0;
      texts.clear();
      isOn = true;
      requestAnimationFrame(() => port1.postMessage(''));
    },
    stop() {
      isOn = false;
      return seen;
    },
  };
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  // A helper that tsx calls in the code of this page.
  await page.addInitScript('globalThis.__name = (named) => named');
  await page.addInitScript(installProbe);
  await measure(page);
} finally {
  await browser.close();
  await pages.close();
  await payouts.close();
}
