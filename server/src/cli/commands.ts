import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { OperationName } from '../ops/operations.ts';

/** What the person at the keyboard has to mend, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Whose help says more: `keys create`; empty where it is not known which command was meant. */
  readonly command: string;
  constructor(message: string, command = '') {
    super(message);
    this.command = command;
  }
}

export type Wanted =
  | { kind: 'help'; text: string }
  | { kind: 'operation'; operation: OperationName; input: object; json: boolean }
  | { kind: 'backup'; file: string | null; json: boolean }
  | { kind: 'restore'; file: string; json: boolean };

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** How a command is called. */
interface Form {
  summary: string;
  /** The arguments that are no options; those in brackets may be left out. */
  positionals: string[];
  options: Record<string, Option>;
  example: string;
}

interface Command extends Form {
  operation: OperationName;
  toInput(values: Values, positionals: string[]): object;
}

interface Option {
  type: 'string' | 'boolean';
  multiple?: true;
  /** What stands for its value in the help. */
  value?: string;
  says: string;
}

const COMMON: Record<string, Option> = {
  json: { type: 'boolean', says: 'the answer as JSON' },
  help: { type: 'boolean', says: 'this' },
};

const ACCOUNT: Option = {
  type: 'string',
  value: 'ID',
  says: 'the account, where there are several',
};

const SETTINGS: Record<string, Option> = {
  'card-payments': { type: 'string', value: 'on|off', says: 'whether it takes cards' },
  'card-release-days': {
    type: 'string',
    value: 'DAYS',
    says: 'from a card sale to its place in the balance',
  },
  'payout-fee-pix': {
    type: 'string',
    value: 'REAIS',
    says: 'what the service keeps of a payout by PIX, as in 1.00',
  },
  'payout-fee-pix-turbo': { type: 'string', value: 'REAIS', says: 'of a payout by PIX turbo' },
  'payout-fee-ltc': { type: 'string', value: 'REAIS', says: 'of a payout in LTC' },
  'payout-fee-usd': { type: 'string', value: 'REAIS', says: 'of a payout in USDT' },
  'subaccount-markup': {
    type: 'string',
    value: 'REAIS',
    says: 'what the account keeps of each payout of its subaccounts',
  },
};

const COMMANDS: Record<string, Record<string, Command>> = {
  keys: {
    create: {
      operation: 'keys.create',
      summary: 'makes an API key and shows it this once',
      positionals: [],
      options: {
        live: { type: 'boolean', says: 'for real money; this or --sandbox' },
        sandbox: { type: 'boolean', says: 'for tests' },
        permission: {
          type: 'string',
          multiple: true,
          value: 'NAME',
          says: 'restricts it: subcontas.gerenciar, subcontas.sacar; may be repeated',
        },
        name: { type: 'string', value: 'TEXT', says: 'what you call it, for the list' },
        account: ACCOUNT,
      },
      example: 'keys create --live --permission subcontas.sacar --name "Folha de pagamento"',
      toInput: (values) => ({
        accountId: values.account,
        environment: environmentOf(values),
        permissions: values.permission ?? [],
        name: values.name ?? null,
      }),
    },
    list: {
      operation: 'keys.list',
      summary: 'shows the active keys, never the keys themselves',
      positionals: [],
      options: {
        all: { type: 'boolean', says: 'the revoked ones too' },
        account: { ...ACCOUNT, says: 'of this account alone' },
      },
      example: 'keys list --all',
      toInput: (values) => ({ accountId: values.account, revokedToo: values.all === true }),
    },
    revoke: {
      operation: 'keys.revoke',
      summary: 'ends a key, the tokens that it minted and what they hold open, at once',
      positionals: ['KEY-ID'],
      options: {},
      example: 'keys revoke key_0123456789abcdef01234567',
      toInput: (_, [id]) => ({ id }),
    },
  },
  accounts: {
    create: {
      operation: 'accounts.create',
      summary: 'makes an account, without keys',
      positionals: [],
      options: {
        name: { type: 'string', value: 'TEXT', says: 'what its payers see' },
        ...SETTINGS,
      },
      example: 'accounts create --name "Padaria da Ana" --card-release-days 30',
      toInput(values) {
        if (values.name === undefined) throw new UsageError('--name is missing: what its payers see');
        return { name: values.name, ...settingsOf(values) };
      },
    },
    list: {
      operation: 'accounts.list',
      summary: 'shows the accounts and their settings',
      positionals: [],
      options: {},
      example: 'accounts list --json',
      toInput: () => ({}),
    },
    set: {
      operation: 'accounts.set',
      summary: 'changes what is given, from the next payment or payout on',
      positionals: ['ACCOUNT-ID'],
      options: { name: { type: 'string', value: 'TEXT', says: 'what its payers see' }, ...SETTINGS },
      example: 'accounts set acc_0123456789abcdef01234567 --payout-fee-pix 1.00',
      toInput(values, [id]) {
        const changes = { name: values.name, ...settingsOf(values) };
        if (Object.values(changes).every((value) => value === undefined))
          throw new UsageError('There is nothing to change: give a setting, as in --payout-fee-pix 1.00');
        return { id, ...changes };
      },
    },
  },
  doubts: {
    list: {
      operation: 'doubts.list',
      summary: 'shows the requests to the service behind a facade whose outcome is unknown',
      positionals: [],
      options: {},
      example: 'doubts list',
      toInput: () => ({}),
    },
    settle: {
      operation: 'doubts.settle',
      summary: 'ends one of them by what you have found out',
      positionals: ['REQUEST-ID'],
      options: {
        made: {
          type: 'string',
          value: 'NAME',
          says: 'what it has made: the SAQ- code of a payout, the rep_ refId of a transfer; this or --not-made',
        },
        'not-made': {
          type: 'boolean',
          says: 'it has made nothing: a payout is shown as denied, and may be requested under a new key',
        },
      },
      example: 'doubts settle int_0123456789abcdef01234567 --made SAQ-8NY3SQZHKXF9',
      toInput(values, [id]) {
        if ((values.made === undefined) === (values['not-made'] === undefined))
          throw new UsageError('Give --made or --not-made, not both');
        return { id, made: values.made ?? null };
      },
    },
  },
  tokens: {
    pause: {
      operation: 'tokens.pause',
      summary: 'stops a checkout token: it starts no payment, and its payments take no card',
      positionals: ['TOKEN'],
      options: {
        minutes: { type: 'string', value: 'NUMBER', says: 'resumes it by itself then; without it never' },
      },
      example: 'tokens pause tok_0123456789abcdef01234567 --minutes 60',
      toInput: (values, [token]) => ({ token, minutes: minutesOf(values) }),
    },
    resume: {
      operation: 'tokens.resume',
      summary: 'ends the pause of a checkout token, by hand or for its declined cards',
      positionals: ['TOKEN'],
      options: {},
      example: 'tokens resume tok_0123456789abcdef01234567',
      toInput: (_, [token]) => ({ token }),
    },
    list: {
      operation: 'tokens.list',
      summary: 'shows the checkout tokens that are paused, and why',
      positionals: [],
      options: {},
      example: 'tokens list',
      toInput: () => ({}),
    },
  },
};

