import { describe, expect, test } from 'vitest';
import { readFilter } from '../../server/src/kernel/list-filter.ts';
import { externalIdText, longExternalIdText, nameText } from '../../server/src/kernel/text.ts';

const DECOMPOSED = 'e\u0301';
const COMPOSED = 'é';

function messageOf({ error }: { error?: { issues: { message: string }[] } | undefined }): string | undefined {
  return error?.issues[0]?.message;
}

describe('a merchant’s own number', () => {
  test.each([
    ...[' ', '\u00a0', '\u2003', '\u3000', '\u202f', '\u205f', '\ufeff', '\u200b', '\u2060', '\u00ad'],
    ...['\t', '\u0085', '\u2028', '\u034f', '\u3164', '\u115f', '\uffa0', '\u2800', '\ufe0f', '\u{e0100}'],
  ])('The number 1042 with %j at an end is refused, as another number that looks the same', (unseen) => {
    for (const text of [`1042${unseen}`, `${unseen}1042`, unseen])
      expect(messageOf(externalIdText.safeParse(text))).toMatch(
        /^must not (begin or end with a space|contain)/,
      );
  });

  test('A space inside a number is a part of it', () => {
    expect(externalIdText.parse('pedido nº 1042')).toBe('pedido nº 1042');
  });

  test('A filter by a number finds it in either spelling, and refuses a space at an end', () => {
    const [found, typed] = [`pedido ${COMPOSED}`, `pedido ${DECOMPOSED}`];
    expect(readFilter({ externalId: typed, customer: { externalId: typed } })).toEqual({
      externalId: found,
      customer: { externalId: found },
    });
    expect(() => readFilter({ externalId: '1042 ' })).toThrow('filter.externalId: must not begin or end');
  });

  test('Two spellings of one letter are one number, and a letter counts as one', () => {
    expect(externalIdText.parse(`pedido ${DECOMPOSED}`)).toBe(externalIdText.parse(`pedido ${COMPOSED}`));
    expect(externalIdText.parse(DECOMPOSED.repeat(100))).toBe(COMPOSED.repeat(100));
    expect(longExternalIdText.parse(DECOMPOSED.repeat(200))).toBe(COMPOSED.repeat(200));
    expect(messageOf(longExternalIdText.safeParse(DECOMPOSED.repeat(201)))).toBe(
      'must have at most 200 characters',
    );
  });
});

describe('a name that payers see', () => {
  test.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'])(
    'A name with %j is refused: it turns the text around it',
    (turning) => {
      expect(messageOf(nameText({ max: 200 }).safeParse(`Rede ${turning}Varanda`))).toContain(
        'U+202A to U+202E',
      );
    },
  );

  test('A name keeps its spaces and its emoji, and its 200 letters are 200 however they were typed', () => {
    expect(nameText({ max: 200 }).parse(' Café 👩‍🍳 ')).toBe(' Café 👩‍🍳 ');
    expect(nameText({ max: 200 }).parse(DECOMPOSED.repeat(200))).toBe(COMPOSED.repeat(200));
  });
});
