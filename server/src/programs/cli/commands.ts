import { Command, CommanderError, Option } from 'commander';
import { PSA_COMMAND, programVersion, START_COMMAND } from '../../kernel/assets.ts';
import { withoutUndefined } from '../../kernel/objects.ts';
import type { CommandOperation } from '../ops/operations.ts';
import { type ArchiveCommand, defineArchiveCommands } from './archive-commands.ts';
import { defineEraseCommand, type EraseCommand } from './erase-commands.ts';
import { addSettings, createOption, type Options, toSettings } from './options.ts';
import { UsageError } from './usage-error.ts';
import { defineVerifyCommand } from './verify-command.ts';
import { defineWebhookCommands } from './webhook-commands.ts';

export type ParsedCommand =
  | { kind: 'help'; text: string }
  | {
      kind: 'operation';
      operation: CommandOperation;
      input: object;
      json: boolean;
      file?: string;
      logo?: string;
    }
  | { kind: 'backup'; file: string | null; json: boolean }
  | { kind: 'restore'; file: string; json: boolean }
  | ArchiveCommand
  | EraseCommand;

/** The command whose whole output is the result; npm prints lines of its own around that of a script. */
const QUIET_COMMAND = PSA_COMMAND.replace('npm run', 'npm run --silent');

/**
 * Parses the arguments of the process, and prints nothing. An unknown option is refused: a misspelt `--permission` would make a
 * key without restrictions. @throws UsageError
 */
export function parseCommand(args: readonly string[]): ParsedCommand {
  let parsed: ParsedCommand | undefined;
  let help = '';
  const program = new Command(PSA_COMMAND)
    .exitOverride()
    .option('-V, --version', 'prints the version')
    .on('option:version', () => {
      help = `${programVersion()}\n`;
      throw new CommanderError(0, 'commander.version', help);
    })
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut(text) {
        help += text;
      },
      outputError: () => undefined,
    })
    .configureHelp({
      // The help of psa lists the commands of all groups.
      visibleCommands: (command) =>
        command.commands.flatMap((sub) => (sub.commands.length > 0 ? sub.commands : [sub])),
      subcommandTerm: (command) => [pathOf(command), ...argumentsOf(command)].join(' '),
    });
  defineCommands(program, (command) => {
    parsed = command;
  });
  for (const command of withDescendants(program))
    if (command.commands.length > 0) defineGroup(command);
    else rejectMisreadings(command.option('--json', 'prints the result as JSON'), args);
  try {
    program.parse(args, { from: 'user' });
    return parsed!;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { kind: 'help', text: help };
    if (!(error instanceof CommanderError || error instanceof UsageError)) throw error;
    const message = error.message.replace(/^error: ./, (start) => start.slice(-1).toUpperCase());
    throw new UsageError(oneLine(message), pathOf(findCommand(program, args)));
  }
}

