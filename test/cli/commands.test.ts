import { describe, expect, test } from 'vitest';
import { readArguments, UsageError } from '../../server/src/cli/commands.ts';

const words = (text: string) => text.split(' ');

describe('what is typed', () => {
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
    ['tokens pause tok_1', 'tokens.pause', { token: 'tok_1' }],
    ['tokens pause ps_checkout_x --minutes 60', 'tokens.pause', { token: 'ps_checkout_x', minutes: 60 }],
    ['tokens resume tok_1', 'tokens.resume', { token: 'tok_1' }],
    ['tokens list', 'tokens.list', {}],
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
  ])('%s', (typed, operation, input) => {
    expect(readArguments(words(typed))).toEqual({ kind: 'operation', operation, input, json: false });
    expect(readArguments([...words(typed), '--json'])).toMatchObject({ json: true, input });
  });

  test.each<[string, string]>([
    ['key', 'There is no command "key"; there are keys, accounts, doubts, tokens, backup, restore'],
    [
      'constructor list',
      'There is no command "constructor"; there are keys, accounts, doubts, tokens, backup, restore',
    ],
    ['--json', 'A command comes before --json: keys, accounts, doubts, tokens, backup, restore'],
    ['keys', 'keys what? There are keys create, keys list, keys revoke'],
    ['keys --json', 'keys what? There are keys create, keys list, keys revoke'],
    ['keys delete', 'There is no "keys delete"; There are keys create, keys list, keys revoke'],
    ['keys toString', 'There is no "keys toString"; There are keys create, keys list, keys revoke'],
    ['keys create', 'Give --live or --sandbox: a key is for one of the two'],
    ['keys create --live --sandbox', 'Give --live or --sandbox, not both'],
    ['keys create --live --live', '--live is given twice'],
    ['keys create --live --name A --name B', '--name is given twice'],
    ['keys create --live --name', "Option '--name <value>' argument missing"],
    ['keys create --live=yes', "Option '--live' does not take an argument"],
    ['keys create --live --nome A', "Unknown option '--nome'"],
    ['keys create --live -x', "Unknown option '-x'"],
    ['keys create --live extra', 'Unexpected argument "extra"'],
    ['keys list --permission a', "Unknown option '--permission'"],
    ['keys revoke', 'KEY-ID is missing'],
    ['keys revoke key_1 key_2', 'Unexpected argument "key_2"'],
    ['tokens pause', 'TOKEN is missing'],
    ['tokens pause tok_1 --minutes 1h', '--minutes must be a whole number of minutes, such as 60'],
    ['restore', 'FILE is missing'],
    ['restore one.gz two.gz', 'Unexpected argument "two.gz"'],
    ['backup one.gz two.gz', 'Unexpected argument "two.gz"'],
    ['backup --all', "Unknown option '--all'"],
    ['accounts create', '--name is missing: what its payers see'],
    ['accounts set', 'ACCOUNT-ID is missing'],
    ['doubts settle int_1', 'Give --made or --not-made, not both'],
    ['doubts settle int_1 --made SAQ-1 --not-made', 'Give --made or --not-made, not both'],
    ['accounts set acc_1', 'There is nothing to change: give a setting, as in --payout-fee-pix 1.00'],
    ['accounts set acc_1 --card-payments yes', '--card-payments must be on or off'],
    ['accounts set acc_1 --card-release-days -1', "Option '--card-release-days' argument is ambiguous"],
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
  ])('%s is refused: %s', (typed, says) => {
    expect(() => readArguments(words(typed))).toThrow(
      expect.objectContaining({ name: UsageError.name, message: says }),
    );
  });

  test('names a file, or none for a backup', () => {
    expect(readArguments(['backup'])).toEqual({ kind: 'backup', file: null, json: false });
    expect(readArguments(['backup', 'one.gz', '--json'])).toEqual({
      kind: 'backup',
      file: 'one.gz',
      json: true,
    });
    expect(readArguments(['restore', 'one.gz'])).toEqual({ kind: 'restore', file: 'one.gz', json: false });
    expect(readArguments(['restore', '--help'])).toEqual({
      kind: 'help',
      text: expect.stringMatching(/^Usage: npm run psa -- restore FILE \[options\]\n/),
    });
  });

  test('is refused in one line, whatever it holds', () => {
    for (const args of [['a\nb'], ['keys', 'a\nb'], ['keys', 'list', 'a\nb'], ['keys', 'list', '--a\nb']])
      try {
        readArguments(args);
        expect.fail('it was taken');
      } catch (error) {
        expect((error as Error).message).not.toContain('\n');
      }
  });

  test('is explained at every level, with each option', () => {
    for (const args of [[], ['--help'], ['-h'], ['help']])
      expect(readArguments(args)).toEqual({ kind: 'help', text: expect.stringContaining('accounts set') });
    expect(readArguments(['keys', '--help'])).toEqual({
      kind: 'help',
      text: expect.stringContaining('keys revoke'),
    });
    const { text } = readArguments(words('keys create --live --help')) as { text: string };
    for (const option of ['--live', '--sandbox', '--permission', '--name', '--account', '--json', '--help'])
      expect(text).toContain(option);
  });
});
