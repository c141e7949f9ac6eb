import { type Command, Option } from 'commander';
import type { CommandOperation } from '../ops/operations.ts';
import { createOption, type Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** The functions that define a command and its action. */
export interface Defining {
  define: (group: Command, name: string, description: string, example: string) => Command;
  perform: (
    operation: CommandOperation,
    toInput: (options: Options, argument: string) => object,
  ) => (this: Command) => void;
}

/** Defines the commands about webhooks in their group. */
export function defineWebhookCommands(webhooks: Command, { define, perform }: Defining): void {
  define(
    webhooks,
    'endpoints',
    'lists the endpoints of an account, the URL that configureWebhook has set first',
    'webhooks endpoints --live',
  )
    .addOption(new Option('--live', 'those of live keys; this or --sandbox').conflicts('sandbox'))
    .option('--sandbox', 'those of test keys; this or --live')
    .option('--account <ID>', 'the account, where there are several')
    .action(perform('webhooks.endpoints', (options) => tenantIn(options, 'endpoints')));
  define(
    webhooks,
    'list',
    'lists the newest webhooks that match, at most 100, with the status of the last answer',
    'webhooks list --live --status exhausted',
  )
    .addOption(new Option('--live', 'those of live keys; this or --sandbox').conflicts('sandbox'))
    .option('--sandbox', 'those of test keys; this or --live')
    .option('--account <ID>', 'the account, where there are several')
    .option('--status <NAME>', 'pending, delivered, exhausted, held or canceled')
    .option('--event <NAME>', 'those of one event, such as payment.paid')
    .option('--endpoint <ID>', 'those to one endpoint')
    .option('--reference <ID>', 'those of one payment, payout, refund or other resource')
    .addOption(
      createOption(
        '--response-status <NUMBER>',
        'those whose last attempt was answered so; 5 for any of 500 to 599, 0 for no answer',
        'an HTTP status, a class of them, or 0',
        (text) => (/^\d{1,3}$/.test(text) ? Number(text) : undefined),
      ),
    )
    .action(
      perform('webhooks.list', ({ live, sandbox, account, endpoint, ...filter }) => ({
        ...tenantIn({ live, sandbox, account }, 'a log'),
        endpointId: endpoint,
        ...filter,
      })),
    );
  define(
    webhooks,
    'show',
    'shows what a webhook said, each attempt to send it, and what came back',
    'webhooks show whd_0123456789abcdef01234567',
  )
    .argument('<WEBHOOK-ID>')
    .action(perform('webhooks.show', (_, webhookId) => ({ webhookId })));
  define(
    webhooks,
    'redeliver',
    'sends a webhook again, to the same URL and under the same id',
    'webhooks redeliver whd_0123456789abcdef01234567',
  )
    .argument('<WEBHOOK-ID>')
    .action(perform('webhooks.redeliver', (_, webhookId) => ({ webhookId })));
  define(
    webhooks,
    'test',
    'sends an event of nothing to an endpoint once, and shows the answer',
    'webhooks test payment.paid --live',
  )
    .argument('<EVENT>')
    .option('--endpoint <ID>', 'the endpoint; the URL of the account if it is left out')
    .addOption(new Option('--live', 'to the URL of live keys; this or --sandbox').conflicts('sandbox'))
    .option('--sandbox', 'to that of test keys; this or --live')
    .option('--account <ID>', 'the account, where there are several')
    .action(
      perform('webhooks.test', ({ endpoint, ...options }, event) => ({
        ...tenantIn(options, 'a URL'),
        event,
        endpointId: endpoint,
      })),
    );
}

/** The account and the environment of a command. @throws UsageError if neither environment is given */
function tenantIn({ live, sandbox, account }: Options, what: string) {
  if (!live && !sandbox)
    throw new UsageError(`Give --live or --sandbox: each of the two has ${what} of its own`);
  return { accountId: account, environment: live ? 'live' : 'sandbox' };
}
