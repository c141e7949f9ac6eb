import { describe, expect, test } from 'vitest';
import { commandsOf, programVersion } from '../../../server/src/kernel/assets.ts';
import { parseCommand } from '../../../server/src/programs/cli/commands.ts';
import { UsageError } from '../../../server/src/programs/cli/usage-error.ts';

const words = (text: string) => text.split(' ');

describe('the parser of psa', () => {
  test.each(['--version', '-V'])('psa %s prints the version of the server', (typed) => {
    expect(parseCommand([typed])).toEqual({ kind: 'help', text: `${programVersion()}\n` });
    expect(programVersion()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test.each<[string, string, object]>([
    ['keys create --live', 'keys.create', { environment: 'live', permissions: [], name: null }],
    [
      'keys create --permission subcontas.sacar --sandbox --permission=subcontas.gerenciar --name Folha --account acc_1',
      'keys.create',
      {
        accountId: 'acc_1',
        environment: 'sandbox',
        permissions: ['subcontas.sacar', 'subcontas.gerenciar'],
        name: 'Folha',
      },
    ],
    ['keys list', 'keys.list', { revokedToo: false }],
    ['keys list --all --account acc_1', 'keys.list', { accountId: 'acc_1', revokedToo: true }],
    ['keys revoke key_1', 'keys.revoke', { id: 'key_1' }],
    ['accounts create --name Padaria', 'accounts.create', { name: 'Padaria' }],
    ['accounts list', 'accounts.list', {}],
    ['doubts list', 'doubts.list', {}],
    ['doubts settle int_1 --made SAQ-1', 'doubts.settle', { id: 'int_1', made: 'SAQ-1' }],
    ['doubts settle int_1 --not-made', 'doubts.settle', { id: 'int_1', made: null }],
    ['upstream check', 'upstream.check', {}],
    ['upstream check --sandbox', 'upstream.check', { environment: 'sandbox' }],
    ['restored', 'restored', {}],
    ['restored --since 2026-11-29T03:00:00Z', 'restored', { since: '2026-11-29T03:00:00Z' }],
    ['restored --confirm', 'restored', { confirm: true }],
    ['tokens pause tok_1', 'tokens.pause', { token: 'tok_1' }],
    ['ltc list', 'ltc.list', {}],
    ['verify', 'verify', {}],
    [
      'verify --account acc_1 --law log-head --since-last',
      'verify',
      { accountId: 'acc_1', law: 'log-head', sinceLast: true },
    ],
    ['ltc list --after psa_1', 'ltc.list', { after: 'psa_1' }],
    ['ltc credit psa_1', 'ltc.credit', { id: 'psa_1' }],
    ['accounts set acc_1 --ltc off', 'accounts.set', { id: 'acc_1', ltcEnabled: false }],
    ['accounts set acc_1 --color #7a1f5c', 'accounts.set', { id: 'acc_1', color: '#7a1f5c' }],
    ['accounts set acc_1 --pix-max-cents 1500000', 'accounts.set', { id: 'acc_1', pixMaxCents: 1_500_000 }],
    ['accounts set acc_1 --pix-max-cents none', 'accounts.set', { id: 'acc_1', pixMaxCents: null }],
    ['accounts set acc_1 --color none --logo none', 'accounts.set', { id: 'acc_1', color: null, logo: null }],
    ['tokens pause ps_checkout_x --minutes 60', 'tokens.pause', { token: 'ps_checkout_x', minutes: 60 }],
    ['tokens resume tok_1', 'tokens.resume', { token: 'tok_1' }],
    ['tokens list', 'tokens.list', {}],
    [
      'webhooks list --live --status exhausted --response-status 503',
      'webhooks.list',
      { environment: 'live', status: 'exhausted', responseStatus: 503 },
    ],
    ['webhooks show whd_1', 'webhooks.show', { webhookId: 'whd_1' }],
    ['webhooks redeliver whd_1', 'webhooks.redeliver', { webhookId: 'whd_1' }],
    [
      'webhooks test payment.paid --sandbox',
      'webhooks.test',
      { environment: 'sandbox', event: 'payment.paid' },
    ],
    [
      'accounts set acc_1 --card-payments off --card-release-days 0 --payout-fee-pix 1 --payout-fee-pix-turbo 2.5 --payout-fee-ltc 0,05 --payout-fee-usd 1000.00 --subaccount-markup 0.29',
      'accounts.set',
      {
        id: 'acc_1',
        cardPaymentsEnabled: false,
        cardReleaseDays: 0,
        payoutFeesCents: { pix: 100, pix_turbo: 250, ltc: 5, usd: 100_000 },
        subaccountMarkupCents: 29,
      },
    ],
  ])('psa %s is read as an operation and its input', (typed, operation, input) => {
    expect(parseCommand(words(typed))).toEqual({ kind: 'operation', operation, input, json: false });
    expect(parseCommand([...words(typed), '--json'])).toMatchObject({ json: true, input });
  });

  test.each<[string, string]>([
    [
      'key',
      'There is no command "key"; there are keys, accounts, doubts, upstream, store, tokens, webhooks, verify, ltc, archive, erase, backup, restore, restored',
    ],
    [
      'constructor list',
      'There is no command "constructor"; there are keys, accounts, doubts, upstream, store, tokens, webhooks, verify, ltc, archive, erase, backup, restore, restored',
    ],
    [
      '--json',
      'A command is missing before --json; there are keys, accounts, doubts, upstream, store, tokens, webhooks, verify, ltc, archive, erase, backup, restore, restored',
    ],
    ['keys', 'A command is missing; there are keys create, keys list, keys revoke'],
    ['keys --json', 'A command is missing before --json; there are keys create, keys list, keys revoke'],
    ['keys --all list', 'A command is missing before --all; there are keys create, keys list, keys revoke'],
    ['keys delete', 'There is no command "keys delete"; there are keys create, keys list, keys revoke'],
    ['keys toString', 'There is no command "keys toString"; there are keys create, keys list, keys revoke'],
    ['keys create', 'Give --live or --sandbox: a key is for one of the two'],
    ['keys create --live --sandbox', "Option '--live' cannot be used with option '--sandbox'"],
    ['keys create --live --live', '--live is given twice'],
    ['keys create --live --json --json', '--json is given twice'],
    ['keys create --live --name A --name B', '--name is given twice'],
    ['keys create --live --name', "Option '--name <TEXT>' argument missing"],
    ['keys create --live --name --json', "Option '--name <TEXT>' argument missing"],
    ['keys create --permission --live', "Option '--permission <NAME...>' argument missing"],
    ['keys create --live=yes', "Unknown option '--live=yes'"],
    ['keys create --live --nome A', "Unknown option '--nome'"],
    ['keys create --live --nam A', "Unknown option '--nam'"],
    ['keys create --live -x', "Unknown option '-x'"],
    ['keys create --live extra', 'Unexpected argument "extra"'],
    ['keys list --permission a', "Unknown option '--permission'"],
    ['keys revoke', "Missing required argument 'KEY-ID'"],
    ['keys revoke key_1 key_2', 'Unexpected argument "key_2"'],
    ['ltc list psa_1', 'Unexpected argument "psa_1"'],
    ['verify acc_1', 'Unexpected argument "acc_1"'],
    ['ltc credit', "Missing required argument 'PAYMENT-ID'"],
    ['tokens pause', "Missing required argument 'TOKEN'"],
    ['webhooks list', 'Give --live or --sandbox: each of the two has a log of its own'],
    [
      'webhooks list --live --response-status x',
      '--response-status must be an HTTP status, a class of them, or 0',
    ],
    ['tokens pause tok_1 --minutes 1h', '--minutes must be a whole number of minutes, such as 60'],
    ['store', 'A command is missing; there are store import'],
    ['store import --live', "Missing required argument 'FILE'"],
    ['store import loja.json', 'Give --live or --sandbox: each of the two has a store of its own'],
    ['store import loja.json --live --sandbox', "Option '--live' cannot be used with option '--sandbox'"],
    ['restore', "Missing required argument 'FILE'"],
    ['archive write --to /a --key k', "Required option '--month <MONTH>' not specified"],
    ['archive write --month 2026-13 --to /a --key k', '--month must be a month, as 2026-10'],
    ['erase --requested-by x', 'Give --email, --document, --phone, --pix-key or --customer'],
    ['erase --email ana@x.example', 'Give --requested-by, or --dry-run'],
    ['archive verify', "Missing required argument 'FILES'"],
    ['restored --since', "Option '--since <TIME>' argument missing"],
    ['restore one.gz two.gz', 'Unexpected argument "two.gz"'],
    ['backup one.gz two.gz', 'Unexpected argument "two.gz"'],
    ['backup --all', "Unknown option '--all'"],
    ['accounts create', "Required option '--name <TEXT>' not specified"],
    ['accounts set', "Missing required argument 'ACCOUNT-ID'"],
    ['doubts settle int_1', 'Give --made or --not-made'],
    [
      'doubts settle int_1 --made SAQ-1 --not-made',
      "Option '--made <NAME>' cannot be used with option '--not-made'",
    ],
    ['accounts set acc_1', 'There is nothing to change: give a setting, as in --payout-fee-pix 1.00'],
    ['accounts set acc_1 --json', 'There is nothing to change: give a setting, as in --payout-fee-pix 1.00'],
    ['accounts set acc_1 --card-payments yes', '--card-payments must be on or off'],
    [
      'accounts set acc_1 --card-release-days -1',
      '--card-release-days must be a number of days from 0 to 365',
    ],
    [
      'accounts set acc_1 --card-release-days=-1',
      '--card-release-days must be a number of days from 0 to 365',
    ],
    [
      'accounts set acc_1 --card-release-days 366',
      '--card-release-days must be a number of days from 0 to 365',
    ],
    [
      'accounts set acc_1 --card-release-days 1.5',
      '--card-release-days must be a number of days from 0 to 365',
    ],
    [
      'accounts set acc_1 --payout-fee-pix 1.005',
      '--payout-fee-pix must be reais from 0.00 to 1000.00, such as 1.00',
    ],
    [
      'accounts set acc_1 --payout-fee-ltc 1000.01',
      '--payout-fee-ltc must be reais from 0.00 to 1000.00, such as 1.00',
    ],
    [
      'accounts set acc_1 --subaccount-markup R$1',
      '--subaccount-markup must be reais from 0.00 to 1000.00, such as 1.00',
    ],
    [
      'accounts set acc_1 --payout-fee-usd 1e2',
      '--payout-fee-usd must be reais from 0.00 to 1000.00, such as 1.00',
    ],
  ])('psa %s is rejected with: %s', (typed, message) => {
    expect(() => parseCommand(words(typed))).toThrow(
      expect.objectContaining({ name: UsageError.name, message }),
    );
  });

  test('A value that begins with a dash is given with an equals sign', () => {
    expect(parseCommand(['keys', 'create', '--live', '--name=-x'])).toMatchObject({ input: { name: '-x' } });
  });

  test('An error names the command whose help explains it', () => {
    for (const [typed, command] of [
      ['key', ''],
      ['keys delete', 'keys'],
      ['keys create --nome A', 'keys create'],
      ['backup --all', 'backup'],
    ] as const)
      expect(() => parseCommand(words(typed))).toThrow(expect.objectContaining({ command }));
  });

  test('store import names a file and an environment, and an account where it is given', () => {
    const command = { kind: 'operation', operation: 'store.import', json: false, file: 'loja.json' };
    expect(parseCommand(words('store import loja.json --live'))).toEqual({
      ...command,
      input: { environment: 'live' },
    });
    expect(parseCommand(words('store import loja.json --sandbox --account acc_1'))).toEqual({
      ...command,
      input: { environment: 'sandbox', accountId: 'acc_1' },
    });
  });

  test('archive names a month, a folder and a key, and verifies any number of files', () => {
    const written = { kind: 'archive.write', month: '2026-10', folder: '/a', keyFile: 'k.pem', json: false };
    const typed = 'archive write --month 2026-10 --to /a --key k.pem';
    expect(parseCommand(words(typed))).toEqual(written);
    expect(parseCommand(words(`${typed} --account acc_1 --sandbox --json`))).toEqual({
      ...{ ...written, accountId: 'acc_1', environment: 'sandbox', json: true },
    });
    expect(parseCommand(words('archive verify a.tar b.tar --public-key k.pub'))).toEqual({
      ...{ kind: 'archive.verify', files: ['a.tar', 'b.tar'], publicKeyFile: 'k.pub', json: false },
    });
  });

  test('erase names a person and who asked for it', () => {
    expect(parseCommand(['erase', '--email', 'ana@x.example', '--requested-by', 'ticket 1'])).toEqual({
      kind: 'erase',
      request: { email: 'ana@x.example', requestedBy: 'ticket 1', isDryRun: false },
      json: false,
    });
    expect(parseCommand(words('erase --pix-key +5511987654321 --account acc_1 --dry-run'))).toMatchObject({
      request: { accountId: 'acc_1', pixKey: '+5511987654321', isDryRun: true },
    });
  });

  test('backup and restore name a file, which a backup may leave out', () => {
    expect(parseCommand(['backup'])).toEqual({ kind: 'backup', file: null, json: false });
    expect(parseCommand(['backup', 'one.gz', '--json'])).toEqual({
      kind: 'backup',
      file: 'one.gz',
      json: true,
    });
    expect(parseCommand(['restore', 'one.gz'])).toEqual({ kind: 'restore', file: 'one.gz', json: false });
    expect(parseCommand(['restore', '--help'])).toEqual({
      kind: 'help',
      text: expect.stringMatching(/^Usage: npm run psa -- restore \[options\] <FILE>\n/),
    });
  });

  test('An error is one line, without control characters, for any input', () => {
    const text = 'a\n\u001b[2Jb';
    for (const args of [
      [text],
      [`-${text}`],
      ['keys', text],
      ['keys', `-${text}`],
      ['keys', 'list', text],
      ['keys', 'list', `--${text}`],
      ['keys', 'create', `--live=${text}`],
      ['tokens', 'pause', 'tok_1', '--minutes', text],
      ['accounts', 'set', 'acc_1', '--card-payments', text],
    ])
      expect(() => parseCommand(args), JSON.stringify(args)).toThrow(
        expect.objectContaining({ name: UsageError.name, message: expect.stringMatching(/^\P{C}+$/u) }),
      );
  });

  test('Help is given at every level, and names each option', () => {
    for (const args of [[], ['--help'], ['-h'], ['help']])
      expect(parseCommand(args)).toEqual({ kind: 'help', text: expect.stringContaining('accounts set') });
    for (const args of [
      ['keys', '--help'],
      ['keys', 'help'],
    ])
      expect(parseCommand(args)).toEqual({ kind: 'help', text: expect.stringContaining('keys revoke') });
    for (const args of [
      ['backup', '-h'],
      ['backup', 'help'],
    ])
      expect(parseCommand(args)).toEqual({
        kind: 'help',
        text: expect.stringContaining('For example: npm run psa -- backup /var/backups/psa.backup.gz'),
      });
    const { text } = parseCommand(words('keys create --live --help')) as { text: string };
    for (const option of ['--live', '--sandbox', '--permission', '--name', '--account', '--json', '--help'])
      expect(text).toContain(option);
  });
});

test.each([
  ['a clone', ['scripts/build.mjs', 'bin/psa.mjs'], 'npm run psa --', 'npm start'],
  ['the package', ['bin/psa.mjs'], 'npx @psa/server', 'npx @psa/server'],
  ['the image, which npm has not installed', [], 'node server/dist/psa.js', 'node server/dist/main.js'],
])('Messages name the commands that work in %s', (_, files: string[], psa, start) => {
  expect(commandsOf((file) => files.includes(file))).toEqual({ psa, start });
});
