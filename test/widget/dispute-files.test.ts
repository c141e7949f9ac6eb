import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { assertWholeFile, fileNameText } from '../../server/src/money-in/disputes/files.ts';
import { readFile, sha256Of } from '../../widget/src/disputes/files.ts';

const PDF = '%PDF-1.7\n%%EOF';

test.each([
  ['nota: 12.pdf', '', 'nota- 12.pdf'],
  ['NOTA.PDF', 'image/png', 'NOTA.PDF'],
  ['foto.jfif', 'image/jpeg', 'foto.pdf'],
  ['a/b\\c*?"<>|.pdf', '', 'a-b-c------.pdf'],
  ['..oculto', '', 'oculto.pdf'],
  ['.pdf', '', 'pdf.pdf'],
  ['.', '', '1.pdf'],
  [' relatório\u202e final.v2 ', '', 'relatório final.v2.pdf'],
  [`${'é'.repeat(120)}.pdf`, '', `${'é'.repeat(96)}.pdf`],
])(
  'A PDF whose name is %j, of the type %j for its system, is one with a name that the server takes',
  async (given, type, name) => {
    const file = (await readFile(new File([PDF], given, { type }))) as File;
    expect([file.name, file.type, await file.text()]).toEqual([name, 'application/pdf', PDF]);
    expect(fileNameText.parse(file.name)).toBe(file.name);
    assertWholeFile({ name: file.name, mediaType: file.type, bytes: Buffer.from(PDF) });
  },
);

test('A JPEG keeps the longer ending, and other bytes are of no type whatever they are called', async () => {
  const jpeg = new Uint8Array([0xff, 0xd8, 0xff, 0xe0]);
  expect(((await readFile(new File([jpeg], 'a.JPEG'))) as File).name).toBe('a.JPEG');
  expect(((await readFile(new File([jpeg], 'a.jfif'))) as File).name).toBe('a.jpg');
  expect(await readFile(new File(['GIF89a'], 'a.pdf', { type: 'application/pdf' }))).toBe('wrongType');
});

test('The SHA-256 of a file is the one that the server has', async () => {
  expect(await sha256Of(new File([PDF], 'a.pdf'))).toBe(createHash('sha256').update(PDF).digest('hex'));
});
