import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { importMap, readHashes, scriptTag } from '../../widget/scripts/released.mjs';
import { type ServiceFixture, startServiceFixture } from '../e2e/fixture.ts';
import { pageWith, type Site, startSite } from '../e2e/site.ts';
import { startCutter } from '../live/cutter.ts';
import { CARD } from '../support/browser.ts';
import type { FileMeta } from '../support/cpu.ts';
import { freePort } from '../support/free-port.ts';
import { SCREENSHOTS } from '../support/screenshots.ts';
import { startChromium, startFirefox } from './bidi.ts';
import type { Engine, EngineWindow } from './engine.ts';
import { startWebKit } from './webkit.ts';

// A person's steps in the shop, in each engine. The other files test the pages' details in Chromium.
const ENGINES = { Chromium: startChromium, Firefox: startFirefox, WebKit: () => startWebKit() };

/** The folder for pictures of each state, with the engines side by side; unset by default. */
const SIDE_BY_SIDE = process.env.PSA_SCREENSHOTS;
const pictures = new Map<string, Buffer[]>();

let fixture: ServiceFixture;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  fixture = await startServiceFixture();
});
afterAll(async () => {
  if (SIDE_BY_SIDE) for (const [state, each] of pictures) save(SIDE_BY_SIDE, state, sideBySide(each));
  site?.close();
  await fixture?.close();
  expect(fixture?.faults() ?? []).toEqual([]);
});

const PATIENCE = { timeout: 60_000, interval: 50 };
const waitFor = <Value>(read: () => Promise<Value>) => expect.poll(read, PATIENCE);

const ELEMENT = "document.querySelector('psa-checkout')";
const part = (css: string) => `${ELEMENT}?.shadowRoot?.querySelector('${css}')`;
const PIX_BUTTON = part('[part=button][value=pix]');
const CARD_BUTTON = part('[part=button]:not([value=pix])');
const CODE = part('[part=code]');
const RETRY = part('[part=retry-button]');
const LINK = part('[part=link]');
const BACK = part('[part=cancel-button]');

/** The number of animations on the page that end, and have not ended yet. */
const ENDING = `[document, ${ELEMENT}?.shadowRoot].flatMap((root) => root?.getAnimations() ?? [])
  .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity).length`;

const phaseOf = (window: EngineWindow) => window.ask<string | undefined>(`${ELEMENT}?.phase`);
const says = (window: EngineWindow) => window.ask<string>(`${ELEMENT}.shadowRoot.textContent`);
const reaches = (window: EngineWindow, phase: string) => waitFor(() => phaseOf(window)).toBe(phase);

