// Compares two descriptions of the REST interface, each part in the direction in which it is used. openapi-diff refuses OpenAPI 3.1,
// api-smart-diff lets the removal of an answer's member pass, and oasdiff is in no registry of npm. A package that decides as
// well replaces this file.

/**
 * A JSON Schema as the description of the REST interface has it.
 *
 * @typedef {{ $ref?: string, type?: string | string[], enum?: unknown[], properties?: Record<string, Schema>, required?: string[],
 *   items?: Schema, anyOf?: Schema[], oneOf?: Schema[], additionalProperties?: boolean | Schema,
 *   [keyword: string]: unknown }} Schema
 * @typedef {{ schema: Schema }} Media
 * @typedef {{ $ref?: string, headers?: object, content?: Record<string, Media> }} Answer
 * @typedef {{ name: string, in: string, required?: boolean, schema: Schema }} Parameter
 * @typedef {{ parameters?: Parameter[], requestBody?: { required?: boolean, content: Record<string, Media> },
 *   responses: Record<string, Answer> }} Operation
 * @typedef {{ post: { requestBody: { content: Record<string, Media> } } }} Webhook
 * @typedef {{ security?: unknown, paths: Record<string, Record<string, Operation>>,
 *   webhooks?: Record<string, Webhook>,
 *   components: { schemas: Record<string, Schema>, responses?: Record<string, Answer> } }} Description
 *
 * @typedef {object} Change a change that breaks a client
 * @property {string} name the place of the change, such as `POST /v1/payouts: amount` or `schemas/Payout: fee`
 * @property {string} message
 */

/** Keywords without an effect on validation. */
const ANNOTATIONS = new Set(['title', 'description', 'example', 'examples', 'deprecated']);
/** Keywords whose larger value admits less. */
const LOWER_BOUNDS = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const UPPER_BOUNDS = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);
/** Keywords that `compareSchemas` reads itself. */
const STRUCTURE = new Set([
  ...['$ref', 'type', 'enum', 'const', 'properties', 'required', 'items', 'anyOf', 'oneOf'],
  'additionalProperties',
]);

/**
 * Lists the changes that break a client of `before` when the server has `after`. A server has to accept all that it
 * accepted, and to answer within what it answered. A member, an operation, a status of a refusal or a value of an answer's
 * enum may be added, as in GraphQL. A keyword that is not known here breaks where it differs.
 *
 * @param {Description} before @param {Description} after @returns {Change[]}
 */
