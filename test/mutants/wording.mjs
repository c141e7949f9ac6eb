// Code that is not mutated: texts for people. A client reads an error's class, code and fields, which are mutated.

/** Zod's checks, whose last argument is the message. */
const CHECKS = new Set(['boolean', 'enum', 'int', 'max', 'min', 'number', 'refine', 'regex', 'string']);
/** Functions that create an error from a text. */
const SAYS = new Set(['refuse', 'requiredOr']);
/** Texts of the REST description beside the types; test/api/http/openapi.test.ts holds them. */
const DESCRIPTION = new Set(['describe', 'meta']);

/**
 * The members of Babel's `NodePath` that are read here.
 * @typedef {{ node: any, parent: any, parentPath: Path | null, listKey?: string, key: string | number | null }} Path
 */

/**
 * @param {Path} path @returns {string | undefined} the reason why nothing in the path is mutated
 */
function shouldIgnore({ node, parent, listKey, key }) {
  if (listKey === 'arguments' && DESCRIPTION.has(parent.callee?.property?.name))
    return 'It says what the REST interface takes.';
  if (listKey === 'arguments' && isCheck(parent) && isSentence(node)) return WORDING;
  if (listKey === 'arguments' && SAYS.has(parent.callee?.name)) return WORDING;
  if (listKey === 'arguments' && isError(parent) && isSentence(node)) return WORDING;
  if (node.type === 'ObjectExpression' && isCheck(parent) && node.properties.every(isMessage)) return WORDING;
  if (parent?.type === 'ObjectProperty' && key === 'value' && parent.key.name === 'message') return WORDING;
  return undefined;
}

const WORDING = 'It is the wording of a message.';

/** @param {any} node */
function isCheck(node) {
  return node.type === 'CallExpression' && CHECKS.has(node.callee.property?.name);
}

/** @param {any} node */
function isError(node) {
  return node.type === 'NewExpression' && /Error$/.test(node.callee.name ?? '');
}

/** @param {any} property of an object that a check was given */
function isMessage(property) {
  return property.type === 'ObjectProperty' && ['error', 'message'].includes(property.key.name);
}

/** Whether a text is wording, and not a code, a path or a format. @param {any} node @returns {boolean} */
function isSentence(node) {
  switch (node.type) {
    case 'StringLiteral':
      return node.value.includes(' ');
    case 'TemplateLiteral':
      return node.quasis.some((/** @type {any} */ { value }) => value.raw.includes(' '));
    case 'BinaryExpression':
      return node.operator === '+' && isSentence(node.left) && isSentence(node.right);
    default:
      return false;
  }
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'wording', value: { shouldIgnore } }];
