import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql as raw } from 'kysely';
import {
  bootstrapRemote,
  createAdministration,
  findManagedAccount,
  findNamedAccount,
} from '../../access/administration.ts';
import { tokens } from '../../access/collections.ts';
import { MAX_LOGO_BYTES } from '../../access/logo.ts';
import { createStoreAdministration, createStoreService } from '../../catalogue/store/service.ts';
import { PSA_COMMAND, START_COMMAND } from '../../kernel/assets.ts';
import { createOffsetClock, createSystemClock } from '../../kernel/clock.ts';
import { PaymentError } from '../../kernel/errors.ts';
import type { UpstreamCheck } from '../../kernel/upstream-check.ts';
import { createTokenAdministration } from '../../money-in/card-payments/tokens/service.ts';
import { createLtcControls } from '../../money-in/ltc/service.ts';
import { ltcPayments } from '../../money-in/payments/collections.ts';
import { createCommitter } from '../../state/commit/committer.ts';
import { BackupError } from '../../state/db/backup.ts';
import { pathsIn } from '../../state/db/data-folder.ts';
import type { Database } from '../../state/db/database.ts';
import { DataDirError } from '../../state/db/lock.ts';
import type { Log } from '../../state/db/log.ts';
import { migrate } from '../../state/db/migrate.ts';
import { MigrationError } from '../../state/db/migration-error.ts';
import { openDatabase } from '../../state/db/open.ts';
import { createRecords } from '../../state/db/records.ts';
import { followDatabaseTime, selectTime } from '../../state/db/time.ts';
import { announcement, STREAM_CHANNEL } from '../../state/events/announcement.ts';
import { createWebhookAdministration } from '../../webhooks/administration.ts';
import { createWebhookEndpoints } from '../../webhooks/endpoint-service.ts';
import { createSender } from '../../webhooks/sender.ts';
import { createWebhookService } from '../../webhooks/service.ts';
import { createWebhookTests } from '../../webhooks/test-service.ts';
import { type Config, ConfigError, invocationDir, readConfig } from '../config/config.ts';
import { createDoubts } from '../modes/doubts.ts';
import { createUpstreamCheck } from '../modes/upstream-check.ts';
import { type Answer, callAdminSocket } from '../ops/admin-socket.ts';
import { ArchiveError } from '../ops/archive/format.ts';
import { createArchiveSource } from '../ops/archive/source.ts';
import { backUp, backupName, type OpenDatabase, restore, type Saved } from '../ops/backup.ts';
import { describeDatabaseError, describeMissingDescriptors } from '../ops/database-errors.ts';
import { createErasureSteps } from '../ops/erasure/steps.ts';
import { retryWhileLocked } from '../ops/locked-folder.ts';
import { describeRefusal, findOperation, type OperationName } from '../ops/operations.ts';
import type { Verification } from '../verify/model.ts';
import { createVerifier } from '../verify/verifier.ts';
import { type ArchiveSurroundings, performArchive } from './archive.ts';
import { type ParsedCommand, parseCommand } from './commands.ts';
import { formatErased, performErasure } from './erase.ts';
import { formatBackup, formatRestored, formatResult } from './format.ts';
import { attend } from './progress.ts';
import { archiveSourceOf, erasureStepsOf, type Perform, Refusal } from './steps.ts';
import { UsageError } from './usage-error.ts';

// The psa command: the operations of the service's own dashboard, from a terminal.

/** The parts of a process that a command uses. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdout: Pick<NodeJS.WriteStream, 'write'>;
  stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  /** Ends the process at once: the database has failed, or a person has interrupted a backup. */
  exit(code: number): never;
}

