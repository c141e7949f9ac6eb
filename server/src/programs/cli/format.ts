import type { Account, ApiKey } from '../../access/keys.ts';
import type { ListedToken } from '../../access/model.ts';
import { PSA_COMMAND } from '../../kernel/assets.ts';
import { ltcText } from '../../kernel/money.ts';
import { METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';
import { BEHIND_IN_WORDS, type Behind } from '../../kernel/records.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { EndpointFinding, UpstreamCheck } from '../../kernel/upstream-check.ts';
import type { PausedToken } from '../../money-in/card-payments/tokens/model.ts';
import type { UnmatchedLtc } from '../../money-in/ltc/model.ts';
import type { ListedDoubt } from '../../requests/model.ts';
import { endpointStatusOf, type WebhookSettings } from '../../webhooks/endpoints.ts';
import type { ShownWebhook } from '../../webhooks/managed.ts';
import type { WebhookAttempt, WebhookDelivery } from '../../webhooks/model.ts';
import type { SentTest } from '../../webhooks/tests.ts';
import type { Saved } from '../ops/backup.ts';
import type { CommandOperation } from '../ops/operations.ts';
import type { Verification } from '../verify/model.ts';
import { formatVerification } from './format-verification.ts';

/** A value as it is read from JSON: dates are text. */
type Json<Value> = { [Name in keyof Value]: Value[Name] extends Date | null ? string | null : Value[Name] };

/** Formats the result of an operation for a person. */
export function formatResult(operation: CommandOperation, result: unknown): string {
  switch (operation) {
    case 'keys.create': {
      const { key, secret } = result as { key: Json<ApiKey>; secret: string };
      return `The ${key.environment} API key of account ${key.accountId}, ${describePermissions(key)}:

  ${secret}

It is stored hashed and shown this once. To end it: ${PSA_COMMAND} keys revoke ${key.id}
`;
    }
    case 'keys.list':
      return formatTable((result as { keys: Json<ApiKey>[] }).keys, 'There are none.', {
        id: (key) => key.id,
        account: (key) => key.accountId,
        key: (key) => `${key.environment === 'live' ? 'ps_live_' : 'ps_test_'}…${key.hint ?? ''}`,
        name: (key) => key.name ?? '',
        rights: describePermissions,
        created: (key) => formatInstant(key.createdAt),
        ...((result as { keys: Json<ApiKey>[] }).keys.some(({ revokedAt }) => revokedAt !== null) && {
          revoked: (key: Json<ApiKey>) => formatInstant(key.revokedAt),
        }),
      });
    case 'keys.revoke': {
      const { key } = result as { key: Json<ApiKey> };
      return `The ${key.environment} API key ${key.id} is revoked, and so are the tokens that it minted.\n`;
    }
    case 'accounts.create': {
      const { account } = result as { account: Json<Account> };
      return `${formatAccounts([account])}\nIt has no keys yet: ${PSA_COMMAND} keys create --live --account ${account.id}\n`;
    }
    case 'accounts.set':
      return formatAccounts([(result as { account: Json<Account> }).account]);
    case 'doubts.list':
      return formatTable((result as { doubts: Json<ListedDoubt>[] }).doubts, 'There are none.', {
        id: ({ id }) => id,
        account: ({ accountId, environment }) => `${accountId} ${environment}`,
        operation: ({ operation }) => operation,
        key: ({ key }) => key,
        reais: ({ amountCents }) => (amountCents === null ? '' : formatReais(amountCents)),
        requested: ({ requestedAt }) => formatInstant(requestedAt),
        lookups: ({ lookups }) => String(lookups),
        finding: ({ finding }) => finding ?? '',
      });
    case 'doubts.settle': {
      const { doubt, made } = result as { doubt: Json<ListedDoubt>; made: string | null };
      return `${doubt.id} has made ${made ?? 'nothing'}: ${inWords(doubt)}\n`;
    }
    case 'accounts.list':
      return formatAccounts((result as { accounts: Json<Account>[] }).accounts);
    case 'ltc.list': {
      const { payments, next } = result as { payments: Json<UnmatchedLtc>[]; next: string | null };
      const table = formatTable(payments, 'None waits.', {
        payment: ({ paymentId }) => paymentId,
        account: ({ accountId }) => accountId,
        status: ({ status }) => status,
        reason: ({ reason }) => reason.replace('_', ' '),
        reais: ({ amountCents }) => formatReais(amountCents),
        'ltc asked': ({ askedLitoshi }) => ltcText(askedLitoshi),
        'ltc came': ({ litoshi }) => ltcText(litoshi),
        seen: ({ seenAt }) => formatInstant(seenAt),
      });
      return next === null ? table : `${table}More wait: ${PSA_COMMAND} ltc list --after ${next}\n`;
    }
    case 'ltc.credit': {
      const { paymentId, litoshi } = result as { paymentId: string; litoshi: number };
      return litoshi === 0
        ? `Nothing of ${paymentId} waits to be credited.\n`
        : `Credited ${litoshi} litoshi of ${paymentId}.\n`;
    }
    case 'upstream.check':
      return formatCheck(result as Json<UpstreamCheck>);
    case 'restored':
      return formatRecords(result as { behind: Json<Behind> | null; ended: Json<Behind> | null });
    case 'store.import': {
      const { accountId, environment, count } = result as {
        accountId: string;
        environment: string;
        count: number;
      };
      return `The ${environment} store of account ${accountId} has ${count} product${count === 1 ? '' : 's'} now.\n`;
    }
    case 'tokens.pause': {
      const { tokenId, pausedUntil } = (result as { token: Json<PausedToken> }).token;
      const until = pausedUntil === null ? 'until it is resumed' : `until ${formatInstant(pausedUntil)}`;
      return `The checkout token ${tokenId} is paused ${until}. To end it: ${PSA_COMMAND} tokens resume ${tokenId}\n`;
    }
    case 'tokens.resume':
      return `The checkout token ${(result as { tokenId: string }).tokenId} is not paused.\n`;
    case 'tokens.revoke':
      return `The token ${(result as { tokenId: string }).tokenId} is revoked.\n`;
    case 'tokens.list':
      return formatTable((result as { tokens: Json<ListedToken & Tenant>[] }).tokens, 'None is in force.', {
        id: ({ tokenId }) => tokenId,
        account: ({ accountId }) => accountId,
        environment: ({ environment }) => environment,
        grants: describeGrant,
        created: ({ createdAt }) => formatInstant(createdAt),
        ends: ({ expiresAt, revokedAt }) =>
          revokedAt !== null
            ? `revoked ${formatInstant(revokedAt)}`
            : expiresAt === null
              ? 'revoked'
              : formatInstant(expiresAt),
      });
    case 'verify':
      return formatVerification(result as Verification);
    case 'webhooks.endpoints':
      return formatTable((result as { endpoints: Json<WebhookSettings>[] }).endpoints, 'None is set.', {
        id: ({ endpointId }) => endpointId,
        url: ({ url }) => url,
        status: endpointStatusOf,
        'failing since': ({ failingSince }) => (failingSince === null ? '' : formatInstant(failingSince)),
        events: ({ isOfAccount, events, optionalEvents }) =>
          (isOfAccount ? ['documented', ...optionalEvents] : events).join(', '),
      });
    case 'webhooks.list':
      return formatTable((result as { deliveries: Json<WebhookDelivery>[] }).deliveries, 'None matches.', {
        id: ({ webhookId }) => webhookId,
        event: ({ event }) => event,
        status: ({ status }) => status,
        answer: ({ responseStatus }) => (responseStatus === 0 ? 'none' : String(responseStatus ?? '')),
        attempts: ({ attempts }) => String(attempts),
        url: ({ url }) => url,
        created: ({ createdAt }) => formatInstant(createdAt),
      });
    case 'webhooks.show':
      return formatWebhook(result as ShownWebhook);
    case 'webhooks.test': {
      const { webhookId, event, url, payload, attempt } = result as SentTest;
      return formatLines([`${webhookId}  ${event}`, `POST ${url}`, payload, ...linesOf(attempt)]);
    }
    case 'webhooks.redeliver': {
      const { webhookId, url } = (result as { delivery: WebhookDelivery }).delivery;
      return `The webhook ${webhookId} is sent to ${oneLine(url)} again.\n`;
    }
    case 'tokens.paused':
      return formatTable((result as { tokens: Json<PausedToken>[] }).tokens, 'None is paused.', {
        id: ({ tokenId }) => tokenId,
        reason: ({ reason }) => PAUSES_IN_WORDS[reason],
        since: ({ pausedAt }) => formatInstant(pausedAt),
        until: ({ reason, pausedUntil }) =>
          pausedUntil === null
            ? reason === 'restored'
              ? `${PSA_COMMAND} restored --confirm`
              : 'resumed'
            : formatInstant(pausedUntil),
      });
  }
}

/** Formats a webhook with its attempts, each side of them in its order. */
function formatWebhook({ delivery, payload, attempts }: ShownWebhook): string {
  const { webhookId, accountId, environment, event, status, url } = delivery;
  const head = [
    `${webhookId}  ${event}  ${status}`,
    `account ${accountId}, ${environment}`,
    `POST ${url}`,
    payload ?? '',
  ];
  return formatLines([...head, ...attempts.flatMap(linesOf)]);
}

/** The lines of an attempt: what was sent, and what came back. */
function linesOf({ number, at, responseStatus, error, durationMs, exchange }: WebhookAttempt): string[] {
  return [
    '',
    `Attempt ${number}, ${formatInstant(String(at))}, ${durationMs} ms: ${error ?? `delivered (${responseStatus})`}`,
    ...(exchange?.requestHeaders ?? []).map(([name, value]) => `> ${name}: ${value}`),
    ...(exchange?.responseHeaders ?? []).map(([name, value]) => `< ${name}: ${value}`),
    ...(exchange?.responseBody ?? '').split('\n').filter(Boolean),
    ...(exchange?.isBodyCut ? ['(the answer goes on)'] : []),
  ];
}

function formatLines(lines: readonly string[]): string {
  return lines.map((line) => `${oneLine(line)}\n`).join('');
}

/** The words for what a token lets its holder do. */
function describeGrant(token: Json<ListedToken>): string {
  if (token.kind === 'dashboard') return `dashboard: ${token.grant.scopes.join(', ')}`;
  const { amount, reusable, externalId } = token.grant;
  const sold =
    amount.kind === 'fixed'
      ? `${amount.cents} cents`
      : amount.kind === 'range'
        ? `${amount.minCents} to ${amount.maxCents} cents`
        : `product ${amount.productId}`;
  const of = reusable ? ', reusable' : externalId == null ? '' : `, order ${externalId}`;
  return `checkout: ${sold}${of}`;
}

const PAUSES_IN_WORDS: Readonly<Record<PausedToken['reason'], string>> = {
  merchant: 'paused by hand',
  declines: 'declined cards',
  restored: 'the records went back',
};

/** Formats the summary of a backup. */
export function formatBackup({ file, bytes, ...saved }: Saved): string {
  return `${file}: ${describeContents(saved)}, ${formatBytes(bytes)}.

It holds secrets: anyone who has it can sign webhooks and follow payments. It does not hold the key of the files of
disputes (PSA_DATA_KEY, or data.key): keep that, too. To read it back:

  ${PSA_COMMAND} restore ${shellQuoted(file)}
`;
}

function formatBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Quotes a path so that it can be copied into a shell. */
function shellQuoted(file: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(file) ? file : `"${file.replace(/["$`]/g, '\\$&')}"`;
}

