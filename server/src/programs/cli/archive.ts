import { decimalText, ltcText, REAIS_DECIMALS } from '../../kernel/money.ts';
import { fingerprintOf, publicPem, readPublicKey, readSigningKey } from '../ops/archive/key.ts';
import type { ArchiveSource } from '../ops/archive/source.ts';
import { type VerifiedArchive, verifyArchives } from '../ops/archive/verify.ts';
import { type WrittenArchive, writeArchives } from '../ops/archive/write.ts';
import type { ArchiveCommand } from './archive-commands.ts';
import { type Attended, attend } from './progress.ts';

export interface ArchiveSurroundings {
  /** Finds the path of a file that the command names. */
  pathOf: (file: string) => string;
  /** Reads the database, or the server that has it open, during the work. */
  withSource: <Result>(work: (source: ArchiveSource) => Promise<Result>) => Promise<Result>;
  terminal: Attended;
}

/** Writes or verifies archives, and returns what the command prints. @throws ArchiveError */
export async function performArchive(
  command: ArchiveCommand,
  { pathOf, withSource, terminal }: ArchiveSurroundings,
): Promise<string> {
  const print = (result: object, text: string) =>
    command.json ? `${JSON.stringify(result, null, 2)}\n` : text;
  if (command.kind === 'archive.verify') {
    const { files, publicKeyFile } = command;
    const publicKey = publicKeyFile && publicPem(readPublicKey(pathOf(publicKeyFile)));
    const archives = await verifyArchives(files.map(pathOf), { publicKey });
    return print({ archives }, formatVerified(archives, publicKey !== undefined));
  }
  const { month, accountId, environment, folder, keyFile } = command;
  return withSource(async (source) => {
    // A month that is refused leaves no key behind.
    await source.openArchive({ month, accountId, environment });
    const key = readSigningKey(pathOf(keyFile));
    const archives = await attend(terminal, (show) =>
      writeArchives(
        source,
        { month, accountId, environment, folder: pathOf(folder), key },
        show('Archiving'),
      ),
    );
    const publicKey = publicPem(key);
    return print({ archives, publicKey }, formatWritten(archives, publicKey));
  });
}

function formatWritten(archives: readonly WrittenArchive[], publicKey: string): string {
  if (archives.length === 0) return 'There is nothing to archive: no account has a log yet.\n';
  const lines = archives.map(({ file, isNew, rows, bytes, eventsFrom }) => {
    const content = `${rows.statement - BOUNDS} entries, ${rows.events} events, ${rows.deliveries} webhooks, ${bytes} bytes`;
    const warning =
      eventsFrom === null ? '' : `  Warning: the log begins at ${eventsFrom}, older events have gone\n`;
    return `${file}: ${content}${isNew ? '' : ', there already with the same content'}\n${warning}`;
  });
  return `${lines.join('')}
They hold personal data. With this key others can verify that you have written them (SHA-256 ${fingerprintOf(publicKey)}):

${publicKey}`;
}

/** The opening and the closing line of a statement. */
const BOUNDS = 2;

function formatVerified(archives: readonly VerifiedArchive[], isKeyGiven: boolean): string {
  const lines = archives.map((archive) => {
    const { file, accountId, environment, month, report, previous, continues, keyFingerprint } = archive;
    const { balanceCents, cryptoBalanceLitoshi } = report.closing;
    const closing = [
      ...(balanceCents === null ? [] : [`R$ ${decimalText(balanceCents, REAIS_DECIMALS)}`]),
      ...(cryptoBalanceLitoshi === null ? [] : [`${ltcText(cryptoBalanceLitoshi)} LTC`]),
    ].join(' and ');
    const link = !previous
      ? 'nothing was before it'
      : `it continues ${previous.month}${continues ? '' : ', whose file is not given'}`;
    return `${file}: proved. ${accountId} ${environment}, ${month}, closing with ${closing || 'unknown figures'}; ${link}; key ${keyFingerprint}\n`;
  });
  const unknown = isKeyGiven
    ? ''
    : '\nEach was verified with the key that it names: compare it with the one of the operator, or give --public-key.\n';
  return `${lines.join('')}${unknown}`;
}
