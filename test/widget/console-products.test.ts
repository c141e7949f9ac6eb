import { expect, it } from 'vitest';
import { contentProblem, readContent } from '../../widget/console/products/content-input.ts';

it('Codes are the lines of a text, without those that are empty', () => {
  expect(readContent('codes', ' AAAA-1\n\nBBBB-2 \r\n')).toEqual({
    content: { codes: ['AAAA-1', 'BBBB-2'] },
  });
});

it.each([
  ['codes', ' \n ', 'Escreva um código por linha.'],
  ['codes', 'a\n\nb\na', 'Linha 4: este código já está acima.'],
  ['codes', `a\n${'x'.repeat(501)}`, 'Linha 2: um código tem até 500 caracteres.'],
  [
    'codes',
    Array.from({ length: 1_001 }, (_, nth) => nth).join('\n'),
    'Envie até 1.000 códigos de cada vez.',
  ],
  [
    'codes',
    Array.from({ length: 200 }, (_, nth) => `${nth}`.padEnd(400, 'é')).join('\n'),
    'São códigos demais para um envio: divida a lista.',
  ],
  ['text', '  ', 'Escreva o texto.'],
  ['text', 'x'.repeat(4_001), 'O texto pode ter até 4.000 caracteres.'],
  ['link', '', 'Escreva o link.'],
  ['link', 'http://loja.example/a', 'Escreva o endereço inteiro, que começa com https://.'],
  ['link', 'javascript:alert(1)', 'Escreva o endereço inteiro, que começa com https://.'],
] as const)(
  'Content of the kind %s is refused before it is sent where it cannot be right',
  (member, text, problem) => {
    expect(readContent(member, text)).toEqual({ problem });
  },
);

it('A text and a link are sent as they are', () => {
  expect(readContent('text', ' Olá\nmundo ')).toEqual({ content: { text: 'Olá\nmundo' } });
  expect(readContent('link', 'https://loja.example/a?b=1')).toEqual({
    content: { link: 'https://loja.example/a?b=1' },
  });
});

it('A code that the server refuses is named by its number', () => {
  expect(contentProblem('content.codes.1')).toMatch(/^O código nº 2 não foi aceito/);
  expect(contentProblem('content.link')).toBe('O conteúdo não foi aceito: confira o texto.');
  expect(contentProblem('productId')).toBeUndefined();
});
