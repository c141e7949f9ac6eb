import { describe, expect, test } from 'vitest';
import { assertWholeFile, fileNameText, MEDIA_TYPES } from '../../../server/src/money-in/disputes/files.ts';
import { jpeg, pdf, png } from '../../support/evidence-files.ts';

const WHOLE = {
  'application/pdf': { name: 'nota.pdf', bytes: pdf() },
  'image/png': { name: 'nota.PNG', bytes: png() },
  'image/jpeg': { name: 'nota.jpeg', bytes: jpeg() },
} as const;
const refusal = (file: { name: string; mediaType: string; bytes: Buffer }): string => {
  try {
    assertWholeFile(file);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the bytes of a file', () => {
  test('A whole file is taken under its own type alone', () => {
    for (const [type, file] of Object.entries(WHOLE)) {
      expect(refusal({ mediaType: type, ...file })).toBe('');
      for (const other of MEDIA_TYPES.filter((each) => each !== type)) {
        const { name } = WHOLE[other];
        expect(refusal({ mediaType: other, name, bytes: file.bytes })).toMatch(
          /^body: must be a whole file of /,
        );
      }
    }
  });

  test.each([
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a picture that is text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['an archive', Buffer.from('PK\x03\x04%PDF-1.7 %%EOF')],
    ['a program', Buffer.from(`MZ${'\0'.repeat(80)}`)],
    ['one byte', Buffer.from('%')],
    ['a page before a PDF', Buffer.concat([Buffer.from('<html>'), pdf()])],
    ['a page behind a PDF', Buffer.concat([pdf(), Buffer.from('<html>')])],
    ['an archive behind a PDF', Buffer.concat([pdf(), Buffer.from('PK\x05\x06'), Buffer.alloc(18)])],
    ['a page behind a PNG', Buffer.concat([png(), Buffer.from('<script>')])],
    ['a page behind a JPEG', Buffer.concat([jpeg(), Buffer.from('<script>')])],
    ['a PDF that was cut off', pdf('x'.repeat(2_000)).subarray(0, -6)],
    ['a PNG that was cut off', png().subarray(0, -1)],
    ['a JPEG that was cut off', jpeg().subarray(0, -1)],
  ])('%s is no file of any type', (_, bytes) => {
    for (const type of MEDIA_TYPES)
      expect(refusal({ mediaType: type, name: WHOLE[type].name, bytes })).not.toBe('');
  });

  test('The ending of a name belongs to the type', () => {
    for (const name of ['nota.exe', 'nota.pdf.exe', 'nota', 'nota.html', 'pdf', '.png'])
      expect(refusal({ ...WHOLE['application/pdf'], mediaType: 'application/pdf', name })).toMatch(
        /^name: must end/,
      );
  });
});

describe('the name of a file', () => {
  test.each([
    'comprovante.pdf',
    'Nota fiscal nº 7 (cópia).pdf',
    'a; filename=b.pdf',
    "d'água.pdf",
    '100%.pdf',
  ])('%s is a name', (name) => expect(fileNameText.safeParse(name).success).toBe(true));

  test.each([
    ...[
      '',
      ' a.pdf',
      'a.pdf ',
      '.a.pdf',
      '../a.pdf',
      'a/b.pdf',
      'a\\b.pdf',
      'C:a.pdf',
      'a"b.pdf',
      'a<b>.pdf',
    ],
    ...[
      'a\0.pdf',
      'a\r\nx: y.pdf',
      'a\tb.pdf',
      'a\u202efdp.exe',
      'a\u200b.pdf',
      '\ud800.pdf',
      `${'a'.repeat(97)}.pdf`,
    ],
  ])('%j is no name', (name) => expect(fileNameText.safeParse(name).success).toBe(false));
});
