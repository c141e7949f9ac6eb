// An application that Metro bundles with the JavaScript of React Native: requests and sockets are those of React Native, on a
// native side by Node. `npm run nightly -- frameworks` runs it.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, realpath, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { type ServiceFixture, startServiceFixture } from '../e2e/fixture.ts';
import { type Cutter, startCutter } from '../live/cutter.ts';
import { scale } from '../support/scale.ts';
import { startNative } from './native-side.ts';
import { buildProject, folderOf, packCheckout } from './project.ts';

const BUILD_MS = 900_000;
const PATIENCE = { timeout: 60_000, interval: 50 };

const recipe = (name: string) => readFile(new URL(`../widget/recipes/${name}`, import.meta.url), 'utf8');

/** Metro runs the core of React Native first, if the application imports it, as by any part of `react-native`. */
const APP = `
import 'react-native/Libraries/Core/InitializeCore';
import { live } from '@psa/checkout/live';
import { followPayments } from './account.js';
import { followPayment, startPayment } from './payment.js';

Object.assign(globalThis, { followPayment, followPayments, live, startPayment });
`;

/** The settings that React Native's own command gives Metro. */
const BUILD = `
import { mkdir } from 'node:fs/promises';
import { getDefaultConfig, mergeConfig } from '@react-native/metro-config';
import Metro from 'metro';

const peer = import.meta.dirname + '/../..';
const config = mergeConfig(getDefaultConfig(import.meta.dirname), {
  // The workspace's packages are links into its folder.
  watchFolders: [peer, peer + '/../node_modules'],
  resolver: { nodeModulesPaths: [peer + '/node_modules'] },
});
await mkdir('out', { recursive: true });
await Metro.runBuild(config, { entry: 'app.js', out: 'out/app.js', platform: 'ios', minify: true, dev: false });
`;

interface Started {
  method: 'PIX' | 'CARD';
  payment: { id: string; status: string; pix?: { copyPaste: string }; checkoutUrl?: string };
  paymentToken: string;
}

/** The functions of the application. */
interface App {
  startPayment(options: object): Promise<Started>;
  followPayment(options: Started & { url: string; show(status: string): void }): () => void;
  followPayments(options: object): Promise<() => void>;
  live(options: object): AsyncGenerator;
}

