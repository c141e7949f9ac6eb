import { describe, expect, it } from 'vitest';
import { findBannedLanguage } from '../../server/scripts/language.mjs';

describe('the gate for the language', () => {
  it.each([
    ['a banned word', '// The client is told.', [{ line: 1, found: '“told”' }]],
    ['a banned word in a name of words', "it('tells whoever asks', pay);", [{ line: 1, found: '“whoever”' }]],
    ['a banned phrase over two lines', 'a\n// so\n// long', []],
    ['a banned phrase with two spaces', 'waits so  long', [{ line: 1, found: '“so  long”' }]],
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
    ['a comment inside of a function, which may', '// What follows is the answer.', []],
    ['a longer word', 'recommended, amended, folded, soldier', []],
    ['a doc comment that begins with a noun', '/** The tenant of a row. */', []],
  ])('The gate for the language reports exactly what it bans: %s', (_, text, expected) => {
    expect(findBannedLanguage(text)).toEqual(expected);
  });
});