function defineCommands(program: Command, onParsed: (command: ParsedCommand) => void): void {
  program.addHelpText(
    'after',
    `
Each command works beside a running server or without one, on what DATABASE_URL
or PSA_DATA_DIR (.data) name, as ${START_COMMAND} does. It reaches a server that uses a
data folder over the socket psa.sock in that folder. Where that path is too long
for a socket (over 100 bytes), the socket is in the folder for temporary files,
which the command and the server must then share.

More about a command: ${PSA_COMMAND} keys create --help
Output for a program: ${QUIET_COMMAND} keys list --json
Exit codes: 0; 1 if the command was refused or failed; 2 if it was mistyped, and
then nothing has changed.`,
  );
  const define = (group: Command, name: string, description: string, example: string) =>
    group
      .command(name)
      .description(description)
      .addHelpText('after', `\nFor example: ${PSA_COMMAND} ${example}`);
  /** Creates the action of a command: it performs an operation, whose input is made from the arguments and options. */
  const perform = (operation: CommandOperation, toInput: (options: Options, argument: string) => object) =>
    function (this: Command) {
      const { json = false, ...options } = this.opts();
      onParsed({
        kind: 'operation',
        operation,
        input: withoutUndefined(toInput(options, this.args[0]!)),
        json,
        // Read by the process, as every file is.
        ...(typeof options.logo === 'string' && options.logo !== 'none' && { logo: options.logo }),
      });
    };

  const keys = program.command('keys');
  define(
    keys,
    'create',
    'creates an API key and shows it once',
    'keys create --live --permission subcontas.sacar --name "Folha de pagamento"',
  )
    .addOption(new Option('--live', 'for real money; this or --sandbox').conflicts('sandbox'))
    .option('--sandbox', 'for tests; this or --live')
    .option(
      '--permission <NAME...>',
      'restricts the key: subcontas.gerenciar, subcontas.sacar, statement.read, webhooks.payloads; may be repeated',
    )
    .option('--name <TEXT>', 'a name for the list of keys')
    .option('--account <ID>', 'the account, where there are several')
    .action(
      perform('keys.create', ({ live, sandbox, permission = [], name = null, account }) => {
        if (!live && !sandbox) throw new UsageError('Give --live or --sandbox: a key is for one of the two');
        return { accountId: account, environment: live ? 'live' : 'sandbox', permissions: permission, name };
      }),
    );
  define(keys, 'list', 'lists the active keys, without their secrets', 'keys list --all')
    .option('--all', 'the revoked keys too')
    .option('--account <ID>', 'the keys of this account only')
    .action(perform('keys.list', ({ all = false, account }) => ({ accountId: account, revokedToo: all })));
  define(
    keys,
    'revoke',
    'revokes a key and the tokens that it minted, and closes their connections',
    'keys revoke key_0123456789abcdef01234567',
  )
    .argument('<KEY-ID>')
    .action(perform('keys.revoke', (_, id) => ({ id })));

  const accounts = program.command('accounts');
  const create = define(
    accounts,
    'create',
    'creates an account, without keys',
    'accounts create --name "Padaria da Ana" --card-release-days 30',
  ).requiredOption('--name <TEXT>', 'the name that its payers see');
  addSettings(create).action(perform('accounts.create', toSettings));
  define(accounts, 'list', 'lists the accounts and their settings', 'accounts list --json').action(
    perform('accounts.list', () => ({})),
  );
  const set = define(
    accounts,
    'set',
    'changes the given settings, from the next payment or payout on',
    'accounts set acc_0123456789abcdef01234567 --payout-fee-pix 1.00',
  )
    .argument('<ACCOUNT-ID>')
    .option('--name <TEXT>', 'the name that its payers see')
    .option('--color <#RRGGBB>', 'the color behind the white text of its hosted pages; none takes it away')
    .option('--logo <FILE>', 'their logo, a PNG, JPEG or WebP of up to 100 kB; none takes it away');
  addSettings(set).action(
    perform('accounts.set', (options, id) => {
      if (Object.keys(options).length === 0)
        throw new UsageError('There is nothing to change: give a setting, as in --payout-fee-pix 1.00');
      const { color, logo } = options;
      return {
        id,
        ...toSettings(options),
        color: color === 'none' ? null : color,
        logo: logo === 'none' ? null : undefined,
      };
    }),
  );

  const doubts = program.command('doubts');
  define(
    doubts,
    'list',
    'lists the requests to the service behind a facade whose outcome is unknown',
    'doubts list',
  ).action(perform('doubts.list', () => ({})));
  define(
    doubts,
    'settle',
    'records the outcome of such a request that you have found out',
    'doubts settle int_0123456789abcdef01234567 --made SAQ-8NY3SQZHKXF9',
  )
    .argument('<REQUEST-ID>')
    .addOption(
      new Option(
        '--made <NAME>',
        'what it has made: the SAQ- code of a payout, the rep_ refId of a transfer; this or --not-made',
      ).conflicts('notMade'),
    )
    .option(
      '--not-made',
      'it has made nothing: a payout is shown as denied, and may be requested under a new key',
    )
    .action(
      perform('doubts.settle', ({ made = null, notMade }, id) => {
        if (made === null && !notMade) throw new UsageError('Give --made or --not-made');
        return { id, made };
      }),
    );

  const upstream = program.command('upstream');
  define(
    upstream,
    'check',
    'asks the service behind a facade by reads alone, and shows what of it is read',
    'upstream check --json',
  )
    .option('--sandbox', 'with the test key; otherwise with the live key, where there is one')
    .addHelpText(
      'after',
      `
The requests count in the limit of the servers. Exit code 1 where an endpoint has no
answer, refuses, or shows what is not read; what is not offered is no failure.`,
    )
    .action(perform('upstream.check', ({ sandbox }) => ({ environment: sandbox ? 'sandbox' : undefined })));

  const store = program.command('store');
  define(
    store,
    'import',
    'replaces all products of the store by those of a JSON file',
    'store import loja.json --live',
  )
    .argument('<FILE>')
    .addOption(new Option('--live', 'the store of live keys; this or --sandbox').conflicts('sandbox'))
    .option('--sandbox', 'that of test keys; this or --live')
    .option('--account <ID>', 'the account, where there are several')
    .addHelpText(
      'after',
      `
The file has the products in the store's own order, at most 5,000:
[{ "id": "1", "name": "Caneca", "description": null, "price": "1.234,56",
   "imageUrl": "https://…", "available": true }]
id and name are required. A mistake is named with its row, and changes nothing.`,
    )
    .action((file: string, { live, sandbox, account, json = false }) => {
      if (!live && !sandbox)
        throw new UsageError('Give --live or --sandbox: each of the two has a store of its own');
      const input = withoutUndefined({ accountId: account, environment: live ? 'live' : 'sandbox' });
      onParsed({ kind: 'operation', operation: 'store.import', input, json, file });
    });

  const tokens = program.command('tokens');
  define(
    tokens,
    'pause',
    'pauses a checkout token: it starts no payment, and its payments take no card',
    'tokens pause tok_0123456789abcdef01234567 --minutes 60',
  )
    .argument('<TOKEN>')
    .addOption(
      createOption(
        '--minutes <NUMBER>',
        'resumes the token after this time; otherwise it stays paused',
        'a whole number of minutes, such as 60',
        (text) => (/^\d{1,6}$/.test(text) ? Number(text) : undefined),
      ),
    )
    .action(perform('tokens.pause', ({ minutes }, token) => ({ token, minutes })));
  define(
    tokens,
    'resume',
    'resumes a checkout token, paused by hand or for its declined cards',
    'tokens resume tok_0123456789abcdef01234567',
  )
    .argument('<TOKEN>')
    .action(perform('tokens.resume', (_, token) => ({ token })));
  define(
    tokens,
    'paused',
    'lists the paused checkout tokens, and why they are paused',
    'tokens paused',
  ).action(perform('tokens.paused', () => ({})));
  define(
    tokens,
    'list',
    'lists the checkout and dashboard tokens that are in force, newest first, at most 100',
    'tokens list --reusable',
  )
    .option('--reusable', 'only checkout tokens that serve many payers')
    .option('--all', 'those that have expired or were revoked, too')
    .option('--account <ID>', 'the tokens of this account only')
    .action(
      perform('tokens.list', ({ reusable, all, account }) => ({ accountId: account, reusable, ended: all })),
    );
  define(
    tokens,
    'revoke',
    'revokes a checkout or dashboard token, and closes what it has open',
    'tokens revoke tok_0123456789abcdef01234567',
  )
    .argument('<TOKEN>')
    .action(perform('tokens.revoke', (_, token) => ({ token })));

  defineWebhookCommands(program.command('webhooks'), { define, perform });
  defineVerifyCommand(program, { define, perform });

  const ltc = program.command('ltc');
  define(
    ltc,
    'list',
    'lists the payments that have ended without the LTC that came for them, and why; 100 at a time',
    'ltc list --after psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
  )
    .option('--after <PAYMENT-ID>', 'lists the payments after this one, the last of the previous page')
    .action(perform('ltc.list', ({ after }) => ({ after })));
  define(
    ltc,
    'credit',
    'credits LTC that came for a payment and do not pay it, once the merchant and the payer agree',
    'ltc credit psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
  )
    .argument('<PAYMENT-ID>')
    .action(perform('ltc.credit', (_, id) => ({ id })));

  defineArchiveCommands(program.command('archive'), { define, onParsed });
  defineEraseCommand(program, { define, onParsed });
  define(
    program,
    'backup',
    'saves the database in one file, also while a server uses it',
    'backup /var/backups/psa.backup.gz',
  )
    .argument('[FILE]')
    .action((file: string | undefined, { json = false }) =>
      onParsed({ kind: 'backup', file: file ?? null, json }),
    );
  define(
    program,
    'restore',
    'fills an empty database of either kind from a backup',
    'restore /var/backups/psa.backup.gz',
  )
    .argument('<FILE>')
    .action((file: string, { json = false }) => onParsed({ kind: 'restore', file, json }));
  define(
    program,
    'restored',
    'shows, sets or ends the mark of a database that went back and lacks what came after',
    'restored --since 2026-11-29T03:00:00Z',
  )
    .addOption(
      new Option(
        '--since <TIME>',
        'the instant of the snapshot that a disk was put back to; restore sets the mark by itself',
      ).conflicts('confirm'),
    )
    .option('--confirm', 'all that was requested in between is known: the records count as complete')
    .action(perform('restored', ({ since, confirm }) => ({ since, confirm })));
}

