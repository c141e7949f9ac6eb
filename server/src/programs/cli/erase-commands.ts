import { type Command, Option } from 'commander';
import { withoutUndefined } from '../../kernel/objects.ts';
import type { BeginErasureInput } from '../ops/erasure/steps.ts';
import { UsageError } from './usage-error.ts';

export interface EraseCommand {
  kind: 'erase';
  request: BeginErasureInput;
  json: boolean;
}

/** Defines the command that erases a person's data. */
export function defineEraseCommand(
  program: Command,
  {
    define,
    onParsed,
  }: {
    define: (group: Command, name: string, description: string, example: string) => Command;
    onParsed: (command: EraseCommand) => void;
  },
): void {
  define(
    program,
    'erase',
    'erases what an account has of a person who asks for it, and leaves amounts, ids and times',
    'erase --email ana@example.com --document 123.456.789-09 --requested-by "ticket 4711" --dry-run',
  )
    .option('--account <ID>', 'the account, where there are several')
    .option('--email <ADDRESS>', 'the e-mail address of the person')
    .option('--document <NUMBER>', 'the CPF or CNPJ')
    .option('--phone <NUMBER>', 'the phone, with its area code')
    .option('--pix-key <KEY>', 'a PIX key, such as a random one')
    .option('--customer <ID>', 'the externalId under which the merchant knows the person')
    .addOption(new Option('--requested-by <TEXT>', 'who asked for it, such as a ticket; it is recorded'))
    .option('--dry-run', 'changes nothing, and counts what would be changed')
    .addHelpText(
      'after',
      `
What one of these options names is erased; give all that you know of the person.
What an open dispute, a refund or a payout under way needs is kept, with the reason:
then the exit code is 1, and the same command erases the rest later.`,
    )
    .action(
      ({ account, email, document, phone, pixKey, customer, requestedBy, dryRun = false, json = false }) => {
        const person = withoutUndefined({ email, document, phone, pixKey, customer });
        if (Object.keys(person).length === 0)
          throw new UsageError('Give --email, --document, --phone, --pix-key or --customer');
        if (requestedBy === undefined && !dryRun) throw new UsageError('Give --requested-by, or --dry-run');
        const request = {
          accountId: account,
          requestedBy: requestedBy ?? 'dry run',
          isDryRun: dryRun,
          ...person,
        };
        onParsed({ kind: 'erase', request: withoutUndefined(request) as BeginErasureInput, json });
      },
    );
}
