import { z } from 'zod';
import { instant } from './instant.ts';
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
  /** The type of the resource whose state it reports. */
  resource: string;
  /** The name of an event in sandbox; null if it has one name for both environments. */
  nameInSandbox: string | null;
  body: z.ZodObject;
}

/**
 * The members by which a receiver can deduplicate and order bodies without their headers. They stand beside the
 * members of each event. A body that is relayed from another service has none of them.
 */
export interface WebhookEnvelope {
  /** The X-Webhook-Id. */
  id: string;
  occurredAt: string;
  /** The X-Webhook-Resource-Version. */
  version: number;
  sandbox: boolean;
  /** The resource whose state the event reports. */
  resource: { type: string; id: string };
}

/** The names of the envelope's members, which no event uses for something else. */
export const ENVELOPE_MEMBERS = [
  'id',
  'occurredAt',
  'version',
  'sandbox',
  'resource',
] as const satisfies readonly (keyof WebhookEnvelope)[];

/**
 * Removes the envelope of an event of another service, so that no reader takes one of its members for one of the event, such as
 * `occurredAt` for the time of a request. An event with a part of it has none: it may name its payment `resource`.
 */
export function withoutEnvelope(
  payload: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { id, occurredAt, version, resource, ...own } = payload;
  const isWhole =
    typeof id === 'string' &&
    typeof occurredAt === 'string' &&
    typeof version === 'number' &&
    typeof resource === 'object';
  return isWhole ? own : payload;
}

function envelopeOf(resource: string) {
  return {
    id: z.string().meta({
      description: 'The same as X-Webhook-Id, on each attempt: deduplicate by it',
      examples: ['whd_65f0c0ffee65f0c0ffee65f0'],
    }),
    occurredAt: instant.meta({ description: 'When the change happened' }),
    version: z
      .int()
      .min(1)
      .meta({
        description: 'Grows with each change of `resource`: apply no older state',
        examples: [2],
      }),
    sandbox: z.boolean().meta({ description: 'Whether it belongs to a test key' }),
    resource: z
      .object({ type: z.literal(resource), id: z.string() })
      .meta({ description: 'The resource whose state the event reports' }),
  };
}

/** Describes an event. In sandbox its name has `.test.` after the family, unless it has one name for both environments. */
export function webhookEvent<Optional extends string | null>(
  name: string,
  {
    summary,
    optional,
    resource,
    members,
    named = 'by environment',
  }: {
    summary: string;
    optional: Optional;
    /** The type of the resource whose state it reports. */
    resource: string;
    members: z.ZodRawShape;
    named?: 'by environment' | 'alike';
  },
): WebhookEvent<Optional> {
  const nameInSandbox = named === 'alike' ? null : sandboxName(name);
  const event =
    nameInSandbox === null
      ? z.literal(name)
      : z
          .enum([name, nameInSandbox])
          .meta({ description: 'The second with a test key; `sandbox` says the same', examples: [name] });
  return {
    summary,
    optional,
    resource,
    nameInSandbox,
    body: z.object({ event, ...envelopeOf(resource), ...members }),
  };
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