/** Performs a command and prints its result, or the reason of its failure. Returns the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let config: Config | undefined;
  try {
    return await perform(args, terminal, () => {
      config = readConfig(terminal.env);
      return config;
    });
  } catch (error) {
    terminal.stderr.write(`${explain(error, config)}\n`);
    // 1 says that the books break a law.
    return error instanceof UsageError || args[0] === 'verify' ? 2 : 1;
  }
}

/** Parses and performs a command, and returns the exit code. `configure` is called only once the arguments are valid. */
async function perform(
  args: readonly string[],
  terminal: Terminal,
  configure: () => Config,
): Promise<number> {
  const { env, stdout } = terminal;
  const command = parseCommand(args);
  if (command.kind === 'help') {
    stdout.write(command.text);
    return 0;
  }
  if (command.kind === 'archive.write' || command.kind === 'archive.verify') {
    const withSource: ArchiveSurroundings['withSource'] = (work) =>
      withOperations(configure(), terminal, (performed) => work(archiveSourceOf(performed)));
    const pathOf = (file: string) => resolve(invocationDir(env), file);
    stdout.write(await performArchive(command, { pathOf, withSource, terminal }));
    return 0;
  }
  if (command.kind === 'erase') {
    const invalid = findOperation('erasure.begin')!.check(command.request);
    if (invalid) throw new UsageError(describeRefusal(invalid), 'erase');
    const erased = await withOperations(configure(), terminal, (performed) =>
      performErasure(erasureStepsOf(performed), command.request),
    );
    stdout.write(command.json ? `${JSON.stringify(erased, null, 2)}\n` : formatErased(erased));
    return erased.kept.length > 0 ? 1 : 0;
  }
  if (command.kind !== 'operation') {
    const saved = await backupOrRestore(command, configure(), terminal);
    const text = command.kind === 'backup' ? formatBackup(saved) : formatRestored(saved);
    stdout.write(command.json ? `${JSON.stringify(saved, null, 2)}\n` : text);
    return 0;
  }
  const { operation, json, file, logo } = command;
  const input = {
    ...command.input,
    ...(file !== undefined && { products: readJsonFile(env, file) }),
    ...(logo !== undefined && { logo: readLogoFile(env, logo) }),
  };
  const invalid = findOperation(operation)!.check(input);
  if (invalid && (file ?? logo) !== undefined)
    throw new Refusal(`${describeRefusal(invalid)}. Nothing has changed`);
  if (invalid) throw new UsageError(describeRefusal(invalid), operation.replace('.', ' '));
  const answer = await performOperation(configure(), operation, input, terminal);
  if (!answer.ok) throw new Refusal(answer.message);
  stdout.write(json ? `${JSON.stringify(answer.result, null, 2)}\n` : formatResult(operation, answer.result));
  if (operation === 'verify') return exitCodeOf(answer.result as Verification);
  // The exit code of a check also shows a script whether the facade can read the service.
  return operation === 'upstream.check' && !(answer.result as UpstreamCheck).ok ? 1 : 0;
}

function exitCodeOf({ holds, found }: Verification): number {
  if (holds) return 0;
  return found > 0 ? 1 : 2;
}

