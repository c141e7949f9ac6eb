import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  kindOfPixKey,
  maskPixKey,
  PIX_KEY_KINDS,
  type PixKeyKind,
  parsePixKey,
  parseTypedPixKey,
} from '../../server/src/kernel/pix-key.ts';
import { anyText } from '../support/any-text.ts';
import { generated } from '../support/scale.ts';

describe('a PIX key', () => {
  test.each<[PixKeyKind, string, string]>([
    ['cpf', '12345678909', '12345678909'],
    ['cpf', '123.456.789-09', '12345678909'],
    ['cpf', '529.982.247-25', '52998224725'],
    ['cnpj', '11222333000181', '11222333000181'],
    ['cnpj', '11.222.333/0001-81', '11222333000181'],
    ['cnpj', '12ABC34501DE35', '12ABC34501DE35'],
    ['cnpj', '12.abc.345/01de-35', '12ABC34501DE35'],
    ['phone', '+5511987654321', '+5511987654321'],
    ['phone', '+551133334444', '+551133334444'],
    ['email', 'Ana@Padaria.Example', 'ana@padaria.example'],
    ['email', "a.!#$&'*+/=?^_`{|}~-@x.br", "a.!#$&'*+/=?^_`{|}~-@x.br"],
    ['random', '123E4567-E89B-12D3-A456-426614174000', '123e4567-e89b-12d3-a456-426614174000'],
  ])('A PIX key of the kind %s is parsed into its normal form: %s', (kind, text, key) => {
    expect(parsePixKey(text)).toEqual({ kind, key });
    for (const type of [kind, null]) expect(parseTypedPixKey(text, type)).toEqual({ key, wrong: null });
    for (const other of PIX_KEY_KINDS.filter((each) => each !== kind))
      expect(parseTypedPixKey(text, other)).toEqual({ key: null, wrong: 'type', why: expect.any(String) });
    expect(kindOfPixKey(key)).toBe(kind);
    // The masks of a phone and of a random key are equal.
    const isShown = kind !== 'phone' && kind !== 'random';
    expect(kindOfPixKey(maskPixKey(key))).toBe(isShown ? kind : null);
    // A normal form is unchanged by parsing.
    expect(parsePixKey(key)).toEqual({ kind, key });
  });

  test.each([
    '',
    ' ',
    '123.456.789-08',
    '12345678900',
    '12345678919',
    '111.111.111-11',
    '00000000000',
    '123456789-09',
    '1234567890',
    '123.456.78909',
    ' 12345678909',
    '12345678909\n',
    '11222333000182',
    '11222333000191',
    '11.222.333/0001-18',
    '12ABC34501DE36',
    '12ABC34501DEA5',
    '00000000000000',
    '11.222.3330001-81',
    '5511987654321',
    '+55119876543210',
    '+5500987654321',
    '+5511187654321',
    '+14155552671',
    '(11) 98765-4321',
    '@x.br',
    'ana@',
    'ana@localhost',
    'ana@x..br',
    'ana@-x.br',
    'ana souza@x.br',
    'ana@x.br\u0000',
    'ana\ud83e@x.br',
    `${'a'.repeat(73)}@x.br`,
    '123e4567e89b12d3a456426614174000',
    '123e4567-e89b-12d3-a456-42661417400',
    '123e4567-e89b-12d3-a456-42661417400g',
    'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  ])('A text that is no PIX key is refused: %j', (text) => {
    expect(parsePixKey(text)).toBeNull();
    expect(parseTypedPixKey(text, null)).toMatchObject({ key: null, wrong: 'key' });
  });

  test('Eleven digits are a CPF, and the phone that they are too where their writer says so', () => {
    const digits = '11987650034';
    expect(parseTypedPixKey(digits, null)).toEqual({ key: digits, wrong: null });
    expect(parseTypedPixKey(digits, 'cpf')).toEqual({ key: digits, wrong: null });
    for (const text of [digits, `+55${digits}`, `55${digits}`, '(11) 98765-0034', '+55 11 98765-0034'])
      expect(parseTypedPixKey(text, 'phone')).toEqual({ key: `+55${digits}`, wrong: null });
    // 55 is an area code as well as the country's.
    expect(parseTypedPixKey('55987654321', 'phone')).toEqual({ key: '+5555987654321', wrong: null });
  });

  test.each([
    ['phone', '52998224725', 'type', 'a CPF'],
    ['phone', 'ana@padaria.example', 'type', 'an e-mail address'],
    ['cpf', '+5511987654321', 'type', 'a phone'],
    ['cnpj', '12345678909', 'type', 'a CPF'],
    ['email', '12345678909', 'type', 'a CPF'],
    ['random', '12345678909', 'type', 'a CPF'],
    ['phone', '+1 212 555 0100', 'key', 'must be a PIX key'],
    ['phone', '11 9876', 'key', 'must be a PIX key'],
    ['cpf', '11987654321', 'key', 'must be a PIX key'],
  ] as const)('A key that is no %s is refused: %s, with what is wrong', (type, text, wrong, why) => {
    const parsed = parseTypedPixKey(text, type);
    expect(parsed).toEqual({ key: null, wrong, why: expect.stringContaining(why) });
    expect(JSON.stringify(parsed)).not.toContain(text);
  });

  test('A text with a letter outside ASCII is no PIX key, even where the lower case of the letter is in ASCII', () => {
    expect('\u212a'.toLowerCase()).toBe('k');
    expect(parsePixKey('ana@pa\u212a.example')).toBeNull();
    expect(parsePixKey('jos\u00e9@padaria.example')).toBeNull();
  });

  test('An e-mail address of 77 characters is a PIX key', () => {
    expect(parsePixKey(`${'a'.repeat(72)}@x.br`)?.kind).toBe('email');
  });

  test('No text makes the parser of PIX keys throw, and no mask contains the whole key', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parsePixKey(text);
        if (parsed) expect(maskPixKey(parsed.key)).not.toContain(parsed.key);
      }),
      { numRuns: generated(1_000) },
    );
  });

  test.each([
    ['12345678909', '***.456.789-**'],
    ['11222333000181', '**.222.333/0001-**'],
    ['12ABC34501DE35', '**.ABC.345/01DE-**'],
    ['+5511987654321', '****4321'],
    ['ana@padaria.example', 'a***@padaria.example'],
    ['a@padaria.example', 'a***@padaria.example'],
    ['123e4567-e89b-12d3-a456-426614174000', '****4000'],
    ['whatever else', '****'],
  ])('The PIX key %s is shown masked as %s', (key, masked) => {
    expect(maskPixKey(key)).toBe(masked);
  });
});
