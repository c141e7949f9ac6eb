import { createHash } from 'node:crypto';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
/** n × text. */
const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');
const inside = (levels: number, open: string, close: string, middle = '') =>
  open.repeat(levels) + middle + close.repeat(levels);

/** An operation with its parameters, as GraphQL over HTTP and over WebSocket send it. */
export interface Operation {
  query?: unknown;
  variables?: unknown;
  operationName?: unknown;
  extensions?: unknown;
}

/** JSON that is already written. */
class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A mutation that would create a payment if it ran. */
export const CREATE = 'mutation { createCardPayment(input: { valueCents: 100 }) { __typename } }';
const LOOKUP = (value: string) => `{ cardPayment(orderCode: ${value}) { id } }`;
const FOLLOW = 'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cursor } }';

const DEPTHS = [16, 100, 1_000, 10_000, 100_000, 500_000];

/** Each kind of nesting at each depth, with its name. */
const DEEP = DEPTHS.flatMap((levels): [string, Operation][] => [
  [`fields ${levels} levels deep`, { query: `{ wallet ${inside(levels, '{ wallet', '}', ' { id } ')} }` }],
  [`lists ${levels} levels deep`, { query: LOOKUP(inside(levels, '[', ']', '1')) }],
  [`objects ${levels} levels deep`, { query: LOOKUP(inside(levels, '{a:', '}', '1')) }],
  [`fragments ${levels} levels deep`, { query: `{ ${inside(levels, '... {', '}', CREATE.slice(8))} }` }],
  [
    `a type ${levels} levels deep`,
    { query: `query ($a: ${inside(levels, '[', ']', 'Int')}) { wallet { id } }` },
  ],
  [
    `variables ${levels} levels deep`,
    {
      query: 'query ($code: String!) { cardPayment(orderCode: $code) { id } }',
      variables: deepJson(levels, 'code'),
    },
  ],
  [`a cursor ${levels} levels deep`, { query: FOLLOW, variables: deepJson(levels, 'after') }],
  [
    `an input ${levels} levels deep`,
    {
      query: 'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename } }',
      variables: deepJson(levels, 'input', '{"valueCents":', '}'),
    },
  ],
]);

/** Nested JSON as a text: some programs cannot serialize such an object. */
function deepJson(levels: number, name: string, open = '[', close = ']'): RawJson {
  return new RawJson(`{${JSON.stringify(name)}:${inside(levels, open, close, '1')}}`);
}