/** Formats the summary of a restored backup. */
export function formatRestored({ takenAt, ...saved }: Saved): string {
  return `Restored: ${describeContents(saved)}, as it was at ${formatInstant(takenAt)}. What came after that is not in it, and it is marked so:
${UNTIL_CONFIRMED}`;
}

/** Formats the mark of the records, or its end. */
function formatRecords({
  behind,
  ended,
}: {
  behind: Json<Behind> | null;
  ended: Json<Behind> | null;
}): string {
  if (behind)
    return `What came after ${formatInstant(behind.since)} may be missing (${BEHIND_IN_WORDS[behind.cause]}):\n${UNTIL_CONFIRMED}`;
  return ended
    ? `Confirmed. The records lacked what came after ${formatInstant(ended.since)}, and count as complete now.\n${ABOUT_BATCHES}`
    : 'The records are complete: no mark is set.\n';
}

const ABOUT_BATCHES = `A batch of payouts of before waits for its merchant, or ends in front of a service. One that was confirmed since is not known
here: before a file of payouts is uploaded again, compare it with what was paid.
`;

const UNTIL_CONFIRMED = `in front of a service, requests that these records do not know are looked for before they are sent. Once all of
them are known: ${PSA_COMMAND} restored --confirm
${ABOUT_BATCHES}`;