// ── Checks that commander does not make ─────────────────────────────────────────────────────────

/** Makes a group name its commands if the arguments name none of them. */
function defineGroup(group: Command): void {
  const path = pathOf(group);
  group
    .usage('<command> [options]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      const [word] = group.args;
      if (word === 'help' || (word === undefined && path === '')) group.help();
      let problem = 'A command is missing';
      if (word?.startsWith('-')) problem += ` before ${word}`;
      else if (word !== undefined) problem = `There is no command ${quoted(`${path} ${word}`.trim())}`;
      throw new UsageError(`${problem}; there are ${group.commands.map(pathOf).join(', ')}`);
    });
}

/** Rejects an option that is given twice, an option in the place of a value, and an argument too many. */
function rejectMisreadings(command: Command, args: readonly string[]): void {
  const given = new Set<Option>();
  for (const option of command.options)
    command.on(`option:${option.name()}`, (value: string | undefined) => {
      if (given.has(option) && !option.variadic) throw new UsageError(`${option.long} is given twice`);
      given.add(option);
      // `--name=-x` gives a value that begins with a hyphen.
      if (
        value?.startsWith('-') &&
        args.some((arg, index) => arg === option.long && args[index + 1] === value)
      )
        throw new UsageError(`Option '${option.flags}' argument missing`);
    });
  command.allowExcessArguments().hook('preAction', () => {
    const { registeredArguments: named } = command;
    const extra = named.at(-1)?.variadic ? undefined : command.args[named.length];
    if (command.args.includes('help')) command.help();
    if (extra !== undefined) throw new UsageError(`Unexpected argument ${quoted(extra)}`);
  });
}

// ── The tree of commands ────────────────────────────────────────────────────────────────────────

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

/** The innermost command that the first arguments name. */
function findCommand(command: Command, [name, ...rest]: readonly string[]): Command {
  const found = command.commands.find((sub) => sub.name() === name);
  return found ? findCommand(found, rest) : command;
}

/** The words that name a command, such as `keys create`; empty for psa itself. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

function argumentsOf({ registeredArguments }: Command): string[] {
  return registeredArguments.map((each) => {
    const shown = `${each.name()}${each.variadic ? '...' : ''}`;
    return each.required ? `<${shown}>` : `[${shown}]`;
  });
}

/** Replaces line breaks and escape sequences. */
function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
