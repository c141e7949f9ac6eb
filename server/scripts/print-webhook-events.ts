import type { z } from 'zod';
import { describeOperations } from '../src/api/http/openapi.ts';
import { ENVELOPE_MEMBERS } from '../src/kernel/webhook-event.ts';
import { DESCRIBED_WEBHOOKS } from '../src/webhooks/sent-events.ts';
import { errorTables } from './errors.ts';
import { fillDocument, table } from './markdown.ts';

// Prints the files that describe the webhooks, as JSON: the types of their bodies for @psa/checkout/server, from the JSON
// Schemas of the REST interface, and the document with the tables of optional events and of errors.

const TYPES = 'widget/src/server/webhook-events.generated.ts';
const DOCUMENT = 'server/docs/service.md';

interface Schema {
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  description?: string;
}

/** Keywords that narrow a value further than TypeScript can, or say nothing of its type. */
const OF_NO_TYPE = ['examples', 'format', 'maximum', 'minimum'];
const OF_A_TYPE = ['type', 'const', 'enum', 'anyOf', 'items', 'properties', 'required', 'description'];

const { components, webhooks } = describeOperations([], '', DESCRIBED_WEBHOOKS) as {
  components: { schemas: Record<string, Schema> };
  webhooks: Record<
    string,
    { post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } } }
  >;
};

/** Events of one resource, under the name of their union. */
const families = new Map<string, string[]>();
let printed = '';
let envelope: Schema = {};
for (const { event, summary, resource } of DESCRIBED_WEBHOOKS) {
  const { $ref } = webhooks[event]!.post.requestBody.content['application/json']!.schema;
  const name = $ref.slice('#/components/schemas/'.length);
  const family = familyOf(event);
  families.set(family, [...(families.get(family) ?? []), name]);
  const body = components.schemas[name]!;
  envelope = partOf(body, isOfEnvelope);
  const own = bodyOf(
    partOf(body, (member) => !isOfEnvelope(member)),
    '',
  );
  printed += `\n/** ${summary}. */\nexport interface ${name} extends WebhookEnvelope<'${resource}'> ${own}\n`;
}
for (const [family, names] of families)
  if (names.length > 1 || names[0] !== family) printed += `\n${unionOf(family, names)}`;

const types = `// Made from the descriptions of the webhooks in server/src; \`npm run regenerate\` writes it.

/**
 * The members that each event has. Those of a webhook that a server in front of another service relays are that
 * service's, and a webhook that was first sent by an older server has none: verifyWebhook reads their headers.
 */
export interface WebhookEnvelope<Type extends string = string> ${bodyOf(envelope, '').replace(/(resource: \{\s+type: )'\w+'/, '$1Type')}
${printed}
/** The resource that a refund, dispute or delivery is of. */
export type PaidResource = RefundEvent['of'];

/** The events that are known by \`event\`. A newer server may send others: leave them out. */
${unionOf('WebhookEvent', [...families.keys()])}`;

const optionalEvents = DESCRIBED_WEBHOOKS.filter(({ optional }) => optional !== null);
const rows = optionalEvents.map(({ event, summary, body }) => [
  `\`${event}\``,
  summary,
  namesOf(body.shape.event as z.ZodType).length > 1 ? 'yes' : 'no',
  fieldsOf(body),
]);
const head = ['optional event', 'sent when', 'own name in sandbox', 'fields'];
const events = table([head, ...rows]);
process.stdout.write(
  JSON.stringify({ [TYPES]: types, [DOCUMENT]: fillDocument(DOCUMENT, events, errorTables()) }),
);

/** The names that an event has, here and in sandbox. */
function namesOf(event: z.ZodType): readonly unknown[] {
  return 'options' in event ? (event.options as readonly unknown[]) : [event];
}

/** Whether a member is one of the envelope, which each body has. */
function isOfEnvelope(member: string): boolean {
  return (ENVELOPE_MEMBERS as readonly string[]).includes(member);
}

/** The schema with some of its members. */
function partOf({ properties = {}, ...schema }: Schema, isPart: (member: string) => boolean): Schema {
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([member]) => isPart(member))),
  };
}

/** The own members of a body, first those that each event has. */
function fieldsOf({ shape }: z.ZodObject): string {
  const isOptional = (name: string) => (shape[name] as z.ZodType).safeParse(undefined).success;
  const names = Object.keys(shape).filter((name) => !isOfEnvelope(name));
  const list = (fields: string[]) => fields.map((name) => `\`${name}\``).join(', ');
  const sometimes = names.filter(isOptional);
  const always = list(names.filter((name) => !isOptional(name)));
  return sometimes.length === 0 ? always : `${always}; at times ${list(sometimes)}`;
}

/** The events of payouts of the main account are named after the document's word for one, and the types after ours. */
function familyOf(event: string): string {
  const [family] = event.split('.');
  const word = event === 'subaccount.payout' ? 'subaccount_payout' : family!.replace('withdrawal', 'payout');
  return `${word.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

function unionOf(name: string, members: readonly string[]): string {
  if (members.length === 1) return `export type ${name} = ${members[0]};\n`;
  return `export type ${name} =\n${members.map((member) => `  | ${member}`).join('\n')};\n`;
}

function bodyOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inside = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const comment = member.description ? `${inside}/** ${member.description}. */\n` : '';
    return `${comment}${inside}${name}${required.includes(name) ? '' : '?'}: ${typeOf(member, inside)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

/** The type of a value. @throws TypeError for a keyword that this does not know: its type would be too wide */
function typeOf(schema: Schema, indent: string): string {
  const unknown = Object.keys(schema).filter((keyword) => ![...OF_A_TYPE, ...OF_NO_TYPE].includes(keyword));
  if (unknown.length > 0) throw new TypeError(`no type for ${unknown.join(', ')}`);
  const { type, enum: values, anyOf, items } = schema;
  if ('const' in schema) return literalOf(schema.const);
  if (values) return values.map(literalOf).join(' | ');
  if (anyOf) return anyOf.map((each) => typeOf(each, indent)).join(' | ');
  if (typeof type === 'object')
    return type.map((each) => typeOf({ ...schema, type: each }, indent)).join(' | ');
  if (type === 'array') return `ReadonlyArray<${typeOf(items!, indent)}>`;
  if (type === 'object') return bodyOf(schema, indent);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  throw new TypeError(`no type for ${JSON.stringify(schema)}`);
}

function literalOf(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