/** Those of one word. */
const FILES = {
  backup: {
    summary: 'saves the database in one file, also while a server works on it',
    positionals: ['[FILE]'],
    options: {},
    example: 'backup /var/backups/psa.backup.gz',
  },
  restore: {
    summary: 'fills an empty database of either kind with what a backup holds',
    positionals: ['FILE'],
    options: {},
    example: 'restore /var/backups/psa.backup.gz',
  },
} satisfies Record<string, Form>;

/** What was typed. @throws UsageError */
export function readArguments(args: readonly string[]): Wanted {
  const [noun, verb, ...rest] = args;
  if (noun === undefined || isHelp(noun)) return { kind: 'help', text: topHelp() };
  if (noun.startsWith('-'))
    throw new UsageError(`A command comes before ${noun}: ${listed({ ...COMMANDS, ...FILES })}`);
  if (noun === 'backup' || noun === 'restore') return readFileCommand(noun, args.slice(1));
  if (!Object.hasOwn(COMMANDS, noun))
    throw new UsageError(
      `There is no command ${quoted(noun)}; there are ${listed({ ...COMMANDS, ...FILES })}`,
    );
  const verbs = COMMANDS[noun]!;
  if (verb !== undefined && isHelp(verb)) return { kind: 'help', text: nounHelp(noun) };
  if (verb === undefined || verb.startsWith('-') || !Object.hasOwn(verbs, verb))
    throw new UsageError(
      `${verb === undefined || verb.startsWith('-') ? `${noun} what?` : `There is no ${quoted(`${noun} ${verb}`)};`} There are ${listed(verbs, `${noun} `)}`,
    );
  const command = verbs[verb]!;
  if (rest.some(isHelp)) return { kind: 'help', text: commandHelp(`${noun} ${verb}`, command) };
  return explained(`${noun} ${verb}`, () => {
    const { values, positionals } = parse(command, rest);
    return {
      kind: 'operation',
      operation: command.operation,
      input: withoutUndefined(command.toInput(values, positionals)),
      json: values.json === true,
    };
  });
}

function readFileCommand(kind: keyof typeof FILES, rest: string[]): Wanted {
  if (rest.some(isHelp)) return { kind: 'help', text: commandHelp(kind, FILES[kind]) };
  return explained(kind, () => {
    const { values, positionals } = parse(FILES[kind], rest);
    const [file = null] = positionals;
    const json = values.json === true;
    return kind === 'backup' ? { kind, file, json } : { kind, file: file!, json };
  });
}

/** A mistake in a command that is known: its help says more. */
function explained(command: string, read: () => Wanted): Wanted {
  try {
    return read();
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, command) : error;
  }
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h' || argument === 'help';
}