export function findBreakingRestChanges(before, after) {
  /** @type {Map<string, Change>} by name and message: many operations share a schema */
  const found = new Map();
  /** @param {string} name @param {string} message */
  const report = (name, message) => found.set(`${name} ${message}`, { name, message });

  if (differs(before.security, after.security)) report('security', 'Clients authenticate in another way');
  for (const [path, methods] of Object.entries(before.paths))
    for (const [method, old] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const operation = after.paths[path]?.[method];
      if (operation) compareOperations(name, old, operation);
      else report(name, 'The operation was removed');
    }
  // A webhook is a request of the server: its body is read as an answer is.
  for (const [event, { post }] of Object.entries(before.webhooks ?? {})) {
    const webhook = after.webhooks?.[event];
    if (webhook)
      compareContents(
        `webhooks/${event}`,
        'answer',
        post.requestBody.content,
        webhook.post.requestBody.content,
      );
    else report(`webhooks/${event}`, 'The event is not sent any more');
  }
  return [...found.values()];

  /** @param {string} name @param {Operation} old @param {Operation} operation */
  function compareOperations(name, old, operation) {
    compareParameters(name, old.parameters ?? [], operation.parameters ?? []);
    if (old.requestBody && !operation.requestBody) report(name, 'The body is not read any more');
    if (operation.requestBody?.required && !old.requestBody?.required) report(name, 'A body is required now');
    if (old.requestBody && operation.requestBody)
      compareContents(name, 'request', old.requestBody.content, operation.requestBody.content);
    for (const [status, oldAnswer] of Object.entries(old.responses)) {
      const answer = operation.responses[status];
      if (answer) compareAnswers(`${name} ${status}`, oldAnswer, answer);
      else if (status.startsWith('2')) report(`${name} ${status}`, 'The answer was removed');
    }
  }

  /** @param {string} name @param {Parameter[]} old @param {Parameter[]} parameters */
  function compareParameters(name, old, parameters) {
    /** @param {Parameter[]} list @returns {Map<string, Parameter>} */
    const byName = (list) => new Map(list.map((each) => [`${name} ${each.in} ${each.name}`, each]));
    const [oldOnes, newOnes] = [byName(old), byName(parameters)];
    for (const [key, parameter] of newOnes)
      if (parameter.required && !oldOnes.get(key)?.required) report(key, 'The parameter is required now');
    for (const [key, oldOne] of oldOnes) {
      const parameter = newOnes.get(key);
      if (parameter) compareSchemas(key, 'request', oldOne.schema, parameter.schema);
      else report(key, 'The parameter was removed');
    }
  }

  /** @param {string} name @param {Answer} old @param {Answer} answer */
  function compareAnswers(name, old, answer) {
    const [oldOne, newOne] = [resolve(before, old), resolve(after, answer)];
    for (const header of Object.keys(oldOne.headers ?? {}))
      if (!(header in (newOne.headers ?? {}))) report(`${name} ${header}`, 'The header was removed');
    compareContents(name, 'answer', oldOne.content ?? {}, newOne.content ?? {});
  }

  /** @param {string} name @param {Side} side @param {Record<string, Media>} old @param {Record<string, Media>} content */
  function compareContents(name, side, old, content) {
    for (const [type, { schema }] of Object.entries(old)) {
      const media = content[type];
      if (media) compareSchemas(name, side, schema, media.schema);
      else report(name, `${type} was removed`);
    }
  }

  /** @param {string} name @param {Side} side @param {Schema} old @param {Schema} schema */
  function compareSchemas(name, side, old, schema) {
    for (const change of schemaChanges({ before, after, side, seen: new Set() }, name, old, schema))
      report(change.name, change.message);
  }
}

/**
 * @typedef {'request' | 'answer'} Side
 * @typedef {object} Context
 * @property {Description} before
 * @property {Description} after
 * @property {Side} side
 * @property {Set<string>} seen the named schemas on the way here: a schema may contain itself
 */

/** @param {Context} context @param {string} name @param {Schema} old @param {Schema} schema @returns {Change[]} */
function schemaChanges(context, name, old, schema) {
  const { before, after, side, seen } = context;
  if (old.$ref !== undefined || schema.$ref !== undefined) {
    const pair = `${old.$ref} ${schema.$ref}`;
    if (seen.has(pair)) return [];
    const shared = old.$ref === schema.$ref ? old.$ref?.replace('#/components/', '') : undefined;
    const inside = { ...context, seen: new Set([...seen, pair]) };
    return schemaChanges(inside, shared ?? name, resolve(before, old), resolve(after, schema));
  }

  // Every value that the narrow schema admits must be admitted by the wide one too.
  const [narrow, wide] = side === 'request' ? [old, schema] : [schema, old];
  if (narrow.anyOf ?? narrow.oneOf ?? wide.anyOf ?? wide.oneOf) {
    return alternatives(narrow).flatMap((one) => {
      const attempts = alternatives(wide).map((other) =>
        side === 'request'
          ? schemaChanges(context, name, one, other)
          : schemaChanges(context, name, other, one),
      );
      return attempts.reduce((best, each) => (each.length < best.length ? each : best));
    });
  }

  /** @type {Change[]} */
  const changes = [];
  /** @param {string} message @param {string} [member] */
  const report = (message, member) => changes.push({ name: member ?? name, message });
  if (!admitsTypes(narrow, wide)) report(`The type was ${show(old.type)} and is ${show(schema.type)}`);
  compareValues(narrow, wide, side, report);
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(schema)]))
    if (!ANNOTATIONS.has(keyword) && !STRUCTURE.has(keyword) && isTighter(keyword, narrow, wide, side))
      report(`${keyword} was ${show(old[keyword])} and is ${show(schema[keyword])}`);

  /** @param {string} member */
  const nameOf = (member) => `${name}${name.includes(': ') ? '.' : ': '}${member}`;
  for (const [member, oldMember] of Object.entries(old.properties ?? {})) {
    const newMember = schema.properties?.[member];
    if (newMember) changes.push(...schemaChanges(context, nameOf(member), oldMember, newMember));
    else report('The member was removed', nameOf(member));
  }
  for (const member of wide.required ?? [])
    if (!narrow.required?.includes(member) && (side === 'request' || schema.properties?.[member]))
      report(
        side === 'request' ? 'The member is required now' : 'The member may be left out now',
        nameOf(member),
      );
  if (old.items && schema.items)
    changes.push(...schemaChanges(context, `${name}[]`, old.items, schema.items));
  else if (wide.items)
    report(side === 'request' ? 'The items have a type now' : 'The items may have any type now');
  const [oldRest, rest] = [old.additionalProperties ?? true, schema.additionalProperties ?? true];
  if (typeof oldRest === 'object' && typeof rest === 'object')
    changes.push(...schemaChanges(context, `${name}[*]`, oldRest, rest));
  else if (side === 'request' && rest !== true && differs(oldRest, rest))
    report('Other members are refused now');
  return changes;
}

