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
  /** An amount that is looked for, which may be 0. */
  | { kind: 'amount'; valid: number }
  /** A name that is looked for, of printable characters without a space. */
  | { kind: 'reference'; valid: string }
  /** A customer that is looked for, by one of its two names. */
  | { kind: 'customer'; valid: object }
  | { kind: 'destination'; valid: string }
  | { kind: 'flag'; valid: boolean }
  | { kind: 'object'; valid: object }
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
        bad('a character that no key has', 'a b', 'ç', 'a/b', 'a\n', ...LONE_SURROGATES, ...NUL),
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
        0,
        true,
        [],
        {},
        ...NUL,
      );
    case 'amount':
      return fc.oneof(amount, bad('a fraction of a cent', 0.5, 1.001));
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
    case 'object':
      return bad('a wrong type', 'x', 7, true, [7]);
    case 'id':
      return fc.oneof(
        text,
        bad('malformed', ...field.malformed),
        fc.constantFrom(...field.others).map((value) => ({ why: 'another’s', value, absent: true })),
      );
  }
}