function parse({ options, positionals: expected }: Form, args: string[]) {
  const all = { ...options, ...COMMON };
  const config = Object.fromEntries(
    Object.entries(all).map(([name, { type, multiple }]) => [
      name,
      { type, ...(multiple ? { multiple } : {}) },
    ]),
  ) satisfies ParseArgsConfig['options'];
  let parsed: { values: Values; positionals: string[]; tokens: { kind: string; name?: string }[] };
  try {
    parsed = parseArgs({ args, options: config, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    // What follows the first sentence is advice for whoever calls the function.
    throw new UsageError((error as Error).message.split(/\. |\n/)[0]!.replace(/\.$/, ''));
  }
  const { values, positionals, tokens } = parsed;
  const given = tokens.flatMap(({ kind, name }) => (kind === 'option' && name !== undefined ? [name] : []));
  const twice = given.find((name, index) => given.indexOf(name) !== index && !all[name]?.multiple);
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`);
  const missing = expected[positionals.length];
  if (missing !== undefined && !missing.startsWith('[')) throw new UsageError(`${missing} is missing`);
  const extra = positionals[expected.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument ${quoted(extra)}`);
  return { values, positionals };
}

/** @throws UsageError */
function environmentOf({ live, sandbox }: Values): string {
  if (live && sandbox) throw new UsageError('Give --live or --sandbox, not both');
  if (!live && !sandbox) throw new UsageError('Give --live or --sandbox: a key is for one of the two');
  return live ? 'live' : 'sandbox';
}

/** @throws UsageError */
function settingsOf(values: Values): object {
  const fees = withoutUndefined({
    pix: centsOf('payout-fee-pix', values),
    pix_turbo: centsOf('payout-fee-pix-turbo', values),
    ltc: centsOf('payout-fee-ltc', values),
    usd: centsOf('payout-fee-usd', values),
  });
  return {
    cardPaymentsEnabled: switchOf('card-payments', values),
    cardReleaseDays: daysOf('card-release-days', values),
    payoutFeesCents: Object.keys(fees).length > 0 ? fees : undefined,
    subaccountMarkupCents: centsOf('subaccount-markup', values),
  };
}

function switchOf(name: string, values: Values): boolean | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (text !== 'on' && text !== 'off') throw new UsageError(`--${name} must be on or off`);
  return text === 'on';
}

function daysOf(name: string, values: Values): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !/^\d{1,3}$/.test(text) || Number(text) > 365)
    throw new UsageError(`--${name} must be a number of days from 0 to 365`);
  return Number(text);
}

function minutesOf({ minutes: text }: Values): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || !/^\d{1,6}$/.test(text))
    throw new UsageError('--minutes must be a whole number of minutes, such as 60');
  return Number(text);
}

function centsOf(name: string, values: Values): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const [, reais, cents = ''] =
    (typeof text === 'string' && /^(\d{1,4})(?:[.,](\d{1,2}))?$/.exec(text)) || [];
  const amount = Number(reais) * 100 + Number(cents.padEnd(2, '0'));
  if (reais === undefined || amount > 100_000)
    throw new UsageError(`--${name} must be reais from 0.00 to 1000.00, such as 1.00`);
  return amount;
}

function withoutUndefined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

// ── Help ────────────────────────────────────────────────────────────────────────────────────────

const RUN = 'npm run psa --';

function topHelp(): string {
  const lines = [
    ...Object.entries(COMMANDS).flatMap(([noun, verbs]) =>
      Object.entries(verbs).map(([verb, { summary }]) => line(`${noun} ${verb}`, summary)),
    ),
    ...Object.entries<Form>(FILES).map(([name, { summary, positionals }]) =>
      line([name, ...positionals].join(' '), summary),
    ),
  ];
  return `Usage: ${RUN} <command> [options]

${lines.join('\n')}

Works beside a running server or without one, on what DATABASE_URL or PSA_DATA_DIR (.data) name, as for npm start.
More about a command: ${RUN} keys create --help
For a program to read: npm run --silent psa -- keys list --json
It ends with 0, with 1 where it was refused or failed, with 2 where it was misspelt; then nothing has changed.
`;
}

function nounHelp(noun: string): string {
  const lines = Object.entries(COMMANDS[noun]!).map(([verb, { summary }]) =>
    line(`${noun} ${verb}`, summary),
  );
  return `Usage: ${RUN} ${noun} <command> [options]\n\n${lines.join('\n')}\n`;
}

function commandHelp(name: string, { summary, positionals, options, example }: Form): string {
  const lines = Object.entries({ ...options, ...COMMON }).map(([name, { value, says }]) =>
    line(`--${name}${value ? ` ${value}` : ''}`, says),
  );
  const usage = [RUN, name, ...positionals, '[options]'].join(' ');
  return `Usage: ${usage}\n\n${name} ${summary}.\n\n${lines.join('\n')}\n\nFor example: ${RUN} ${example}\n`;
}

function line(left: string, right: string): string {
  return `  ${left.padEnd(30)} ${right}`;
}

function listed(members: object, before = ''): string {
  return Object.keys(members)
    .map((name) => before + name)
    .join(', ');
}

/** Without what would break the line. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