function describeContents({ rows, schema }: Pick<Saved, 'rows' | 'schema'>): string {
  const tables = Object.values(rows);
  return `${tables.reduce((sum, many) => sum + many, 0)} rows of ${tables.length} tables (${schema})`;
}

function formatAccounts(accounts: readonly Json<Account>[]): string {
  return formatTable(accounts, 'There are none.', {
    id: ({ id }) => id,
    name: ({ name }) => name,
    keys: ({ activeKeys }) => String(activeKeys),
    cards: ({ cardPaymentsEnabled }) => (cardPaymentsEnabled ? 'on' : 'off'),
    'release days': ({ cardReleaseDays }) => String(cardReleaseDays),
    pix: ({ pixEnabled, pixFeeCents }) => (pixEnabled ? formatReais(pixFeeCents) : 'off'),
    'ltc payments': ({ ltcEnabled }) => (ltcEnabled ? 'on' : 'off'),
    ...feeColumns(),
    markup: ({ subaccountMarkupCents }) => formatReais(subaccountMarkupCents),
    'pix max': ({ pixMaxCents }) => (pixMaxCents === null ? '' : formatReais(pixMaxCents)),
    color: ({ color }) => color ?? '',
    logo: ({ logoHash }) => (logoHash ? logoHash.slice(0, 8) : ''),
    created: ({ createdAt }) => formatInstant(createdAt),
  });
}

