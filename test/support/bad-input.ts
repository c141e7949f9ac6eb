import fc from 'fast-check';

/** The type of a field, from which bad input for it is derived. */
export type Field =
  | { kind: 'cents'; valid: number; min?: number; max?: number }
  | { kind: 'reais'; valid: number }
  | { kind: 'text'; valid: string; max: number }
  | { kind: 'printable'; valid: string; max: number }
  | { kind: 'metadata'; valid: string }
  | { kind: 'url'; valid: string }
  | { kind: 'key'; valid: string }
  | { kind: 'choice'; valid: string }
  | { kind: 'choices'; valid: readonly string[] }
  | { kind: 'instant'; valid: string }
  /** An amount in a filter, or another number that may be 0. */
  | { kind: 'amount'; valid: number; max?: number }
  /** A name in a filter, of printable characters without a space. */
  | { kind: 'reference'; valid: string }
  /** A customer in a filter, by one of its two names. */
  | { kind: 'customer'; valid: object }
  | { kind: 'destination'; valid: string }
  | { kind: 'flag'; valid: boolean }
  /** A list or an object: its bad values, each with its fault, and values that name another's resource. */
  | {
      kind: 'composed';
      valid: unknown;
      wrong: Readonly<Record<string, readonly unknown[]>>;
      others?: readonly unknown[];
    }
  /** The content of a delivery. */
  | { kind: 'content'; valid: object }
  /** The id of an existing resource. `others` are ids of another account and of another environment. */
  | { kind: 'id'; valid: string; malformed: readonly string[]; others: readonly string[] };

/** A bad value of a field. */
export interface Bad {
  /** The reason why the value is bad, for the reader of a failure. */
  why: string;
  /** The value; `undefined` leaves the field out. */
  value: unknown;
  /** Whether the value is well formed and names no resource of the caller's. */
  absent?: boolean;
}

const bad = (why: string, ...values: unknown[]): fc.Arbitrary<Bad> =>
  fc.constantFrom(...values).map((value) => ({ why, value }));

const LONE_SURROGATES = ['\ud800', 'a\udfffb', '\udc00\ud800'];
const NUL = ['\u0000', 'a\u0000b'];
const NO_TEXTS = [0, 7, -1.5, true, [], ['a'], {}, { a: 1 }];
/** Texts that no text field accepts. */
const BAD_TEXTS = ['', ...NUL, ...LONE_SURROGATES, 7, true, ['a'], { a: 1 }];

const text = fc.oneof(
  bad('empty', ''),
  bad('a lone surrogate', ...LONE_SURROGATES),
  bad('U+0000', ...NUL),
  bad('a wrong type', ...NO_TEXTS),
);

const amount = fc.oneof(
  bad('negative', -1, -0.01, Number.MIN_SAFE_INTEGER),
  bad('above the safe integers', 2 ** 53, 2 ** 63, 1e300),
  bad('a wrong type', '100', 'abc', '', true, [], [100], {}, { $gt: 0 }),
);
const number = fc.oneof({ weight: 3, arbitrary: amount }, { weight: 1, arbitrary: bad('zero', 0) });

/** Generates input that the field must refuse. */
export function badInput(field: Field, required: boolean): fc.Arbitrary<Bad> {
  const ofType = badValues(field);
  return required
    ? fc.oneof(
        { weight: 1, arbitrary: bad('missing or null', undefined, null) },
        { weight: 6, arbitrary: ofType },
      )
    : ofType;
}

