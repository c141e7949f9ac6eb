/** The kinds of content that a form adds, as the members of the server's input are named. */
export type ContentMember = 'codes' | 'text' | 'link';

/** The input of a delivery's content, or the mistake in its text, in words. */
export type ContentInput = { content: object } | { problem: string };

const MAX_CODES = 1_000;
const MAX_CODE = 500;
const MAX_TEXT = 4_000;
const MAX_LINK = 2_000;
/** The server takes bodies of 64 kB; the rest is for the names around the text. */
const MAX_BYTES = 60_000;

const lengthOf = (text: string) => [...text].length;

/** Reads the text of a form: codes are lines, each of them once. */
export function readContent(member: ContentMember, text: string): ContentInput {
  if (member === 'codes') return readCodes(text);
  const content = text.trim();
  if (content === '') return { problem: member === 'text' ? 'Escreva o texto.' : 'Escreva o link.' };
  if (member === 'text')
    return lengthOf(content) > MAX_TEXT
      ? { problem: 'O texto pode ter até 4.000 caracteres.' }
      : { content: { text: content } };
  const isLink = URL.canParse(content) && new URL(content).protocol === 'https:';
  return isLink && lengthOf(content) <= MAX_LINK
    ? { content: { link: content } }
    : { problem: 'Escreva o endereço inteiro, que começa com https://.' };
}

function readCodes(text: string): ContentInput {
  const lines = text.split('\n').map((line) => line.trim());
  const codes = lines.filter(Boolean);
  if (codes.length === 0) return { problem: 'Escreva um código por linha.' };
  if (codes.length > MAX_CODES) return { problem: 'Envie até 1.000 códigos de cada vez.' };
  const seen = new Set<string>();
  for (const [index, code] of lines.entries()) {
    if (seen.has(code)) return { problem: `Linha ${index + 1}: este código já está acima.` };
    if (lengthOf(code) > MAX_CODE)
      return { problem: `Linha ${index + 1}: um código tem até 500 caracteres.` };
    if (code) seen.add(code);
  }
  if (new TextEncoder().encode(JSON.stringify(codes)).length > MAX_BYTES)
    return { problem: 'São códigos demais para um envio: divida a lista.' };
  return { content: { codes } };
}

/** The words for a member of the input that the server refuses, by its path; undefined for another one. */
export function contentProblem(path: string): string | undefined {
  const [, nth] = /^content\.codes\.(\d+)$/.exec(path) ?? [];
  if (nth !== undefined)
    return `O código nº ${Number(nth) + 1} não foi aceito: este produto já o teve, ou ele tem caracteres invisíveis. Nada foi acrescentado.`;
  return path.startsWith('content') ? 'O conteúdo não foi aceito: confira o texto.' : undefined;
}