/** Creates a column for the fee of each payout method. Only the first heading has the word fee. */
function feeColumns(): Record<string, (account: Json<Account>) => string> {
  const columns = METHOD_NAMES.map((method, index) => {
    const { column } = METHODS[method].cli;
    const name = index === 0 ? `fee ${column}` : column;
    return [name, ({ payoutFeesCents }: Json<Account>) => formatReais(payoutFeesCents[method])] as const;
  });
  return Object.fromEntries(columns);
}

const METHOD_NAMES = Object.keys(METHODS) as PayoutMethod[];

function describePermissions({ permissions }: Pick<ApiKey, 'permissions'>): string {
  return permissions.length === 0 ? 'unrestricted' : permissions.join(' and ');
}

function formatReais(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/** Formats a date to the second, in UTC. */
function formatInstant(text: string | null): string {
  return text === null ? '' : text.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}

/** Formats one line per row. A column is as wide as its widest cell. */
function formatTable<Row>(
  rows: readonly Row[],
  empty: string,
  columns: Record<string, (row: Row) => string>,
): string {
  if (rows.length === 0) return `${empty}\n`;
  const lines = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((format) => oneLine(format(row)))),
  ];
  const widths = lines[0]!.map((_, index) => Math.max(...lines.map((cells) => cells[index]!.length)));
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, index) => cell.padEnd(widths[index]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Replaces control characters: a name is a merchant's text, and must not move the terminal's cursor. */
function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}

/** A request as `doubts list` has named it, with what its last lookup has found. */
function inWords(doubt: Json<ListedDoubt>): string {
  const { accountId, environment, operation, key, amountCents, requestedAt, finding } = doubt;
  const amount = amountCents === null ? '' : ` of ${formatReais(amountCents)}`;
  const request = `${operation}${amount} under the key ${key}, of ${accountId} ${environment}, at ${formatInstant(requestedAt)}`;
  return finding === null ? `${request}.` : `${request}. Its last lookup has found: ${finding}.`;
}

const FINDINGS: Readonly<Record<EndpointFinding, string>> = {
  read: 'offered, shape read',
  unread: 'offered, shape not read',
  empty: 'offered, nothing to read yet',
  not_offered: 'not offered',
  refused: 'refused',
  no_answer: 'no answer',
  not_asked: 'not asked, it changes something',
};

function formatCheck({ environment, ok, endpoints, features }: Json<UpstreamCheck>): string {
  const table = formatTable(endpoints, '', {
    endpoint: ({ endpoint }) => endpoint,
    finding: ({ finding }) => FINDINGS[finding],
    detail: ({ unread, detail }) => detail ?? unread.join(', '),
  });
  const consequences = formatTable(features, '', {
    feature: ({ feature }) => feature,
    works: ({ works }) => works,
    because: ({ because }) => because,
  });
  const end = ok ? 'All that the service offers is read.' : 'Not all that the service offers is read.';
  return `The service, asked with the ${environment} key by reads alone:\n\n${table}\n${consequences}\n${end}\n`;
}
