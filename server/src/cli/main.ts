import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql as raw } from 'kysely';
import { createAdministration } from '../access/administration.ts';
import { createCommitter } from '../commit/commit.ts';
import { type Config, ConfigError, invocationDir, readConfig } from '../config.ts';
import { BackupError } from '../db/backup.ts';
import type { Database } from '../db/database.ts';
import { DataDirLockedError } from '../db/lock.ts';
import type { Log } from '../db/log.ts';
import { MigrationError, migrate } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import { announcement, STREAM_CHANNEL } from '../events/log-tailer.ts';
import { createSystemClock } from '../kernel/clock.ts';
import { PaymentError } from '../kernel/errors.ts';
import { createDoubts } from '../modes/doubts.ts';
import { type Answer, askControl } from '../ops/admin-socket.ts';
import { backUp, backupName, type OpenDatabase, restore, type Saved } from '../ops/backup.ts';
import { databaseRefusal } from '../ops/database-errors.ts';
import { findOperation, inWords, type OperationName } from '../ops/operations.ts';
import { readArguments, UsageError, type Wanted } from './commands.ts';
import { show, showBackup, showRestored } from './format.ts';

// The psa command: what the document's dashboard does, from a terminal.

/** Told in one line: nothing is wrong with what was typed, and it cannot be done. */
class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** How long a folder may be another's that does not answer: a server that starts, or another command. */
const PATIENCE_MS = 15_000;
const AGAIN_MS = 100;

async function main(args: readonly string[]): Promise<void> {
  const wanted = readArguments(args);
  if (wanted.kind === 'help') {
    process.stdout.write(wanted.text);
    return;
  }
  if (wanted.kind !== 'operation') {
    await backupOrRestore(wanted);
    return;
  }
  const { operation, input, json } = wanted;
  const mistake = findOperation(operation)!.check(input);
  if (mistake) throw new UsageError(inWords(mistake));
  config = readConfig();
  const answer = await ask(config, operation, input);
  if (!answer.ok) throw new Refusal(answer.message);
  process.stdout.write(json ? `${JSON.stringify(answer.result, null, 2)}\n` : show(operation, answer.result));
}

async function backupOrRestore({ kind, file, json }: Extract<Wanted, { kind: 'backup' | 'restore' }>) {
  config = readConfig();
  const clock = createSystemClock();
  const open: OpenDatabase = (where) => openDatabase({ ...where, clock, log: quiet, onFatal: stop });
  const path = resolve(invocationDir(), file ?? backupName(clock.now()));
  const progress = createProgress(process.stderr);
  // What is unfinished goes with the process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  let saved: Saved;
  try {
    saved =
      kind === 'backup'
        ? await backUp(config, path, { open, clock, onRows: progress.onRows('Saving') })
        : await restore(config, path, {
            open,
            onChecked: progress.onRows('Checking'),
            onRows: progress.onRows('Restoring'),
          });
  } finally {
    progress.end();
  }
  const text = kind === 'backup' ? showBackup(saved) : showRestored(saved);
  process.stdout.write(json ? `${JSON.stringify(saved, null, 2)}\n` : text);
}

/** One line that is written anew, where somebody sees it. */
function createProgress(terminal: NodeJS.WriteStream) {
  let shown = 0;
  const show = (text: string) => {
    if (!terminal.isTTY) return;
    terminal.write(`\r${text.padEnd(shown)}`);
    shown = text.length;
  };
  return {
    onRows: (doing: string) => (table: string, rows: number) => show(`${doing} ${table}: ${rows} rows`),
    end() {
      if (shown === 0) return;
      show('');
      terminal.write('\r');
    },
  };
}

/** The database, where that can be had, else the server that has it. */
async function ask(config: Config, operation: OperationName, input: object): Promise<Answer> {
  if (config.databaseUrl) return askDatabase(config, operation, input);
  if (config.dataDir === 'memory')
    throw new Refusal(
      'PSA_DATA_DIR is memory: such a server keeps its data to itself, where this command cannot reach them. Choose its keys with PSA_BOOTSTRAP_LIVE_KEY and PSA_BOOTSTRAP_TEST_KEY, or give it a folder',
    );
  const folder = resolve(config.dataDir);
  if (!existsSync(folder)) throw new Refusal(neverStarted(folder));
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    const answer = await askControl(folder, operation, input);
    if (answer) return answer;
    try {
      if (!existsSync(join(folder, 'pgdata'))) throw new Refusal(neverStarted(folder));
      return await askDatabase(config, operation, input);
    } catch (error) {
      if (!(error instanceof DataDirLockedError)) throw error;
      if (Date.now() > until)
        throw new Refusal(
          `${folder} is in use by a process that does not answer to this command. Stop it, or look at its log`,
        );
      await wait(AGAIN_MS);
    }
  }
}

async function askDatabase(config: Config, operation: OperationName, input: object): Promise<Answer> {
  const clock = createSystemClock();
  const database = await openDatabase({ ...config, clock, log: quiet, onFatal: stop });
  try {
    if (!(await wasStarted(database)))
      throw new Refusal(neverStarted(config.databaseUrl ? 'the database' : resolve(config.dataDir)));
    await migrate(database);
    // Servers on this database close what a revoked key holds open when they hear of it.
    const told: Promise<void>[] = [];
    const committer = createCommitter({
      database,
      clock,
      onCommit: (tenant) => told.push(database.notify(STREAM_CHANNEL, announcement(tenant))),
    });
    const parts = { database, committer, clock };
    const administration = { ...createAdministration(parts), ...createDoubts(parts) };
    const result = await findOperation(operation)!.perform(administration, input);
    // They would find it by themselves, a little later.
    await Promise.allSettled(told);
    // As it comes from a server, so that it is shown the same.
    return { ok: true, result: JSON.parse(JSON.stringify(result)) };
  } catch (error) {
    if (error instanceof PaymentError) return { ok: false, message: inWords(error) };
    throw error;
  } finally {
    await database.close();
  }
}

/** A server's first start makes the first account; until then this would manage nothing. */
async function wasStarted({ sql }: Database): Promise<boolean> {
  const { rows } = await raw<{ there: boolean }>`select to_regclass('account') is not null as there`.execute(
    sql,
  );
  if (!rows[0]?.there) return false;
  return (await sql.selectFrom('account').select('id').limit(1).executeTakeFirst()) !== undefined;
}

function neverStarted(where: string): string {
  return `No server has run on ${where} yet. Start it once, with npm start: that makes the first account, and shows its keys`;
}

const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function stop(error: Error): never {
  process.stderr.write(`The database cannot go on: ${error.message}\n`);
  process.exit(1);
}

/** What a person can mend is one line; anything else comes with its stack. */
function explain(error: unknown): string {
  if (error instanceof UsageError)
    return `${error.message}. See npm run psa -- ${error.command && `${error.command} `}--help`;
  if (
    error instanceof Refusal ||
    error instanceof ConfigError ||
    error instanceof MigrationError ||
    error instanceof BackupError
  )
    return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM')
    return `The data folder is another user's: run this as the user who runs the server (${code})`;
  return (
    (config && databaseRefusal(error, config)) ??
    (error instanceof Error ? (error.stack ?? error.message) : String(error))
  );
}

let config: Config | undefined;
main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