function badValues(field: Field): fc.Arbitrary<Bad> {
  switch (field.kind) {
    case 'cents':
      return fc.oneof(
        number,
        fc
          .double({ min: 1, max: 1e6, noInteger: true, noNaN: true })
          .map((value) => ({ why: 'a fraction of a cent', value })),
        ...(field.min === undefined ? [] : [bad('below the least', field.min - 1)]),
        ...(field.max === undefined ? [] : [bad('above the most', field.max + 1)]),
      );
    case 'reais':
      return fc.oneof(number, bad('a fraction of a cent', 1.005, 0.001, 12.345));
    case 'text':
      return fc.oneof(text, bad('too long by one', 'x'.repeat(field.max + 1)));
    case 'printable':
      return fc.oneof(
        text,
        bad('too long by one', 'x'.repeat(field.max + 1)),
        bad('a space at an end', ' 1042', '1042 ', '1042\u00a0', ' '),
        bad('a character that is not printed', 'a\nb', '\t', 'a\u007f', 'a\u200b', '\u202ea', 'a\u2028b'),
      );
    case 'metadata':
      return fc.oneof(
        bad('a lone surrogate', ...LONE_SURROGATES.map((lone) => `"${lone}"`)),
        bad('U+0000', ...NUL.map((nul) => `"${nul}"`)),
        bad('a wrong type', ...NO_TEXTS),
        bad('too long by one', `"${'x'.repeat(2047)}"`),
        bad('not JSON', '{', '{a:1}', "{'a':1}", 'undefined', '', '{"a":1}}'),
      );
    case 'url':
      return fc.oneof(
        text,
        bad('too long by one', `https://loja.example/${'a'.repeat(480)}`),
        bad(
          'no URL',
          'loja',
          '//loja.example',
          'javascript:alert(1)',
          'data:,x',
          'https://',
          'http://a:b@loja.example/',
        ),
      );
    case 'key':
      return fc.oneof(
        bad('a wrong type', ...NO_TEXTS),
        bad('empty', ''),
        bad('a character that no key has', 'a b ', ' a', 'ç', 'a\tb', 'a\n', ...LONE_SURROGATES, ...NUL),
        bad('too long by one', 'k'.repeat(129)),
      );
    case 'choice':
      return fc.oneof(
        text,
        bad('none of them', 'no_method', 'UNKNOWN', 'unknown', '__proto__', 'constructor'),
      );
    case 'choices':
      return bad(
        'none of them',
        'no_such',
        ['no_such'],
        ['UNKNOWN'],
        'unknown',
        [null],
        [[]],
        0,
        true,
        {},
        NUL,
      );
    case 'instant':
      return bad(
        'no instant',
        '',
        'ontem',
        '2026',
        '2026-01-01',
        '2026-13-01T00:00:00Z',
        '2026-02-30T00:00:00Z',
        0,
        true,
        [],
        {},
        ...NUL,
      );
    case 'amount':
      return fc.oneof(
        amount,
        bad('a fraction of a cent', 0.5, 1.001),
        ...(field.max === undefined ? [] : [bad('above the most', field.max + 1)]),
      );
    case 'reference':
      return fc.oneof(
        text,
        bad('too long by one', 'x'.repeat(129)),
        bad('a character that no name has', 'a b', 'ç', '\t', 'a\u007f', '\u202ea'),
      );
    case 'customer':
      return bad(
        'not one of its names',
        ...['x', 7, true, [], {}, { email: null }, { email: 'a@b.example', externalId: '1' }, { other: 'a' }],
        ...[...NUL, ...LONE_SURROGATES, '', 'x'.repeat(255)].map((email) => ({ email })),
        ...[...NUL, ...LONE_SURROGATES, '', 'x'.repeat(201), 7].map((externalId) => ({ externalId })),
      );
    case 'content':
      return fc.oneof(
        bad('no content', {}, { text: null }, { other: 'a' }),
        bad('two members', { text: 'a', codes: ['b'] }, { text: 'a', link: 'https://loja.example/' }),
        bad(
          'a bad text',
          ...['', 'x'.repeat(4_001), ...NUL, ...LONE_SURROGATES].map((each) => ({ text: each })),
        ),
        bad(
          'a bad link',
          ...['javascript:alert(1)', 'http://loja.example/', 'loja', 'https://a:b@loja.example/'].map(
            (link) => ({ link }),
          ),
          { link: `https://loja.example/${'a'.repeat(1_980)}` },
        ),
        bad('bad codes', ...[[], [''], ['a', 'a'], ['x'.repeat(501)], [7], NUL].map((codes) => ({ codes })), {
          codes: Array.from({ length: 1_001 }, (_, index) => `C-${index}`),
        }),
        bad('a wrong type', 0, 'texto', true, [], ['a']),
      );
    case 'destination':
      return fc.oneof(
        text,
        bad('wrong check digits', '12345678900', '11222333000182', '11111111111', '12ABC34501DE36'),
        bad('no destination', 'ana', '@psa.example', '+1', 'ltc1qwrong', '0x00', '123e4567-e89b-42d3-a456'),
      );
    case 'flag':
      return bad('a wrong type', 'true', 1, 0, [], {});
    case 'composed':
      return fc.oneof(
        ...Object.entries(field.wrong).map(([why, values]) => bad(why, ...values)),
        ...(field.others ?? []).map((value) => fc.constant({ why: 'another’s', value, absent: true })),
      );
    case 'id':
      return fc.oneof(
        text,
        bad('malformed', ...field.malformed),
        ...field.others.map((value) => fc.constant({ why: 'another’s', value, absent: true })),
      );
  }
}

// ── Lists and objects ───────────────────────────────────────────────────────────────────────────

/** The customer of a payment. */
export function customer(valid: { name: string }): Field {
  const of = (member: string, values: readonly unknown[]) => values.map((value) => ({ [member]: value }));
  return {
    kind: 'composed',
    valid,
    wrong: {
      'a wrong type': ['x', 7, true, [7]],
      'a bad name': of('name', [...BAD_TEXTS, 'x'.repeat(201)]),
      'a bad e-mail': of('email', [...BAD_TEXTS, 'ana', 'a b@c.example', `${'x'.repeat(250)}@a.example`]),
      'a bad externalId': of('externalId', [...BAD_TEXTS, 'x'.repeat(201)]),
      'no CPF or CNPJ': of('taxId', [
        ...[...BAD_TEXTS, 12345678909, '12345678900', '123.456.789-0', '11111111111', '11222333000182'],
        ...['12345678909 ', '\uff11\uff12\uff1345678909', '123456789-09', '12ABC34501DE36'],
      ]),
    },
  };
}

