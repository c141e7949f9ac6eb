import { z } from 'zod';
import type { Environment } from './tenant.ts';

/** A webhook event of this server. Its name, its lists and every description of it follow from this. */
export interface WebhookEvent<Optional extends string | null = string | null> {
  /** The reason for sending the event. */
  summary: string;
  /**
   * The words that follow the event's name in the GraphQL interface, if an account has to opt into it. Null
   * if every account gets it.
   */
  optional: Optional;
  body: z.ZodObject;
}

/**
 * Describes an event. In sandbox its name has `.test.` after the family, and the body `sandbox: true`, unless the
 * event has one name for both environments.
 */
export function webhookEvent<Optional extends string | null>(
  name: string,
  {
    summary,
    optional,
    members,
    named = 'by environment',
  }: {
    summary: string;
    optional: Optional;
    members: z.ZodRawShape;
    named?: 'by environment' | 'alike';
  },
): WebhookEvent<Optional> {
  if (named === 'alike') return { summary, optional, body: z.object({ event: z.literal(name), ...members }) };
  const event = z
    .enum([name, sandboxName(name)])
    .meta({ description: 'The second with a test key', examples: [name] });
  const sandbox = z.literal(true).optional().meta({ description: 'With a test key alone' });
  return { summary, optional, body: z.object({ event, ...members, sandbox }) };
}

export type SandboxName<Name extends string> = Name extends `${infer Family}.${infer Kind}`
  ? `${Family}.test.${Kind}`
  : never;

/** The name of an event in sandbox, if it has one of its own. */
export function sandboxName<Name extends string>(name: Name): SandboxName<Name> {
  return name.replace('.', '.test.') as SandboxName<Name>;
}

/** The name of an event in an environment. */
export function nameIn<Name extends string>(environment: Environment, name: Name): Name | SandboxName<Name> {
  return environment === 'sandbox' ? sandboxName(name) : name;
}
