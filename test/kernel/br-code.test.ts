import { getCrcInfo, parseQR, QRParseMode, type TlvEntity } from 'emvco-qr-sdk';
import fc from 'fast-check';
import { hasError, isDynamicPix, parsePix } from 'pix-utils';
import { describe, expect, test } from 'vitest';
import { type BrCode, brCode, crc16, parseBrCode } from '../../server/src/kernel/br-code.ts';
import { anyText } from '../support/any-text.ts';
import { generated, sampled } from '../support/scale.ts';

const CHARGE = {
  url: 'pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25',
  amountCents: 12_345,
  merchantName: 'Padaria Sao Joao',
  merchantCity: 'Sao Paulo',
};
const CODE = brCode(CHARGE);

const PRINTABLE = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));

/** The code of these fields, with its CRC. */
function sealed(fields: string): string {
  const text = `000201${fields}6304`;
  return text + crc16(text);
}

/** A field of an id and a value. */
function field(id: string, value: string): string {
  return `${id}${String(value.length).padStart(2, '0')}${value}`;
}

const GUI = '0014br.gov.bcb.pix';
const ACCOUNT = field('26', `${GUI}${field('01', 'ana@padaria.example')}`);
const REST = '5204000053039865802BR5903Ana6008BRASILIA';

describe('a BR Code that is built', () => {
  test('A dynamic code has the fields of the manual in their order', () => {
    expect(CODE).toBe(
      '000201010212' +
        '2676' +
        '0014br.gov.bcb.pix2554pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25' +
        '520400005303986' +
        '5406123.455802BR' +
        '5916Padaria Sao Joao6009Sao Paulo' +
        '62070503***' +
        `6304${CODE.slice(-4)}`,
    );
  });

  test('An independent parser of EMV codes reads the same fields and confirms the CRC', () => {
    const values = (fields: TlvEntity[] | undefined) => fields?.map(({ tag, value }) => [tag, value]);
    const read = (code: string) => parseQR(code, { parseMode: QRParseMode.TLV }) as TlvEntity[];
    const fields = read(CODE);
    expect(fields.map(({ tag }) => tag).join(' ')).toBe('00 01 26 52 53 54 58 59 60 62 63');
    expect(values(fields)).toEqual(
      expect.arrayContaining([
        ['01', '12'],
        ['54', '123.45'],
        ['59', CHARGE.merchantName],
        ['60', CHARGE.merchantCity],
      ]),
    );
    expect(values(fields.find(({ tag }) => tag === '26')?.subTags)).toEqual([
      ['00', 'br.gov.bcb.pix'],
      ['25', CHARGE.url],
    ]);
    expect(getCrcInfo(CODE, fields)).toEqual({ value: CODE.slice(-4), isValid: true });
    const wrong = `${CODE.slice(0, -4)}${CODE.endsWith('0000') ? '1111' : '0000'}`;
    expect(getCrcInfo(wrong, read(wrong)).isValid).toBe(false);
  });

  test('An independent parser of PIX codes takes it for a dynamic one, and refuses each changed character', () => {
    const read = parsePix(CODE);
    if (hasError(read) || !isDynamicPix(read))
      throw new Error(`pix-utils reads another code: ${JSON.stringify(read)}`);
    expect(read).toMatchObject({
      url: CHARGE.url,
      merchantName: CHARGE.merchantName,
      merchantCity: CHARGE.merchantCity,
    });
    for (let at = 0; at < CODE.length; at += 1) {
      const changed = CODE.slice(0, at) + (CODE[at] === '1' ? '2' : '1') + CODE.slice(at + 1);
      expect(hasError(parsePix(changed)), changed).toBe(true);
    }
  });

  test('The CRC of the digits from 1 to 9 is the check value of CRC-16/CCITT-FALSE', () => {
    expect(crc16('123456789')).toBe('29B1');
    expect(crc16('')).toBe('FFFF');
  });

  test.each([
    ['Padaria São João', 'Padaria Sao Joao'],
    ['AÇAÍ & CIA ÀÉÎÕÜ Ñ', 'ACAI & CIA AEIOU N'],
    // These letters have combining accents.
    ['Sa\u0303o Joa\u0303o', 'Sao Joao'],
    ['Straße Łódź Smørbrød Œuvre', 'Strasse Lodz Smorbrod OEu'],
    ['Nº 1ª “Bar” d’Água – Sul', `No 1a "Bar" d'Agua - Sul`],
    ['  Loja\t\n\u00a0  Um\u2028Dois  ', 'Loja Um Dois'],
    ['Pão 🥖 Quente\u0000\u200d\ud800', 'Pao Quente'],
    ['Uma Loja De Nome Muito Comprido', 'Uma Loja De Nome Muito Co'],
    // The cut leaves no space at the end.
    ['Uma Loja De Nome Bem Mais Comprido', 'Uma Loja De Nome Bem Mais'],
    ['Uma Loja De Nome Longo Que Continua', 'Uma Loja De Nome Longo Qu'],
    ['', 'PSA'],
    [' \n', 'PSA'],
    ['面包店', 'PSA'],
  ])('The merchant name %j is written %j', (merchantName, written) => {
    expect(parseBrCode(brCode({ ...CHARGE, merchantName }))?.merchantName).toBe(written);
  });

  test.each([
    ['São José dos Campos', 'Sao Jose dos Ca'],
    ['Santana do Paraíso e Mais', 'Santana do Para'],
    ['Sao Sebastiao do Rio', 'Sao Sebastiao d'],
    ['Duas Barras Lá Longe', 'Duas Barras La'],
    ['東京', 'PSA'],
  ])('The city %j is written %j', (merchantCity, written) => {
    expect(parseBrCode(brCode({ ...CHARGE, merchantCity }))?.merchantCity).toBe(written);
  });

  test.each([
    ['an empty URL', { url: '' }],
    ['a URL of 78 characters', { url: 'a'.repeat(78) }],
    ['a URL with a scheme', { url: 'https://pix.example.com/1' }],
    ['a URL with a space', { url: 'pix.example.com/a b' }],
    ['a URL outside ASCII', { url: 'pix.example.com/é' }],
    ['an amount of 0', { amountCents: 0 }],
    ['a negative amount', { amountCents: -1 }],
    ['half a cent', { amountCents: 0.5 }],
    ['an amount that is no number', { amountCents: Number.NaN }],
    ['an amount of more than 13 characters', { amountCents: 1_000_000_000_000 }],
    ['an empty txid', { txid: '' }],
    ['a txid of 26 characters', { txid: 'a'.repeat(26) }],
    ['a txid with a hyphen', { txid: 'a-b' }],
  ])('A code is not built with %s', (_, wrong) => {
    expect(() => brCode({ ...CHARGE, ...wrong })).toThrow(RangeError);
  });
});

