import { z } from 'zod';

/** An event that the server sends, as the description of the REST interface shows it. */
export interface WebhookBody {
  /** The reason for which it is sent. */
  summary: string;
  body: z.ZodObject;
}

/**
 * Describes an event. In sandbox its name has `.test.` behind the family, and the body `sandbox: true`, unless the event
 * has one name for both environments.
 */
export function webhookBody(
  name: string,
  summary: string,
  shape: z.ZodRawShape,
  { named = 'by environment' }: { named?: 'by environment' | 'alike' } = {},
): WebhookBody {
  if (named === 'alike') return { summary, body: z.object({ event: z.literal(name), ...shape }) };
  const event = z
    .enum([name, sandboxName(name)])
    .meta({ description: 'The second with a test key', examples: [name] });
  const sandbox = z.literal(true).optional().meta({ description: 'With a test key alone' });
  return { summary, body: z.object({ event, ...shape, sandbox }) };
}

/** The name of an event in sandbox, where it has one of its own. */
export function sandboxName(name: string): string {
  return name.replace('.', '.test.');
}
