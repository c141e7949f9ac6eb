import type { Command } from 'commander';
import type { Defining } from './webhook-commands.ts';

/** Defines the command that looks whether the books obey their laws. */
export function defineVerifyCommand(program: Command, { define, perform }: Defining): void {
  define(
    program,
    'verify',
    'looks whether the books obey their laws, beside the servers, and changes nothing in them',
    'verify --since-last',
  )
    .option('--account <ID>', 'the books of this account only')
    .option('--law <NAME>', 'this law only; an unknown name lists them')
    .option('--since-last', 'only what has changed since the last run that found nothing')
    .addHelpText(
      'after',
      `
Exit codes: 0 where every law holds; 1 where one is broken; 2 where none is
broken, but some could not be decided, such as those of money in front of
another service.`,
    )
    .action(perform('verify', ({ account, law, sinceLast }) => ({ accountId: account, law, sinceLast })));
}
