import { describe, expect, it } from 'vitest';
import { findBannedLanguage } from '../../server/scripts/language.mjs';

describe('the gate for the language', () => {
  it.each([
    ['a banned word', '// The client is told.', [{ line: 1, found: '“told”' }]],
    ['a banned word in a name of words', "it('tells whoever asks', pay);", [{ line: 1, found: '“whoever”' }]],
    ['a banned phrase over two lines', 'a\n// so\n// long', [{ line: 2, found: '“so long”' }]],
    ['a banned phrase with two spaces', 'waits so  long', [{ line: 1, found: '“so long”' }]],
    ['a capital letter', 'Likewise it waits.', [{ line: 1, found: '“Likewise”' }]],
    [
      'a doc comment of one line that begins with What',
      'const a = 1;\n/** What it is. */',
      [{ line: 2, found: 'a doc comment that begins with “What”' }],
    ],
    [
      'a doc comment of several lines that begins with Of',
      '/**\n * Of the tenant.\n */',
      [{ line: 1, found: 'a doc comment that begins with “Of”' }],
    ],
    [
      'a description of the schema that begins with By',
      'type Payout {\n  """By what it leaves."""\n  method: PayoutMethod!\n}',
      [{ line: 2, found: 'a description that begins with “By”' }],
    ],
    [
      'a description of several lines that begins with Who',
      '"""\nWho pays.\n"""\ntype Customer {',
      [{ line: 1, found: 'a description that begins with “Who”' }],
    ],
    ['a description of the schema that begins with a noun', '"""The payer."""\ntype Customer {', []],
    ['a comment inside of a function, which may', '// What follows is the answer.', []],
    ['a longer word', 'recommended, amended, folded, soldier', []],
    ['a doc comment that begins with a noun', '/** The tenant of a row. */', []],
  ])('The gate for the language reports exactly what it bans: %s', (_, text, expected) => {
    expect(findBannedLanguage(text)).toEqual(expected);
  });

  const comment = '/** When it was paid. */';
  const found = [{ line: 1, found: 'a doc comment that begins with “When”' }];

  it.each([
    ['of the server', 'server/src/money-in/pix/model.ts', found],
    ['of the scripts', 'server/scripts/check.mjs', found],
    ['of the widget', 'widget/src/pix.ts', found],
    ['of the demo', 'widget/demo/shop.ts', found],
    ['of the tests', 'test/run.mjs', found],
    ['of a document, which may', 'server/docs/guide.md', []],
  ])(
    'The gate for the language bans an opening without a subject in the sources: %s',
    (_, file, expected) => {
      expect(findBannedLanguage(comment, file)).toEqual(expected);
    },
  );

  it.each([
    [
      'of an error',
      '/** Reads it. @throws HttpError (404) where it is gone. */',
      '“@throws HttpError (404) where”',
    ],
    ['of an absent value', '/**\n * The page; null\n * where there is no next one.\n */', '“null where”'],
    ['of a failure', '// Rejects where the port is taken.', '“Rejects where”'],
    ['of an absence', '/** The cursor, or the first where there is none. */', '“where there is none”'],
    ['of another kind', '/** Reads a list; empty if it is none. */', '“if it is none”'],
    ['that is a place', '/** The position where the log ends. Null if there is none. */', null],
    ['in a text of the program', "const text = 'null where it is unknown';", null],
  ])('The gate for the language has conditions of a source say “if”: %s', (_, text, where) => {
    const faults = findBannedLanguage(text, 'server/src/money-in/pix/model.ts');
    expect(faults.map(({ found: words }) => words)).toEqual(where === null ? [] : [`${where}: say “if”`]);
    expect(findBannedLanguage(text, 'server/docs/guide.md')).toEqual([]);
  });

  const british = 'The colour of `colour`, see [it](#colour).';

  it.each([
    ['the README', 'README.md', british, 'colour'],
    ['a document', 'server/docs/guide.md', british, 'colour'],
    ['the schema', 'schema.graphql', '"Authorised once."', 'Authorised'],
    [
      'the texts of the element',
      'widget/src/locales/en.ts',
      "  recognised: 'still recognised',",
      'recognised',
    ],
    [
      'the texts of the pages',
      'server/src/api/checkout-page/texts/en.ts',
      'authorise: () => `no instalment`,',
      'instalment',
    ],
  ])(
    'The gate for the language finds one British spelling in %s, and none in a name',
    (_, file, text, word) => {
      expect(findBannedLanguage(text, file)).toEqual([{ line: 1, found: `the British “${word}”` }]);
      expect(findBannedLanguage(text, 'server/src/money-in/pix/model.ts')).toEqual([]);
    },
  );

  it('The gate for the language bans an opening without a subject in the schema', () => {
    expect(findBannedLanguage('  """As given."""\n  name: String', 'schema.graphql')).toEqual([
      { line: 1, found: 'a description that begins with “As”' },
    ]);
  });
});