describe.each(Object.entries(ENGINES))('a purchase in %s', (name, start) => {
  let engine: Engine;
  const windows: EngineWindow[] = [];
  beforeAll(async () => {
    engine = await start();
  });
  afterEach(async ({ task }) => {
    const gone = windows.splice(0);
    if (task.result?.state === 'fail')
      for (const window of gone) {
        // A failed picture must not hide the failure of the test.
        const picture = await window.screenshot().catch(() => undefined);
        if (picture) save(SCREENSHOTS, `${name} ${task.name}`, picture);
      }
    for (const window of gone) await window.leave();
  });
  afterAll(() => engine?.close());

  it('The engine says its version, for the table of clients', async ({ task }) => {
    const meta = task.file.meta as FileMeta;
    meta.versions = { ...meta.versions, [name]: await engine.version() };
    expect(meta.versions[name]).toMatch(/^\d+(\.\d+)+$/);
  });

  async function keep(window: EngineWindow, state: string): Promise<void> {
    if (!SIDE_BY_SIDE) return;
    await window.ask(`${ELEMENT}?.scrollIntoView({ block: 'center' })`);
    await waitFor(() => window.ask<number>(ENDING)).toBe(0);
    pictures.set(state, [...(pictures.get(state) ?? []), await window.screenshot()]);
  }

  async function openShop(settings: Record<string, string> = {}): Promise<EngineWindow> {
    const window = await engine.visit(`${fixture.url}/demo/`);
    windows.push(window);
    for (const [field, value] of Object.entries(settings))
      await press(window, `document.querySelector('input[name=${field}][value=${value}] + span')`);
    await shows(window, CARD_BUTTON);
    return window;
  }

  /** Opens a shop of another origin, whose element has only an endpoint, a token and methods. */
  async function openOtherShop({
    endpoint = `${fixture.url}/graphql`,
    scripts = `<script type="module" src="${fixture.url}/widget/psa-checkout.js"></script>`,
    amount = { fixedCents: 4990 },
  }: {
    endpoint?: string;
    scripts?: string;
    amount?: object;
  } = {}): Promise<EngineWindow> {
    const { createCheckoutToken } = await fixture.live.request(
      `mutation ($amount: CheckoutAmountInput!) {
        createCheckoutToken(input: { amount: $amount, description: "Caneca", methods: [PIX, CARD] }) {
          ... on CreateCheckoutTokenSuccess { token }
        }
      }`,
      { amount },
    );
    const attributes = { endpoint, token: createCheckoutToken.token, methods: 'pix card' };
    site.page = pageWith('psa-checkout', attributes, scripts);
    const window = await engine.visit(site.url);
    windows.push(window);
    await shows(window, CARD_BUTTON);
    return window;
  }

  const shows = (window: EngineWindow, element: string) =>
    waitFor(() => window.ask<boolean>(`Boolean(${element}) && !${element}.disabled`)).toBe(true);

  /** Clicks on an element once a person can see it and it does not move. */
  async function press(window: EngineWindow, element: string): Promise<void> {
    await shows(window, element);
    let before = '';
    await waitFor(async () => {
      const place = await window.ask<string>(
        `JSON.stringify([${element}?.getBoundingClientRect(), ${ENDING}])`,
      );
      const isStill = place === before;
      before = place;
      return isStill;
    }).toBe(true);
    await window.click(element);
  }

  async function showsCode(window: EngineWindow): Promise<string> {
    await waitFor(() => window.ask<string>(`${CODE}?.value ?? ''`)).toContain('br.gov.bcb.pix');
    return window.ask<string>(`${CODE}.value`);
  }

  /** Pays a code as the payer's bank does. */
  async function pay(code: string): Promise<void> {
    expect(await fixture.app.pix.pay({ txid: txidOfCode(code)! })).not.toBeNull();
    await fixture.pass(1);
  }

  async function openCardPage(window: EngineWindow): Promise<EngineWindow> {
    const popup = await window.opened(() => press(window, CARD_BUTTON));
    await reaches(window, 'pending');
    return popup;
  }

  /** Starts a payment by PIX, and lets its time run out. */
  async function letExpire(): Promise<{ window: EngineWindow; code: string }> {
    const window = await openShop();
    await press(window, PIX_BUTTON);
    const code = await showsCode(window);
    await waitFor(() => window.ask<string>(`${ELEMENT}.connection`)).toBe('live');
    await fixture.pass(31 * 60_000);
    await reaches(window, 'expired');
    return { window, code };
  }

  /** Types a card into the hosted page and presses its button. */
  async function payOn(window: EngineWindow, card: string): Promise<void> {
    const field = (id: string) => `document.querySelector('#${id}')`;
    await waitFor(() => window.ask<boolean>(`Boolean(${field('cvv')})`)).toBe(true);
    await window.type(field('number'), card);
    await window.type(field('holder'), 'Maria da Silva');
    await window.type(field('expiry'), '1229');
    await window.type(field('cvv'), '123');
    const button = "document.querySelector('.button-pay')";
    // The window may close before the driver reports the click as done.
    await window.click(button).catch(() => undefined);
  }

  it.each(['auto', 'ws', 'sse', 'poll'])(
    'by PIX is paid, followed by %s, and found again after a reload',
    async (transport) => {
      const window = await openShop({ transport });
      await press(window, PIX_BUTTON);
      const code = await showsCode(window);
      if (transport === 'auto') await keep(window, 'pix-pending');
      await window.reload();
      expect(await showsCode(window)).toBe(code);
      await pay(code);
      await reaches(window, 'paid');
      if (transport === 'auto') await keep(window, 'pix-paid');
      await window.reload();
      await reaches(window, 'paid');
    },
  );

  it.each(['popup', 'tab'])('by card in a window of its own (%s) is paid', async (mode) => {
    const window = await openShop({ mode });
    const popup = await openCardPage(window);
    await waitFor(() => popup.ask<string>("document.querySelector('#number') && document.readyState")).toBe(
      'complete',
    );
    // On a touch screen the focus would open a keyboard over the amount.
    const isFirstFocused = await popup.ask<boolean>("matchMedia('(pointer: fine)').matches");
    expect(await popup.ask<string>('document.activeElement.id')).toBe(isFirstFocused ? 'number' : '');
    await payOn(popup, CARD.approved);
    await reaches(window, 'paid');
    await waitFor(() => popup.isClosed()).toBe(true);
    const orderCode = await window.ask<string>(`${ELEMENT}.payment.orderCode`);
    await window.reload();
    await reaches(window, 'paid');
    expect(await window.ask<string>(`${ELEMENT}.payment.orderCode`)).toBe(orderCode);
  });

  it.each(['ws', 'sse', 'poll'])('by card is paid, followed by %s', async (transport) => {
    const window = await openShop({ transport });
    await payOn(await openCardPage(window), CARD.approved);
    await reaches(window, 'paid');
  });

  it('by card is paid in a window of its own where the page names no mode', async () => {
    const window = await openOtherShop();
    await keep(window, 'idle');
    const popup = await openCardPage(window);
    await payOn(popup, CARD.approved);
    await reaches(window, 'paid');
    await waitFor(() => popup.isClosed()).toBe(true);
  });

  it('by card is paid in the same window where a click opens none', async () => {
    const window = await openOtherShop();
    await window.ask(
      `(window.open = (real => (url, target) => target === '_top' ? real.call(window, url, target) : null)(window.open), true)`,
    );
    await press(window, CARD_BUTTON);
    await waitFor(() => window.ask<string>('location.pathname')).toContain('/checkout/');
    await payOn(window, CARD.approved);
    await waitFor(() => window.ask<string>('document.documentElement.dataset.state')).toBe('paid');
    await window.goto(site.url);
    await reaches(window, 'paid');
  });

  it('that does not reach the server is paid once its endpoint is corrected', async () => {
    const window = await openOtherShop({ endpoint: `http://127.0.0.1:${await freePort()}/graphql` });
    await press(window, PIX_BUTTON);
    await reaches(window, 'error');
    await keep(window, 'error');
    await window.ask(`(${ELEMENT}.endpoint = '${fixture.url}/graphql')`);
    await press(window, RETRY);
    await pay(await showsCode(window));
    await reaches(window, 'paid');
  });

  it('that waits for a silent server, and later loses its connection, is paid', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const cutter = await startCutter(`${fixture.url}/graphql`);
    onTestFinished(async () => {
      await cutter.close();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const window = await openOtherShop({ endpoint: `http://127.0.0.1:${port}/graphql` });
    await press(window, PIX_BUTTON);
    await reaches(window, 'creating');
    expect(await says(window)).toContain('Preparando');
    await keep(window, 'creating');

    await window.ask(`(${ELEMENT}.reset(), ${ELEMENT}.endpoint = '${cutter.endpoint}')`);
    await press(window, PIX_BUTTON);
    const code = await showsCode(window);
    await waitFor(() => window.ask<string>(`${ELEMENT}.connection`)).toBe('live');
    cutter.down();
    cutter.cut('reset');
    await waitFor(() => says(window)).toContain('Reconectando');
    await keep(window, 'reconnecting');
    cutter.up();
    await pay(code);
    await reaches(window, 'paid');
  });

  it('by card that is approved later is confirmed on both pages', async () => {
    const window = await openShop({ mode: 'tab' });
    const popup = await openCardPage(window);
    await payOn(popup, CARD.approvedLater);
    await waitFor(() => popup.ask<string>('document.documentElement.dataset.state')).toBe('processing');
    await keep(window, 'confirming');
    await fixture.pass(5_000);
    await reaches(window, 'paid');
  });

  it('by PIX that is paid after its expiry is paid late', async () => {
    const { window, code } = await letExpire();
    await pay(code);
    await reaches(window, 'paid');
    expect(await window.ask<boolean>(`${ELEMENT}.payment.paidLate`)).toBe(true);
    await keep(window, 'paid-late');
  });

  it('by card in the same window is canceled, resumed and paid', async () => {
    const window = await openShop({ mode: 'redirect' });
    const address = () => window.ask<string>('location.pathname');
    await press(window, CARD_BUTTON);
    await waitFor(address).toContain('/checkout/');
    await keep(window, 'card-form');
    await press(window, "document.querySelector('a.cancel')");
    await waitFor(address).toBe('/demo/');
    await reaches(window, 'pending');
    await press(window, LINK);
    await waitFor(address).toContain('/checkout/');
    await payOn(window, CARD.approved);
    await waitFor(address).toBe('/demo/thank-you');
    await reaches(window, 'paid');
    await keep(window, 'thank-you');
  });

  it('by card that ends declined can be tried again', async () => {
    const window = await openShop();
    const popup = await openCardPage(window);
    await payOn(popup, CARD.declinedForGood);
    await reaches(window, 'failed');
    await keep(window, 'failed');
    const again = await window.opened(() => press(window, RETRY));
    await payOn(again, CARD.approved);
    await reaches(window, 'paid');
  });

  it('by PIX that expires can be tried again', async () => {
    const { window, code } = await letExpire();
    await keep(window, 'expired');
    await press(window, RETRY);
    await waitFor(() => showsCode(window)).not.toBe(code);
    await pay(await showsCode(window));
    await reaches(window, 'paid');
  });

  it('by card that is refunded says so', async () => {
    const window = await openShop();
    await payOn(await openCardPage(window), CARD.approved);
    await reaches(window, 'paid');
    const orderCode = await window.ask<string>(`${ELEMENT}.payment.orderCode`);
    await refund('refundCardPayment(input: { orderCode: $id, idempotencyKey: $id })', orderCode);
    await window.reload();
    await reaches(window, 'refunded');
    await keep(window, 'refunded');
  });

  it('by PIX that is refunded says so', async () => {
    const window = await openShop();
    await press(window, PIX_BUTTON);
    await pay(await showsCode(window));
    await reaches(window, 'paid');
    const paymentId = await window.ask<string>(`${ELEMENT}.payment.paymentId`);
    await refund('refundPayment(input: { paymentId: $id, idempotencyKey: $id })', paymentId);
    await window.reload();
    await reaches(window, 'refunded');
  });

  it('of a product with a code and a link shows both, also after a reload', async () => {
    const productId = await offerCourse();
    const window = await openOtherShop({ amount: { productId } });
    await press(window, PIX_BUTTON);
    await pay(await showsCode(window));
    for (let time = 0; time < 2; time += 1) {
      if (time > 0) await window.reload();
      await waitFor(() => says(window)).toContain('O que você comprou');
      const code = part('[part=delivered] textarea');
      await waitFor(() => window.ask<string>(`${code}?.value`)).toBe('CURSO-7F3K');
      expect(await window.ask<string>(`${part('a[href^=https]')}?.href`)).toBe(COURSE);
      if (time === 0) await keep(window, 'delivered');
    }
  });

  it.each(Object.keys(readHashes()))(
    'with version %s of the widget is paid by PIX and by card',
    async (version) => {
      const released = { element: 'psa-checkout', version, origin: fixture.url };
      const scripts = importMap(released) + scriptTag(released);
      const byPix = await openOtherShop({ scripts });
      await press(byPix, PIX_BUTTON);
      await pay(await showsCode(byPix));
      await reaches(byPix, 'paid');
      const byCard = await openOtherShop({ scripts });
      await payOn(await openCardPage(byCard), CARD.approved);
      await reaches(byCard, 'paid');
    },
  );

  it('that is paid after the way back to the button reaches the page', async () => {
    const window = await openShop();
    await openCardPage(window);
    const orderCode = await window.ask<string>(`${ELEMENT}.payment.orderCode`);
    await press(window, BACK);
    await reaches(window, 'idle');
    await fixture.payElsewhere(orderCode);
    await reaches(window, 'paid');
  });

  it('ends with a tick that stands still, at the time of Brasília', async () => {
    const window = await openShop();
    await press(window, PIX_BUTTON);
    await pay(await showsCode(window));
    await reaches(window, 'paid');
    // The tick is drawn and the panel rises; then nothing moves.
    const moving = `${ELEMENT}.shadowRoot.getAnimations().filter(({ playState }) => playState === 'running').length`;
    await waitFor(() => window.ask<number>(moving)).toBe(0);
    // The last change may not be drawn yet. A spinning tick looks different each time.
    let before = '';
    await waitFor(async () => {
      const now = await tickOn(window);
      const isStill = now === before;
      before = now;
      return isStill;
    }).toBe(true);
    const seen: string[] = [before];
    for (let look = 0; look < 4; look += 1) seen.push(await tickOn(window));
    expect(new Set(seen).size).toBe(1);
    expect(await says(window)).toMatch(/\d\d:\d\d \(Brasília\)/);
  });

  /** The pixels of the badge in the window. */
  async function tickOn(window: EngineWindow): Promise<string> {
    const box = await window.ask<{ x: number; y: number; width: number; height: number; ratio: number }>(
      `(() => { const { x, y, width, height } = ${part('.badge')}.getBoundingClientRect(); return { x, y, width, height, ratio: devicePixelRatio }; })()`,
    );
    const picture = PNG.sync.read(await window.screenshot());
    const [left, top, width, height] = [box.x, box.y, box.width, box.height].map((length) =>
      Math.round(length * box.ratio),
    ) as [number, number, number, number];
    const badge = new PNG({ width, height });
    PNG.bitblt(picture, badge, left, top, width, height, 0, 0);
    return badge.data.toString('base64');
  }
});

async function refund(mutation: string, id: string): Promise<void> {
  const { done } = await fixture.live.request(
    `mutation ($id: String!) { done: ${mutation} { __typename } }`,
    {
      id,
    },
  );
  expect(done.__typename).toMatch(/^Refund\w+Success$/);
  await fixture.pass(1);
}

const COURSE = 'https://loja.example/curso';

/** Creates a product whose payment delivers a code and a link. */
async function offerCourse(): Promise<string> {
  const { live } = fixture;
  const { createProduct } = await live.request(
    'mutation { createProduct(input: { name: "Curso", priceCents: 4990 }) { ... on CreateProductSuccess { product { productId } } } }',
  );
  const { productId } = createProduct.product;
  const deliver = 'mutation ($input: CreateDeliveryInput!) { createDelivery(input: $input) { __typename } }';
  for (const content of [{ codes: ['CURSO-7F3K'] }, { link: COURSE }])
    await live.request(deliver, { input: { productId, content } });
  return productId;
}

function save(folder: string, name: string, picture: Buffer): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replace(/\W+/g, '-').slice(0, 100)}.png`), picture);
}

function sideBySide(each: readonly Buffer[]): Buffer {
  const drawn = each.map((picture) => PNG.sync.read(picture));
  const width = drawn.reduce((sum, picture) => sum + picture.width, 0);
  const all = new PNG({ width, height: Math.max(...drawn.map(({ height }) => height)) });
  let left = 0;
  for (const picture of drawn) {
    PNG.bitblt(picture, all, 0, 0, picture.width, picture.height, left, 0);
    left += picture.width;
  }
  return PNG.sync.write(all);
}
