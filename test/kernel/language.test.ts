import { describe, expect, test } from 'vitest';
import { inLanguage, knownLanguage, languageTag } from '../../server/src/kernel/language.ts';

describe('a language', () => {
  test.each(['pt-BR', 'en', 'es'])('The tag %s is one', (tag) => {
    expect(languageTag.parse(tag)).toBe(tag);
    expect(knownLanguage(tag)).toBe(tag);
  });

  test.each(['pt', 'PT-BR', 'pt_BR', 'en-US', 'fr', '', null, 0, 'constructor'])(
    'The tag %j is none',
    (tag) => {
      const { success, error } = languageTag.safeParse(tag);
      expect(success).toBe(false);
      expect(error?.issues.map(({ message }) => message)).toEqual(['must be one of pt-BR, en, es']);
      expect(knownLanguage(tag as string)).toBeNull();
    },
  );
});

test.each([
  ['https://pay.example/PSC-1', 'https://pay.example/PSC-1?lang=es'],
  ['https://pay.example/PSC-1#pay', 'https://pay.example/PSC-1?lang=es#pay'],
  ['https://pay.example/?id=a%20b', 'https://pay.example/?id=a%20b&lang=es'],
  ['https://pay.example/?id=a#b#c?d', 'https://pay.example/?id=a&lang=es#b#c?d'],
  ['https://pay.example/?lang=fr', 'https://pay.example/?lang=fr'],
  ['https://pay.example/?id=1&lang=', 'https://pay.example/?id=1&lang='],
  ['https://pay.example/?slang=1', 'https://pay.example/?slang=1&lang=es'],
  ['https://pay.example/#?lang=en', 'https://pay.example/?lang=es#?lang=en'],
])('The address %s in Spanish is %s', (url, named) => {
  expect(inLanguage(url, 'es')).toBe(named);
});