describe('a BR Code that is parsed', () => {
  const character = (unit: fc.Arbitrary<string>, maxLength: number) =>
    fc.string({ unit, minLength: 1, maxLength });
  const names = (maxLength: number) =>
    character(fc.constantFrom(...PRINTABLE), maxLength).filter((text) => !/^ | $| {2}/.test(text));
  const charges = fc.record({
    url: character(fc.constantFrom(...'abz019./-_'), 77),
    amountCents: fc.integer({ min: 1, max: 999_999_999_999 }),
    merchantName: names(25),
    merchantCity: names(15),
    txid: fc.option(character(fc.constantFrom(...'azAZ09'), 25)),
  });

  test('A code is parsed into the parts that it was built of', () => {
    fc.assert(
      fc.property(charges, (charge) => {
        const code = brCode(charge);
        expect(parseBrCode(code)).toEqual({ ...charge, key: null, isDynamic: true });
        expect(parseBrCode(`\n ${code}\r\n`)).toEqual(parseBrCode(code));
      }),
      { numRuns: generated(600) },
    );
  });

  test('A code is built of any names, and holds them in printable ASCII', () => {
    fc.assert(
      fc.property(anyText, anyText, (merchantName, merchantCity) => {
        const parsed = parseBrCode(brCode({ ...CHARGE, merchantName, merchantCity }));
        expect(parsed?.merchantName).toMatch(/^[!-~](?:[ -~]{0,23}[!-~])?$/);
        expect(parsed?.merchantCity).toMatch(/^[!-~](?:[ -~]{0,13}[!-~])?$/);
      }),
      { numRuns: generated(600) },
    );
  });

  test('A code with any one character changed is none', () => {
    const others = [...sampled(PRINTABLE, 4), '\u0000', '\n', '\u00a0', 'é', '０'];
    const accepted: string[] = [];
    for (let at = 0; at < CODE.length; at += 1)
      for (const other of others) {
        const changed = CODE.slice(0, at) + other + CODE.slice(at + 1);
        if (changed !== CODE && parseBrCode(changed)) accepted.push(changed);
      }
    expect(accepted).toEqual([]);
  });

  test('A code with one character less or more is none', () => {
    for (let at = 0; at < CODE.length; at += 1) {
      expect(parseBrCode(CODE.slice(0, at) + CODE.slice(at + 1))).toBeNull();
      expect(parseBrCode(`${CODE.slice(0, at)}0${CODE.slice(at)}`)).toBeNull();
      expect(parseBrCode(CODE.slice(0, at))).toBeNull();
    }
  });

  test.each<[string, string, Partial<BrCode>]>([
    [
      'the static code of the manual',
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
      {
        key: '123e4567-e12b-12d1-a456-426655440000',
        merchantName: 'Fulano de Tal',
        merchantCity: 'BRASILIA',
      },
    ],
    [
      'a static code with an amount',
      '00020126330014BR.GOV.BCB.PIX01115794666323452040000530398654041.005802BR5925CLENILTON CRUZ DE ALENCAR6006MANAUS62070503***6304FA88',
      {
        key: '57946663234',
        amountCents: 100,
        merchantName: 'CLENILTON CRUZ DE ALENCAR',
        merchantCity: 'MANAUS',
      },
    ],
    [
      'a static code with a reference',
      '00020126360014br.gov.bcb.pix0114+554199999999952040000530398654041.005802BR5915Jamie Lannister6009Sao Paulo621005061234566304A63E',
      {
        key: '+5541999999999',
        amountCents: 100,
        merchantName: 'Jamie Lannister',
        merchantCity: 'Sao Paulo',
        txid: '123456',
      },
    ],
    [
      'a dynamic code without an amount',
      '00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a995204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB',
      {
        url: 'pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99',
        merchantName: 'EMPRESA',
        merchantCity: 'SAO PAULO',
      },
    ],
    [
      'a code of the Pix API with a recurrence, in a template that is not read',
      '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741',
      {
        url: 'pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd441',
        merchantName: 'Fulano de Tal',
        merchantCity: 'BRASILIA',
      },
    ],
    [
      'a code of the Pix API for a recurrence alone',
      '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9',
      { merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA' },
    ],
  ])('A published code is read: %s', (_, code, parts) => {
    const none = { url: null, key: null, amountCents: null, txid: null };
    expect(parseBrCode(code)).toEqual({ ...none, isDynamic: parts.url !== undefined, ...parts });
  });

  test.each([
    ['0.01', 1],
    ['1', 100],
    ['1.5', 150],
    ['0000000012.34', 1_234],
    ['9999999999.99', 999_999_999_999],
    ['90071992547409.91', Number.MAX_SAFE_INTEGER],
    ['90071992547409.92', null],
    ['0', null],
    ['0.00', null],
    ['1.', null],
    ['.5', null],
    ['1.234', null],
    ['1,50', null],
    ['-1.00', null],
    ['+1', null],
    ['1e3', null],
    [' 1', null],
    ['0x10', null],
    ['1.2.3', null],
    ['9'.repeat(99), null],
  ])('An amount of %j is read as %j cents', (amount, cents) => {
    const code = sealed(ACCOUNT + field('54', amount) + REST);
    expect(parseBrCode(code)).toMatchObject({ key: 'ana@padaria.example', amountCents: cents });
  });

  test.each([
    ['the fields in another order', `${REST}${field('54', '1.00')}${ACCOUNT}`],
    ['the account in another of its places', `${field('51', `${GUI}0103abc`)}${REST}`],
    ['an account of another scheme beside it', `${field('27', '0008com.card0104abcd')}${ACCOUNT}${REST}`],
    ['an account of another scheme that holds no fields', `${field('27', 'card')}${ACCOUNT}${REST}`],
    ['an account of cards', `${field('02', '4000123412341234')}${ACCOUNT}${REST}`],
    ['fields that nobody knows', `${ACCOUNT}${REST}${field('61', '01234567')}${field('99', 'x')}`],
    ['neither name, city nor reference', `${ACCOUNT}5204000053039865802BR`],
  ])('A code is read with %s', (_, fields) => {
    expect(parseBrCode(sealed(fields))).toMatchObject({ url: null, isDynamic: false });
  });

  test.each([
    ['no account', REST],
    ['an account of another scheme', `${field('26', '0008com.card0104abcd')}${REST}`],
    ['two accounts of PIX', `${ACCOUNT}${ACCOUNT.replace('26', '27')}${REST}`],
    ['one field twice', `${ACCOUNT}${REST}5903Eva`],
    ['one field of the account twice', `${field('26', `${GUI}0103abc0103abd`)}${REST}`],
    ['a length beyond the end of the account', `${field('26', `${GUI}0199abc`)}${REST}`],
    ['a length beyond the end of the reference', `${ACCOUNT}${REST}${field('62', '0525abc')}`],
    ['a length beyond the end', `${ACCOUNT}${REST}6199abc`],
    ['a length of 00', `${ACCOUNT}${REST}6100`],
    ['a length that is no number', `${ACCOUNT}${REST}61+1a`],
    ['an id that is no number', `${ACCOUNT}${REST}A101a`],
    ['half of a field', `${ACCOUNT}${REST}610`],
    ['another CRC inside', `${ACCOUNT}${REST}6304ABCD`],
    ['another format', `${ACCOUNT}${REST}000201`],
    ['another currency', `${ACCOUNT}${REST.replace('986', '840')}`],
    ['no currency', `${ACCOUNT}${REST.replace('5303986', '')}`],
    ['a letter outside ASCII', `${ACCOUNT}${REST.replace('Ana', 'Aná')}`],
    ['U+0000', `${ACCOUNT}${REST.replace('Ana', 'A\u0000a')}`],
  ])('A code is none with %s', (_, fields) => {
    expect(parseBrCode(sealed(ACCOUNT + REST))).not.toBeNull();
    expect(parseBrCode(sealed(fields))).toBeNull();
  });

  test('A code whose CRC lies inside of another field is none', () => {
    const text = `000201${ACCOUNT}${REST}61146304`;
    expect(parseBrCode(`${text}${crc16(text)}`)).toBeNull();
  });

  test('A code of more than 512 characters is none', () => {
    const filled = (length: number) => {
      const used = sealed(ACCOUNT + REST).length;
      const sizes = [90, 90, 90, 90, length - used - 360];
      return sealed(ACCOUNT + REST + sizes.map((size, at) => field(`9${at}`, 'x'.repeat(size - 4))).join(''));
    };
    expect(filled(512)).toHaveLength(512);
    expect(parseBrCode(filled(512))).not.toBeNull();
    expect(parseBrCode(filled(513))).toBeNull();
    expect(parseBrCode(` ${filled(512)}`)).toBeNull();
  });

  test.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['a word', 'pix'],
    ['10,000 characters', '0'.repeat(10_000)],
    ['10,000 spaces before a code', `${' '.repeat(10_000)}${CODE}`],
    ['a code twice', CODE + CODE],
    ['a code in lower case', CODE.toLowerCase()],
    ['half of a surrogate pair', '\ud800'],
    ['a CRC alone', sealed('')],
  ])('A text is no code: %s', (_, text) => {
    expect(parseBrCode(text)).toBeNull();
  });

  test('No text makes the parser throw, not even where its CRC is right', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 200 });
    fc.assert(
      fc.property(fc.oneof(anyText, digits), (text) => {
        expect(parseBrCode(text)).toBeNull();
        const parsed = parseBrCode(sealed(ACCOUNT + REST + text));
        if (parsed) expect(parsed.key).toBe('ana@padaria.example');
      }),
      { numRuns: generated(600) },
    );
  });
});