/** @throws Refusal if the file cannot be read, or is not JSON */
function readJsonFile(env: NodeJS.ProcessEnv, file: string): unknown {
  let text: string;
  try {
    text = readFileSync(resolve(invocationDir(env), file), 'utf8');
  } catch (error) {
    throw new Refusal(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(`${file} is not JSON`);
  }
}

/** Reads a file in base64. @throws Refusal if it cannot be read, or is too large to be sent */
function readLogoFile(env: NodeJS.ProcessEnv, file: string): string {
  const path = resolve(invocationDir(env), file);
  try {
    if (statSync(path).size <= MAX_LOGO_BYTES) return readFileSync(path).toString('base64');
  } catch (error) {
    throw new Refusal(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  throw new Refusal(`${file} has more than 100 kB. Nothing has changed`);
}

async function backupOrRestore(
  { kind, file }: Extract<ParsedCommand, { kind: 'backup' | 'restore' }>,
  config: Config,
  terminal: Terminal,
): Promise<Saved> {
  const clock = createSystemClock();
  const open: OpenDatabase = (where) =>
    openDatabase({ ...where, clock, log: silentLog, onFatal: (error) => exitOnFatal(error, terminal) });
  const path = resolve(invocationDir(terminal.env), file ?? backupName(clock.now()));
  return attend(terminal, (show) =>
    kind === 'backup'
      ? backUp(config, path, { open, clock, onRows: show('Saving') })
      : restore(config, path, { open, onChecked: show('Checking'), onRows: show('Restoring') }),
  );
}

/** Performs an operation. An upstream check also works without a facade. */
async function performOperation(
  config: Config,
  operation: OperationName,
  input: object,
  terminal: Terminal,
): Promise<Answer> {
  if (operation !== 'upstream.check' || !config.upstream)
    return performWhereDataAre(config, operation, input, terminal);
  try {
    // The requests count with those of the facade.
    const answer = await performWhereDataAre(config, operation, input, terminal);
    if (answer.ok) return answer;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  const operations = await openOperations({ ...config, databaseUrl: undefined, dataDir: 'memory' }, terminal);
  return operations.perform(operation, input).finally(() => operations.close());
}

/** Performs an operation on the database, or through the server that has the data folder open. */
function performWhereDataAre(
  config: Config,
  operation: OperationName,
  input: object,
  terminal: Terminal,
): Promise<Answer> {
  return withOperations(config, terminal, (performed) => performed(operation, input));
}

/** Performs operations one after the other. A database that no server has open is opened once for all of them. */
async function withOperations<Result>(
  config: Config,
  terminal: Terminal,
  work: (perform: Perform) => Promise<Result>,
): Promise<Result> {
  let opened: Operations | undefined;
  const onDatabase: Perform = async (operation, input) => {
    opened ??= await openOperations(config, terminal);
    return opened.perform(operation, input);
  };
  try {
    return await work((operation, input) =>
      opened ? onDatabase(operation, input) : performThere(config, operation, input, onDatabase),
    );
  } finally {
    await opened?.close();
  }
}

async function performThere(
  config: Config,
  operation: OperationName,
  input: object,
  onDatabase: Perform,
): Promise<Answer> {
  if (config.databaseUrl) return onDatabase(operation, input);
  if (config.dataDir === 'memory')
    throw new Refusal(
      'PSA_DATA_DIR is memory: such a server keeps its data to itself, where this command cannot reach them. Choose its keys with PSA_BOOTSTRAP_LIVE_KEY and PSA_BOOTSTRAP_TEST_KEY, or give it a folder',
    );
  const folder = resolve(config.dataDir);
  if (!existsSync(folder)) throw new Refusal(neverStartedMessage(folder, NO_URL));
  return retryWhileLocked(
    async () => {
      const answer = await callAdminSocket(folder, operation, input);
      if (answer) return answer;
      if (!existsSync(pathsIn(folder).pgdata)) throw new Refusal(neverStartedMessage(folder, NO_URL));
      return onDatabase(operation, input);
    },
    { folder, clock: createSystemClock(), toError: (message) => new Refusal(message) },
  );
}

interface Operations {
  perform: Perform;
  close(): Promise<void>;
}

/** Opens a database, and creates the services of all operations. */
async function openOperations(config: Config, terminal: Terminal): Promise<Operations> {
  const base = createSystemClock();
  const clock = createOffsetClock(base);
  const database = await openDatabase({
    ...config,
    clock,
    log: silentLog,
    onFatal: (error) => exitOnFatal(error, terminal),
  });
  let stopFollowing: (() => Promise<void>) | undefined;
  const close = async () => {
    await stopFollowing?.();
    await database.close();
  };
  try {
    // This machine may be an operator's, whose clock is not that of the servers.
    if (database.engine === 'postgres') {
      const readTime = () => selectTime(database.sql);
      stopFollowing = await followDatabaseTime({ clock, base, readTime, log: silentLog });
    }
    const isOwn = config.databaseUrl === undefined && config.dataDir === 'memory';
    if (!isOwn && !(await hasAccount(database)))
      throw new Refusal(neverStartedMessage(config.databaseUrl ? 'the database' : resolve(config.dataDir)));
    await migrate(database);
    // Servers on this database close the connections of a revoked key when they are notified.
    const notifications: Promise<void>[] = [];
    const committer = createCommitter({
      database,
      clock,
      onCommit: (committed) =>
        notifications.push(
          database.notify(STREAM_CHANNEL, ...committed.map(({ tenant }) => announcement(tenant))),
        ),
    });
    const parts = { database, committer, clock };
    if (isOwn && config.upstream) await bootstrapRemote({ ...parts, upstream: config.upstream });
    const records = createRecords({ ...parts, log: silentLog });
    const administration = {
      ...createAdministration(parts),
      ...createTokenAdministration({
        ...{ ...parts, credentials: tokens },
        behind: config.upstream ? records.behind : undefined,
      }),
      ...createLtcControls({ ...parts, family: ltcPayments }),
      ...createDoubts(parts),
      ...createUpstreamCheck({ ...parts, upstreamConfig: config.upstream }),
      ...records,
      ...createStoreAdministration({
        store: createStoreService(parts),
        findAccount: (id) => findManagedAccount(database.sql, id),
      }),
      ...createWebhookAdministration({
        database,
        webhooks: createWebhookService({ ...parts, privateAddresses: config.webhookPrivateAddresses }),
        endpoints: createWebhookEndpoints({ ...parts, privateAddresses: config.webhookPrivateAddresses }),
        tests: createWebhookTests({
          ...{ database, clock },
          send: createSender({ clock, privateAddresses: config.webhookPrivateAddresses }),
        }),
        findAccount: (id) => findNamedAccount(database.sql, id),
      }),
      ...createArchiveSource(parts),
      ...createVerifier({ database, clock, isFacade: config.upstream !== null }),
      ...createErasureSteps(parts),
    };
    return {
      close,
      async perform(operation, input) {
        try {
          const result = await findOperation(operation)!.perform(administration, input);
          // A server that misses the notification sees the change a little later.
          await Promise.allSettled(notifications.splice(0));
          // The result as a server would send it.
          return { ok: true, result: JSON.parse(JSON.stringify(result)) };
        } catch (error) {
          if (error instanceof PaymentError) return { ok: false, message: describeRefusal(error) };
          throw error;
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Whether a server has started on this database: its first start creates the first account. */
async function hasAccount({ sql }: Database): Promise<boolean> {
  const { rows } = await raw<{ there: boolean }>`select to_regclass('account') is not null as there`.execute(
    sql,
  );
  if (!rows[0]?.there) return false;
  return (await sql.selectFrom('account').select('id').limit(1).executeTakeFirst()) !== undefined;
}

function neverStartedMessage(where: string, elsewhere = ''): string {
  return `No server has run on ${where} yet${elsewhere}. Start it once, with ${START_COMMAND}: that makes the first account, and shows its keys`;
}

/** The mistake of an operator whose servers have their variables from a file that the shell has not read. */
const NO_URL = ', and DATABASE_URL, which names the PostgreSQL of one that uses it, is not set';

const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function exitOnFatal(error: Error, terminal: Terminal): never {
  terminal.stderr.write(`The database has failed: ${error.message}\n`);
  return terminal.exit(1);
}

/** Explains in one line what the user can correct; any other error with its stack. */
function explain(error: unknown, config: Config | undefined): string {
  if (error instanceof UsageError)
    return `${error.message}. See ${PSA_COMMAND} ${error.command && `${error.command} `}--help`;
  const limit = describeMissingDescriptors(error);
  if (limit !== null) return limit;
  if (
    error instanceof Refusal ||
    error instanceof ConfigError ||
    error instanceof DataDirError ||
    error instanceof MigrationError ||
    error instanceof BackupError ||
    error instanceof ArchiveError
  )
    return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM')
    return `The data folder is another user's: run this as the user who runs the server (${code})`;
  return (
    (config && describeDatabaseError(error, config)) ??
    (error instanceof Error ? (error.stack ?? error.message) : String(error))
  );
}