export function bodyOf(operation: Operation): string {
  const members = Object.entries(operation).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${value instanceof RawJson ? value.text : JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

const WALLET_IDS = (count: number, field: (index: number) => string) =>
  `{ wallet { ${times(count, field)} } }`;

/** Requests that are all refused with BAD_USER_INPUT and 400, before any of them runs. */
export const REFUSED: [string, Operation][] = [
  ...DEEP,
  ['10,000 aliases', { query: `{ ${times(10_000, (index) => `a${index}: wallet { id }`)} }` }],
  [
    '400 aliases of a mutation',
    { query: `mutation { ${times(100, (index) => `a${index}: ${CREATE.slice(10, -1)}`)} }` },
  ],
  ['10,000 directives', { query: `{ wallet { id ${'@include(if: true) '.repeat(5_000)} } }` }],
  ['600 directives on one field', { query: `{ wallet { id ${'@skip '.repeat(600)} } }` }],
  ['600 unknown directives', { query: `{ wallet { id ${times(600, (index) => `@d${index}`)} } }` }],
  ['a fragment of itself', { query: '{ ...A } fragment A on Query { ...A wallet { id } }' }],
  [
    'a circle of 200 fragments',
    {
      query: `{ ...F0 } ${times(200, (index) => `fragment F${index} on Query { ...F${(index + 1) % 200} }`)}`,
    },
  ],
  [
    '180 fragments that spread all others',
    {
      query: `{ ...F0 } ${times(30, (index) => `fragment F${index} on Query { ${times(30, (other) => `...F${other}`)} }`)}`,
    },
  ],
  [
    'a bomb of fragments',
    {
      query: `{ ...F0 } ${times(100, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`)}
        fragment F100 on Query { wallet { id } }`,
    },
  ],
  ['one field 1,900 times', { query: WALLET_IDS(1_900, () => 'id') }],
  ['one alias 650 times', { query: WALLET_IDS(650, () => 'a: id') }],
  ['one object 480 times', { query: `{ viewer { credential } ${times(480, () => 'wallet { id }')} }` }],
  [
    'fields that conflict 600 times',
    { query: WALLET_IDS(600, (index) => (index % 2 ? 'a: id' : 'a: currency')) },
  ],
  [
    'one object inside itself, five wide',
    {
      query: `{ ${wide(4)} }`,
    },
  ],
  [
    '300 operations without a name for it',
    { query: times(300, (index) => `query Q${index} { __typename }`) },
  ],
  ['450 operations without a name', { query: times(450, () => '{ __typename }') }],
  ['an operation that is not there', { query: CREATE, operationName: 'other' }],
  ['an operation called __proto__', { query: CREATE, operationName: '__proto__' }],
  ['an operation called constructor', { query: CREATE, operationName: 'constructor' }],
  ['an operation of 90,000 characters', { query: CREATE, operationName: 'x'.repeat(90_000) }],
  ['an operation that is a number', { query: CREATE, operationName: 7 }],
  ['an operation that is a list', { query: CREATE, operationName: ['a'] }],
  [
    '400 variables that nobody uses',
    { query: `query (${times(400, (index) => `$v${index}: Int`)}) { wallet { id } }` },
  ],
  [
    '400 variables that nobody declares',
    { query: `{ ${times(45, (index) => `a${index}: cardPayment(orderCode: $v${index}) { id }`)} }` },
  ],
  ['600 unknown fields', { query: WALLET_IDS(600, (index) => `balanceCentz${index}`) }],
  ['a field of 90,000 characters', { query: `{ ${'w'.repeat(90_000)} }` }],
  [
    '400 unknown arguments',
    { query: `{ wallet(${times(400, (index) => `withdrawable${index}: 1`)}) { id } }` },
  ],
  ['400 unknown fragments', { query: `{ ${times(400, (index) => `...Unknown${index}`)} }` }],
  ['400 unknown types', { query: `{ ${times(400, (index) => `... on Walle${index} { id }`)} }` }],
  [
    '300 members of an input that are none',
    {
      query: `mutation { createCardPayment(input: { valueCents: 100 ${times(300, (index) => `valueCent${index}: 1`)} }) { __typename } }`,
    },
  ],
  [
    '5,000 members of an input that are none, as variables',
    {
      query: 'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename } }',
      variables: {
        input: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`valueCent${index}`, 1])),
      },
    },
  ],
  ...['Value "', ' cannot represent', ' at "a', '"; Argument "x" has invalid value '].map(
    (words): [string, Operation] => [
      `a member of an input called by ${JSON.stringify(words)} over and over`,
      {
        query:
          'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename } }',
        variables: { input: { valueCents: 100, [words.repeat(Math.floor(90_000 / words.length))]: 1 } },
      },
    ],
  ),
  ['a number of 50,000 digits', { query: `{ cardPayments(first: ${'9'.repeat(50_000)}) { totalCount } }` }],
  ['a number of 50,000 digits, as an amount', { query: CREATE.replace('100', '9'.repeat(50_000)) }],
  [
    'a number beyond all, as a variable',
    {
      query: 'query ($first: Int) { cardPayments(first: $first) { totalCount } }',
      variables: new RawJson('{"first":1e999999}'),
    },
  ],
  [
    'a list of 20,000 where there is one',
    {
      query: 'query ($first: Int) { cardPayments(first: $first) { totalCount } }',
      variables: { first: Array.from({ length: 20_000 }, () => 1) },
    },
  ],
  ['a string without an end', { query: `{ cardPayment(orderCode: "${'x'.repeat(90_000)}) { id } }` }],
  [
    'a block string without an end',
    { query: `{ cardPayment(orderCode: """${'\n '.repeat(30_000)}) { id } }` },
  ],
  ['20,000 escapes that are none', { query: `{ cardPayment(orderCode: "${'\\q'.repeat(20_000)}") { id } }` }],
  ['half of a character', { query: `{ cardPayment(orderCode: "\\u{D800}") { id } }` }],
  ['a NUL between its words', { query: '{ \0 wallet { id } }' }],
  ['a name of other letters', { query: '{ wаllet { id } }' }],
  ['90,000 spaces and nothing else', { query: ' '.repeat(90_000) }],
  ['90,000 commas and nothing else', { query: ','.repeat(90_000) }],
  ['a comment of 90,000 characters', { query: `#${'x'.repeat(90_000)}` }],
  ['40,000 comments', { query: '#\n'.repeat(30_000) }],
  ['90,000 open brackets', { query: '{'.repeat(90_000) }],
  ['90,000 closed brackets', { query: '}'.repeat(90_000) }],
  ['a schema', { query: 'type Query { a: Int }' }],
  ['an extension of the schema', { query: `${CREATE} extend type Query { a: Int }` }],
  ['a query that is none', { query: { a: 1 } }],
  ['a query that is a list', { query: [CREATE] }],
  ['no query', {}],
  ['an empty query', { query: '' }],
  ['variables that are a list', { query: CREATE, variables: [1] }],
  ['variables that are a text', { query: CREATE, variables: '{}' }],
  [
    'more list items than an operation may ask for',
    { query: `{ ${times(50, (index) => `a${index}: cardPayments(first: 100) { nodes { id } }`)} }` },
  ],
  [
    'lists in lists',
    { query: '{ subaccounts(first: 100) { nodes { statement(first: 100) { nodes { id } } } } }' },
  ],
  [
    'two fields of a subscription',
    { query: 'subscription { a: allCardPaymentUpdates { cursor } b: allCardPaymentUpdates { cursor } }' },
  ],
  [
    'a subscription to 101 list items at each change',
    { query: 'subscription { allCardPaymentUpdates { cardPayment { id nothing } } }' },
  ],
];

/** n levels, each with five fields of the level below. */
function wide(levels: number): string {
  if (levels === 0) return 'id';
  return Array.from({ length: 5 }, () => `wallet { ${wide(levels - 1)} }`).join(' ');
}

/** Odd but harmless requests: each is answered, and the answer holds nothing that was not requested. */
export const ANSWERED: [string, Operation, unknown][] = [
  [
    'variables called __proto__',
    {
      query: '{ wallet { currency } }',
      variables: new RawJson('{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}}}'),
    },
    { wallet: { currency: 'BRL' } },
  ],
  [
    'a declared variable called __proto__',
    {
      query: 'query ($__proto__: String!) { cardPayment(orderCode: $__proto__) { id } }',
      variables: new RawJson('{"__proto__":"x"}'),
    },
    { cardPayment: null },
  ],
  [
    'a declared variable called constructor',
    { query: 'query ($constructor: String = "x") { cardPayment(orderCode: $constructor) { id } }' },
    { cardPayment: null },
  ],
  [
    'an alias called __proto__',
    { query: '{ wallet { constructor: currency } }' },
    { wallet: { constructor: 'BRL' } },
  ],
  [
    '8,000 variables that nobody uses',
    {
      query: '{ wallet { currency } }',
      variables: Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`k${index}`, 1])),
    },
    { wallet: { currency: 'BRL' } },
  ],
  [
    'the hash of a document, beside it',
    {
      query: '{ wallet { currency } }',
      extensions: { persistedQuery: { version: 1, sha256Hash: hashOf('{ wallet { currency } }') } },
    },
    { wallet: { currency: 'BRL' } },
  ],
  ['a NUL in its text', { query: LOOKUP('"\\u0000"') }, { cardPayment: null }],
  ['90,000 characters of text', { query: LOOKUP(`"${'x'.repeat(90_000)}"`) }, { cardPayment: null }],
  ['a mark of byte order', { query: '\uFEFF{ wallet { currency } }' }, { wallet: { currency: 'BRL' } }],
];
