import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copySources, replaceOnce, root } from '../../../support/copied-sources.ts';

// A made-up family, vouchers: its own folder, and what it costs outside of it. A copy of the sources gets both.

const here = fileURLToPath(new URL('.', import.meta.url));

/** The folder of the family in the sources, and its files there. */
export const FOLDER = 'server/src/money-in/vouchers';
export const OWN = readdirSync(join(here, 'vouchers'), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

const MIGRATIONS = 'server/src/state/db/migrations';
const [last = ''] = readdirSync(join(root, MIGRATIONS)).sort().reverse();
const NEXT = String(Number(last.slice(0, 4)) + 1).padStart(4, '0');

/** A text to insert into a file, and the text before which it is inserted, which the file contains once. */
type Insertion = readonly [before: string, text: string];

/** The files outside of the family's folder: those that it changes, and one that it adds. */
export const OUTSIDE: Readonly<Record<string, readonly Insertion[] | string>> = {
  [`${MIGRATIONS}/${NEXT}_vouchers.sql`]: readFileSync(join(here, 'vouchers.sql'), 'utf8'),
  'server/architecture.mjs': [[' subscriptions refunds disputes sandbox', ' vouchers']],
  'server/src/kernel/caller.ts': [
    [
      '} as const satisfies Record<string, { rights:',
      "  vouchers: { rights: ['vouchers.read'], description: 'Vouchers, which payers pay at a counter.' },\n",
    ],
  ],
  'server/src/kernel/upstream-family.ts': [
    ['] as const;\nexport type UpstreamFamily', "  'vouchers',\n"],
    ['] as const;\nexport type MirroredResource', "  'voucher',\n"],
  ],
  'server/src/webhooks/sent-events.ts': [
    [
      'import { payoutWebhook, payoutWebhooks }',
      "import { voucherWebhook, voucherWebhooks } from '../money-in/vouchers/wire.ts';\n",
    ],
    ['} satisfies Record<string, WebhookEvent>;', '  ...voucherWebhooks,\n'],
    [
      "    case 'dispute': {",
      `    case 'voucher': {
      const payload = voucherWebhook(event.snapshot, environment);
      return payload && { payload };
    }
`,
    ],
  ],
  'server/src/programs/modes/slices.ts': [
    [
      "import '../../money-out/wallet/schema.ts';",
      `import '../../money-in/vouchers/schema.ts';
import '../../money-in/vouchers/updates/schema.ts';
`,
    ],
    [
      'import { payoutSnapshots }',
      `import { voucherSnapshots } from '../../money-in/vouchers/events.ts';
import type { VoucherControls } from '../../money-in/vouchers/model.ts';
import { voucherChecks } from '../../money-in/vouchers/remote/checks.ts';
import { createRemoteVouchers } from '../../money-in/vouchers/remote/service.ts';
import { createVoucherRoutes } from '../../money-in/vouchers/routes.ts';
import { createVoucherService } from '../../money-in/vouchers/service.ts';
`,
    ],
    [
      '  webhooks: { snapshots: webhookSnapshots, routes: createWebhookRoutes },',
      `  vouchers: {
    snapshots: voucherSnapshots,
    routes: createVoucherRoutes,
    controls: ({ vouchers }: { vouchers: VoucherControls }) => [
      { path: 'vouchers/{id}/pay', apply: vouchers.pay, conflict: 'This voucher is paid already' },
    ],
    embedded: (core) => ({ service: createVoucherService(core) }),
    remote: createRemoteVouchers,
    mirrors: 'voucher',
    checks: voucherChecks,
  },
`,
    ],
  ],
};

/** Copies the sources of the server and of the tests' support, with the family in them. The caller removes the copy. */
export function copyWithFamily() {
  const folders = ['server/bin', 'server/scripts', 'server/src', 'test/faults', 'test/support'];
  const copy = copySources(['server', 'test'], folders);
  symlinkSync(join(root, 'widget'), join(copy.path, 'widget'));
  for (const file of ['tsconfig.json', 'server/architecture.mjs'])
    cpSync(join(root, file), join(copy.path, file));
  replaceOnce(join(copy.path, 'tsconfig.json'), ', "server/scripts"', '');
  cpSync(join(here, 'vouchers'), join(copy.path, FOLDER), { recursive: true });
  for (const file of Object.keys(OUTSIDE)) write(copy.path, file);
  return copy;
}

/** Writes the family's part of a file outside of its folder into a copy. */
export function write(copy: string, file: string): void {
  const change = OUTSIDE[file]!;
  if (typeof change === 'string') writeFileSync(join(copy, file), change);
  else for (const [before, text] of change) replaceOnce(join(copy, file), before, text + before);
}

/** Takes the family's part out of a file again. */
export function leaveOut(copy: string, file: string): void {
  cpSync(join(root, file), join(copy, file));
}
