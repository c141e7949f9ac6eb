import { type Command, Option } from 'commander';
import { withoutUndefined } from '../../kernel/objects.ts';
import { METHODS } from '../../kernel/payout-methods/registry.ts';
import { UsageError } from './usage-error.ts';

/** The options of a command by their names in camel case. */
export type Options = ReturnType<Command['opts']>;

/** Creates an option whose value `read` converts; `read` returns undefined for a value that is not as `expected`. */
export function createOption<Value>(
  flags: string,
  description: string,
  expected: string,
  read: (text: string) => Value | undefined,
): Option {
  const option = new Option(flags, description);
  return option.argParser((text) => {
    const value = read(text);
    if (value === undefined) throw new UsageError(`${option.long} must be ${expected}`);
    return value;
  });
}

export function addSettings(command: Command): Command {
  command
    .addOption(createSwitch('--card-payments', 'whether the account takes cards'))
    .addOption(
      createOption(
        '--card-release-days <DAYS>',
        'days from a card sale to its release into the balance',
        'a number of days from 0 to 365',
        (text) => (/^\d{1,3}$/.test(text) && Number(text) <= 365 ? Number(text) : undefined),
      ),
    )
    .addOption(createSwitch('--pix', 'whether the account takes payments by PIX'))
    .addOption(createAmount('--pix-fee', 'the fee of a payment by PIX'))
    .addOption(createSwitch('--ltc', 'whether the account takes payments by LTC'));
  for (const { option } of createPayoutFeeOptions()) command.addOption(option);
  command.addOption(createCeiling());
  return command.addOption(
    createAmount('--subaccount-markup', 'what the account keeps of each payout of its subaccounts'),
  );
}

/** Creates the option for the fee of each payout method. The help of the first one has an example of an amount. */
function createPayoutFeeOptions(): { method: string; option: Option }[] {
  return Object.entries(METHODS).map(([method, { cli }], index) => ({
    method,
    option: createAmount(
      `--payout-fee-${method.replaceAll('_', '-')}`,
      `the fee of a payout ${cli.inWords}${index === 0 ? ', such as 1.00' : ''}`,
    ),
  }));
}

function createSwitch(flags: string, description: string): Option {
  return createOption(`${flags} <on|off>`, description, 'on or off', (text) =>
    text === 'on' || text === 'off' ? text === 'on' : undefined,
  );
}

function createAmount(flags: string, description: string): Option {
  return createOption(`${flags} <REAIS>`, description, 'reais from 0.00 to 1000.00, such as 1.00', readCents);
}

/**
 * Creates the option for the ceiling of a payout by PIX, in cents, because requests name the amount in cents.
 */
function createCeiling(): Option {
  return createOption(
    '--pix-max-cents <CENTS>',
    'the most that a payout by PIX may be, such as 1500000 for R$ 15.000,00; none takes it away',
    'whole cents from 1 on, or none',
    (text) => (text === 'none' ? text : /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined),
  );
}

export function toSettings(options: Options): object {
  const feesByMethod = createPayoutFeeOptions().map(({ method, option }) => [
    method,
    options[option.attributeName()],
  ]);
  const fees = withoutUndefined(Object.fromEntries(feesByMethod));
  return {
    name: options.name,
    cardPaymentsEnabled: options.cardPayments,
    cardReleaseDays: options.cardReleaseDays,
    pixEnabled: options.pix,
    pixFeeCents: options.pixFee,
    ltcEnabled: options.ltc,
    // Commander makes an empty text of null.
    pixMaxCents: options.pixMaxCents === 'none' ? null : options.pixMaxCents,
    payoutFeesCents: Object.keys(fees).length > 0 ? fees : undefined,
    subaccountMarkupCents: options.subaccountMarkup,
  };
}

function readCents(text: string): number | undefined {
  const [, reais, cents = ''] = /^(\d{1,4})(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  const amount = Number(reais) * 100 + Number(cents.padEnd(2, '0'));
  return reais === undefined || amount > 100_000 ? undefined : amount;
}
