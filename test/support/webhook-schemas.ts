import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeOperations } from '../../server/src/api/http/openapi.ts';
import { sandboxName } from '../../server/src/kernel/webhook-event.ts';
import { DESCRIBED_WEBHOOKS } from '../../server/src/webhooks/sent-events.ts';

/** The JSON Schema of an object, as the description has it. */
interface ObjectSchema {
  properties?: Record<string, unknown>;
  [keyword: string]: unknown;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const { components } = describeOperations([], 'http://localhost', DESCRIBED_WEBHOOKS) as {
  components: { schemas: Record<string, ObjectSchema> };
};
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  formats: { 'date-time': ISO, int64: true, uri: true },
});

const validators = new Map<string, ValidateFunction>();

/**
 * Lists the differences between a delivery's body and the description of its event. An additional member is a
 * difference.
 */
export function deliveryProblems(body: string): string[] {
  const payload: unknown = JSON.parse(body);
  const { event: name } = payload as { event: string };
  const described = DESCRIBED_WEBHOOKS.find(({ event }) =>
    [event as string, sandboxName(event)].includes(name),
  );
  if (!described) return [`the event ${name} is not described`];
  const validate = validators.get(described.event) ?? ajv.compile(closed(schemaOf(described.event)));
  validators.set(described.event, validate);
  if (validate(payload)) return [];
  return validate.errors!.map(
    ({ instancePath, message, params }) => `${name}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

function schemaOf(event: string): ObjectSchema {
  const name = event.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return components.schemas[`${name}Event`]!;
}

/** The schema with `additionalProperties: false`, at every depth. */
function closed<Schema>(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map(closed) as Schema;
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isObject = 'type' in schema && [schema.type].flat().includes('object');
  return (isObject ? { ...inside, additionalProperties: false } : inside) as Schema;
}