describe.runIf(scale('FRAMEWORKS') > 3)('an application of React Native', () => {
  let folder: string;
  let checkout: string;
  let fixture: ServiceFixture;
  let cutter: Cutter;
  beforeAll(async () => {
    checkout = await packCheckout();
    const files = {
      'app.js': APP,
      'account.js': await recipe('graphql-ws.mjs'),
      'payment.js': await recipe('react-native.mjs'),
      'build.mjs': BUILD,
    };
    folder = await buildProject(
      'React Native',
      { packages: 'react-native', files, build: [['build.mjs']] },
      checkout,
    );
    fixture = await startServiceFixture();
    cutter = await startCutter(`${fixture.url}/graphql`);
  }, BUILD_MS);
  afterAll(async () => {
    await cutter?.close();
    await fixture?.close();
    if (checkout) await rm(dirname(checkout), { recursive: true });
    expect(fixture?.faults() ?? []).toEqual([]);
  });

  async function open(): Promise<App> {
    const native = startNative(await readFile(join(folder, 'out/app.js'), 'utf8'));
    onTestFinished(() => {
      native.close();
      expect(native.errors).toEqual([]);
    });
    expect(native.errors).toEqual([]);
    return native.global as unknown as App;
  }

  /** Starts a payment with what the server of a shop gives its application, and collects the statuses that it shows. */
  async function buy(app: App, method: 'PIX' | 'CARD') {
    const { createCheckoutToken } = await fixture.live.request(
      `mutation { createCheckoutToken(input: { amount: { fixedCents: 4990 }, description: "Caneca", methods: [PIX, CARD] }) {
        ... on CreateCheckoutTokenSuccess { token }
      } }`,
    );
    const started = await app.startPayment({
      endpoint: cutter.endpoint,
      token: createCheckoutToken.token,
      attemptId: randomUUID(),
      method,
    });
    const statuses: string[] = [];
    const url = cutter.endpoint.replace(/^http/, 'ws');
    const leave = app.followPayment({ ...started, url, show: (status) => statuses.push(status) });
    onTestFinished(() => leave());
    await expect.poll(() => statuses, PATIENCE).toEqual(['PENDING']);
    return { started, statuses };
  }

  async function payByPix({ payment }: Started): Promise<void> {
    const txid = txidOfCode(payment.pix!.copyPaste)!;
    expect(await fixture.app.pix.pay({ txid })).not.toBeNull();
    await fixture.pass(1);
  }

  it('starts a payment by PIX, and shows that it is paid', async () => {
    const { started, statuses } = await buy(await open(), 'PIX');
    await payByPix(started);
    await expect.poll(() => statuses, PATIENCE).toEqual(['PENDING', 'PAID']);
  });

  it('starts a payment by card, and shows that it is paid', async () => {
    const { started, statuses } = await buy(await open(), 'CARD');
    expect(started.payment.checkoutUrl).toContain(started.payment.id);
    await fixture.payElsewhere(started.payment.id);
    await expect.poll(() => statuses, PATIENCE).toEqual(['PENDING', 'PAID']);
  });

  it('misses no status while its connection is cut, and shows none twice', async () => {
    const { started, statuses } = await buy(await open(), 'PIX');
    cutter.down();
    cutter.cut('reset');
    await payByPix(started);
    expect(statuses).toEqual(['PENDING']);
    cutter.up();
    await expect.poll(() => statuses, PATIENCE).toEqual(['PENDING', 'PAID']);
  });

  it('follows all payments of an account by the recipe for graphql-ws, over a cut', async () => {
    const app = await open();
    const create = async () => {
      const { createPayment } = await fixture.live.request(
        'mutation { createPayment(input: { valueCents: 10 }) { ... on CreatePaymentSuccess { payment { paymentId } } } }',
      );
      return createPayment.payment.paymentId as string;
    };
    const created = [await create()];
    const shown: string[] = [];
    const leave = await app.followPayments({
      url: cutter.endpoint.replace(/^http/, 'ws'),
      async getToken() {
        const { createDashboardToken } = await fixture.live.request(
          'mutation { createDashboardToken(input: { scopes: [PAYMENTS] }) { ... on CreateDashboardTokenSuccess { token expiresAt } } }',
        );
        return createDashboardToken;
      },
      show: ({ paymentId }: { paymentId: string }) => shown.push(paymentId),
    });
    onTestFinished(() => leave());
    const showsAll = () =>
      expect
        .poll(() => shown.filter((id) => created.includes(id)).toSorted(), PATIENCE)
        .toEqual(created.toSorted());
    await showsAll();
    cutter.cut('reset');
    created.push(await create());
    await showsAll();
  });

  it('learns that its fetch reads no event stream, and by what it can follow', async () => {
    const app = await open();
    const updates = app.live({
      endpoint: cutter.endpoint,
      getToken: () => 'ps_dash_x',
      query:
        'subscription ($after: String) { allPaymentUpdates(after: $after) { cursor payment { paymentId } } }',
      after: 'zero',
    });
    const error = await updates.next().then(
      () => expect.unreachable(),
      ({ name, message }: Error) => `${name}: ${message}`,
    );
    expect(error).toMatch(/^UnfollowableError: .*@psa\/checkout\/resume and graphql-ws.*expo\/fetch/);
  });

  it('is compiled by Hermes', async () => {
    const native = join(folderOf('react-native'), 'node_modules/react-native/package.json');
    const hermes = dirname(createRequire(await realpath(native)).resolve('hermes-compiler/package.json'));
    const program = join(
      hermes,
      'hermesc',
      process.platform === 'darwin' ? 'osx-bin' : 'linux64-bin',
      'hermesc',
    );
    const [source, compiled] = ['app.js', 'app.hbc'].map((file) => join(folder, 'out', file));
    await promisify(execFile)(program, ['-emit-binary', '-O', '-w', '-out', compiled!, source!]);
    expect((await stat(compiled!)).size).toBeGreaterThan(10_000);
  });
});