/**
 * The alternatives of a schema, each with what stands beside all of them.
 *
 * @param {Schema} schema @returns {Schema[]}
 */
function alternatives({ anyOf, oneOf, ...common }) {
  const { properties, required = [] } = common;
  return (anyOf ?? oneOf ?? [{}]).map((one) =>
    one.$ref === undefined
      ? {
          ...common,
          ...one,
          ...((properties ?? one.properties) && { properties: { ...properties, ...one.properties } }),
          required: [...required, ...(one.required ?? [])],
        }
      : one,
  );
}

/** Whether every type of the narrow one is one of the wide one. @param {Schema} narrow @param {Schema} wide */
function admitsTypes(narrow, wide) {
  if (wide.type === undefined) return true;
  if (narrow.type === undefined) return false;
  const admitted = [wide.type].flat();
  return [narrow.type]
    .flat()
    .every((type) => admitted.includes(type) || (type === 'integer' && admitted.includes('number')));
}

/** @param {Schema} narrow @param {Schema} wide @param {Side} side @param {(message: string) => void} report */
function compareValues(narrow, wide, side, report) {
  const [narrowValues, wideValues] = [valuesOf(narrow), valuesOf(wide)];
  if (!wideValues) return;
  if (!narrowValues)
    report(side === 'request' ? 'Only listed values are accepted now' : 'Any value may be answered now');
  else if (side === 'request') {
    const refused = narrowValues.filter((value) => !wideValues.includes(value));
    if (refused.length > 0) report(`These values are refused now: ${refused.join(', ')}`);
  }
}

/** The values that a schema lists, as JSON. @param {Schema} schema */
function valuesOf(schema) {
  const values = 'const' in schema ? [schema.const] : schema.enum;
  return values?.map((value) => JSON.stringify(value));
}

/** @param {string} keyword @param {Schema} narrow @param {Schema} wide @param {Side} side */
function isTighter(keyword, narrow, wide, side) {
  const [own, limit] = [narrow[keyword], wide[keyword]];
  // A client that leaves the member out gets another value than before.
  if (keyword === 'default') return side === 'request' && differs(own, limit);
  if (limit === undefined) return false;
  // It says how many bits a program needs, and admits every integer that JSON carries exactly.
  if (keyword === 'format' && limit === 'int64') return false;
  if (LOWER_BOUNDS.has(keyword)) return own === undefined || Number(own) < Number(limit);
  if (UPPER_BOUNDS.has(keyword)) return own === undefined || Number(own) > Number(limit);
  return differs(own, limit);
}

/** @template {Schema | Answer} Part @param {Description} description @param {Part} part @returns {Part} */
function resolve({ components }, part) {
  if (part.$ref === undefined) return part;
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.*)$/.exec(part.$ref) ?? [];
  const named = /** @type {Record<string, Record<string, any>>} */ (components)[kind]?.[name];
  if (!named) throw new Error(`The description has no ${part.$ref}.`);
  return named;
}

/** @param {unknown} one @param {unknown} other */
function differs(one, other) {
  return JSON.stringify(one) !== JSON.stringify(other);
}

/** @param {unknown} value */
function show(value) {
  return value === undefined ? 'absent' : JSON.stringify(value);
}