/** Documents of a dispute's evidence. */
export function documents(valid: readonly { url: string; description?: string }[]): Field {
  const [first] = valid as [(typeof valid)[number]];
  return {
    kind: 'composed',
    valid,
    wrong: {
      'a wrong type': ['x', 7, true, {}, [7], ['a'], [null], [[]], [{}]],
      'more than ten': [Array(11).fill(first)],
      'a bad URL': [
        ...[...BAD_TEXTS, null, 'loja', 'http://loja.example/', 'https://localhost/', 'javascript:alert(1)'],
        ...['https://a:b@loja.example/', 'https://127.0.0.1/', `https://loja.example/${'a'.repeat(480)}`],
      ].map((url) => [{ url }]),
      'a bad description': [...BAD_TEXTS, 'x'.repeat(201)].map((description) => [{ ...first, description }]),
      'a bad one behind a good one': [[first, { url: 'http://loja.example/' }]],
    },
  };
}

/** The parts of a charge of 49,90, as one interface writes them: `split` makes a part from a subaccount and a share. */
export function splits(
  split: (subaccountId: unknown, share: object) => object,
  { valid, malformed, others }: { valid: string; malformed: readonly string[]; others: readonly string[] },
): Field {
  const fixed = { amountCents: 100 };
  const shares = (member: string, values: readonly unknown[]) =>
    values.map((value) => [split(valid, { [member]: value })]);
  const subaccount = (nth: number) => `sacc_${String(nth).padStart(32, '0')}`;
  return {
    kind: 'composed',
    valid: [split(valid, fixed)],
    wrong: {
      'a wrong type': [0, 'x', true, {}, [7], ['a'], [null], [[]], [{}]],
      nobody: [[]],
      'more than nine': [Array.from({ length: 10 }, (_, nth) => split(subaccount(nth), fixed))],
      'one of them twice': [[split(valid, fixed), split(valid, fixed)]],
      'a bad subaccount': [...BAD_TEXTS, undefined, null, ...malformed].map((id) => [split(id, fixed)]),
      'no share, or two': [{}, { amountCents: 100, percent: '10' }].map((share) => [split(valid, share)]),
      'a bad amount': shares('amountCents', [0, -1, 1.5, '100', 2 ** 53, true, [], {}]),
      'a bad percentage': shares('percent', [
        '0',
        '-1',
        '100.01',
        '1.005',
        '1e2',
        ' ',
        'x',
        ...BAD_TEXTS.slice(0, 3),
      ]),
      'more than the charge': shares('amountCents', [4_991]),
    },
    others: others.map((id) => [split(id, fixed)]),
  };
}

/** The amount of a checkout token. */
export function checkoutAmount({
  valid,
  malformed,
  others,
}: {
  valid: string;
  malformed: readonly string[];
  others: readonly string[];
}): Field {
  return {
    kind: 'composed',
    valid: { productId: valid },
    wrong: {
      'a wrong type': ['x', 7, true, [7]],
      'no amount, or two': [{}, { fixedCents: 100, productId: valid }, { fixedCents: null }],
      'a bad amount': [0, 79, -1, 80.5, '100', 10_000_000_001, 2 ** 53, true, {}].map((fixedCents) => ({
        fixedCents,
      })),
      'a bad range': [
        ...['x', 7, [], {}, { minCents: 100 }, { minCents: 200, maxCents: 100 }],
        ...[
          { minCents: 79, maxCents: 100 },
          { minCents: 100, maxCents: 10_000_000_001 },
        ],
      ].map((range) => ({ range })),
      'a bad product': [...BAD_TEXTS, ...malformed].map((productId) => ({ productId })),
    },
    others: others.map((productId) => ({ productId })),
  };
}

/** Values of an enum, none of them twice. */
export function distinct(valid: readonly string[]): Field {
  return {
    kind: 'composed',
    valid,
    wrong: {
      'none of them': [
        'no_such',
        ['no_such'],
        ['UNKNOWN'],
        [valid[0]!.toLowerCase()],
        [null],
        [[]],
        0,
        true,
        {},
        NUL,
      ],
      'no value': [[]],
      'one of them twice': [[valid[0], valid[0]]],
    },
  };
}

/** Origins of pages. */
export function origins(valid: readonly string[]): Field {
  return {
    kind: 'composed',
    valid,
    wrong: {
      'a wrong type': [7, true, {}, [7], [[]], [null]],
      'no origin': [
        ...['x', 'loja.example', 'https://loja.example/path', 'javascript:alert(1)', 'ftp://loja.example'],
        ...['https://a:b@loja.example', '', ...NUL, ...LONE_SURROGATES],
      ].map((origin) => [origin]),
      'more than 20': [Array.from({ length: 21 }, (_, nth) => `https://loja-${nth}.example`)],
    },
  };
}
