import { type Command, Option } from 'commander';
import { withoutUndefined } from '../../kernel/objects.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { createOption } from './options.ts';

export type ArchiveCommand =
  | {
      kind: 'archive.write';
      month: string;
      accountId?: string;
      environment?: Environment;
      folder: string;
      keyFile: string;
      json: boolean;
    }
  | { kind: 'archive.verify'; files: string[]; publicKeyFile?: string; json: boolean };

/** Defines the commands about archives in their group. */
export function defineArchiveCommands(
  archive: Command,
  {
    define,
    onParsed,
  }: {
    define: (group: Command, name: string, description: string, example: string) => Command;
    onParsed: (command: ArchiveCommand) => void;
  },
): void {
  define(
    archive,
    'write',
    'writes a month that is over to signed files, one for each account and environment',
    'archive write --month 2026-10 --to /var/backups --key /etc/psa/archive.pem',
  )
    .addOption(
      createOption(
        '--month <MONTH>',
        'the month, by the clocks of São Paulo',
        'a month, as 2026-10',
        (text) => (/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text) ? text : undefined),
      ).makeOptionMandatory(),
    )
    .requiredOption('--to <FOLDER>', 'the folder of the files')
    .requiredOption('--key <FILE>', 'the private key that signs them, in PEM; it is made if there is none')
    .option('--account <ID>', 'this account only')
    .addOption(new Option('--live', 'what live keys see only').conflicts('sandbox'))
    .option('--sandbox', 'what test keys see only')
    .addHelpText(
      'after',
      `
A file holds the statement with its closing report, the events and the webhooks of the
month, and with them personal data. The same month is the same bytes again.`,
    )
    .action(({ month, account, live, sandbox, to: folder, key: keyFile, json = false }) =>
      onParsed(
        withoutUndefined({
          kind: 'archive.write',
          month,
          accountId: account,
          environment: live ? 'live' : sandbox ? 'sandbox' : undefined,
          ...{ folder, keyFile, json },
        }) as ArchiveCommand,
      ),
    );
  define(
    archive,
    'verify',
    'checks the signature, the hashes and the sums of such files, without a database',
    'archive verify psa-archive-*.tar --public-key archive.pub',
  )
    .argument('<FILES...>')
    .option('--public-key <FILE>', 'the key that must have signed them; otherwise the one that each names')
    .addHelpText(
      'after',
      `
Where the file of the month before is given too, a file must continue it. Exit code 1
where one file is not proved.`,
    )
    .action((files: string[], { publicKey, json = false }) =>
      onParsed(
        withoutUndefined({
          kind: 'archive.verify',
          ...{ files, publicKeyFile: publicKey, json },
        }) as ArchiveCommand,
      ),
    );
}
