// The file of a batch of payouts: CSV as Excel writes it in Brazil, or plain.
import { parseCents } from '../demo/shared/format.ts';
import type { KeyType } from '../demo/shared/payout-terms.ts';

/** The most rows of a batch, as the server has it: a hundred hours of the limit. */
const MAX_ROWS = 1_000;
/** The largest file that is read. */
export const MAX_BYTES = 1_000_000;

/** A row as the server reads it. A member that the file does not show is missing, or is no such value. */
export interface Row {
  method: string;
  amountCents?: number;
  destination: string;
  pixKeyType?: string;
  externalId?: string;
}

/** A mistake, with the line of the file that it is in. */
export interface FileError {
  line: number;
  /** The column as the file names it; empty for the whole line. */
  column: string;
  message: string;
}

export interface BatchFile {
  /** The rows, each with its line. One with a mistake is there so that the server finds the others in it. */
  rows: { line: number; row: Row }[];
  errors: FileError[];
  /** The names of the columns as the file has them. */
  columns: Partial<Record<Column, string>>;
}

const COLUMNS = {
  amount: ['valor', 'amount'],
  destination: ['destino', 'chave', 'chave_pix', 'destination'],
  method: ['metodo', 'forma', 'method'],
  keyType: ['tipo', 'tipo_chave', 'tipo_da_chave', 'pixkeytype'],
  externalId: ['referencia', 'sua_referencia', 'externalid'],
} as const;
type Column = keyof typeof COLUMNS;

const METHODS: Readonly<Record<string, string>> = {
  '': 'pix',
  pix: 'pix',
  pix_turbo: 'pix_turbo',
  turbo: 'pix_turbo',
  ltc: 'ltc',
  litecoin: 'ltc',
  usdt: 'usd',
  usd: 'usd',
};
const TYPES: Readonly<Record<string, KeyType>> = {
  cpf: 'cpf',
  cnpj: 'cnpj',
  celular: 'phone',
  telefone: 'phone',
  phone: 'phone',
  email: 'email',
  e_mail: 'email',
  aleatoria: 'random',
  chave_aleatoria: 'random',
  random: 'random',
};

/** A name without accents, in lower case, with underscores. */
const nameOf = (text: string) =>
  text.normalize('NFD').replace(/\p{M}/gu, '').trim().toLowerCase().replace(/[ -]+/g, '_');

/** Decodes a file: UTF-8, or else the encoding in which Excel saves plain CSV. */
export function decodeFile(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Reads the rows of a file, whose first line names the columns. */
export function readBatch(text: string): BatchFile {
  const [head, ...records] = recordsOf(text.replace(/^\uFEFF/, ''));
  if (!head)
    return { rows: [], errors: [{ line: 1, column: '', message: 'O arquivo está vazio.' }], columns: {} };
  const columns: BatchFile['columns'] = {};
  const places = new Map<Column, number>();
  const errors: FileError[] = [];
  for (const [place, name] of head.cells.entries()) {
    const found = (Object.keys(COLUMNS) as Column[]).find((column) =>
      (COLUMNS[column] as readonly string[]).includes(nameOf(name)),
    );
    const error = !found
      ? 'Esta coluna não é conhecida. As colunas são valor, destino, forma, tipo e referência.'
      : places.has(found)
        ? 'Esta coluna está duas vezes no arquivo.'
        : '';
    if (error) errors.push({ line: head.line, column: name.trim() || `${place + 1}ª`, message: error });
    else places.set(found!, place);
    if (found) columns[found] = name.trim();
  }
  for (const needed of ['amount', 'destination'] as const)
    if (!places.has(needed))
      errors.push({
        line: head.line,
        column: COLUMNS[needed][0],
        message: 'Falta esta coluna. A primeira linha do arquivo tem os nomes das colunas.',
      });
  if (errors.length === 0 && records.length === 0)
    errors.push({ line: head.line, column: '', message: 'O arquivo não tem nenhum saque.' });
  if (records.length > MAX_ROWS)
    errors.push({
      line: records[MAX_ROWS]!.line,
      column: '',
      message: `O arquivo tem ${records.length} saques. Um lote tem até ${MAX_ROWS}.`,
    });
  if (errors.length > 0) return { rows: [], errors, columns };
  const rows: BatchFile['rows'] = [];
  for (const record of records) {
    const { line } = record;
    const read = readRow(record, head.cells.length, places);
    errors.push(
      ...read.errors.map(({ column, message }) => ({ line, column: columns[column] ?? '', message })),
    );
    if (read.row) rows.push({ line, row: read.row });
  }
  return { rows, errors, columns };
}

function readRow(
  { cells, separator }: FileRecord,
  width: number,
  places: ReadonlyMap<Column, number>,
): { row: Row | null; errors: { column: Column; message: string }[] } {
  if (cells.length > width)
    return {
      row: null,
      errors: [
        {
          column: 'amount',
          message: 'A linha tem mais células do que colunas: um valor com vírgula precisa de aspas aqui.',
        },
      ],
    };
  const cell = (column: Column) => unguarded((cells[places.get(column) ?? -1] ?? '').trim());
  const amountCents = parseCents(cell('amount'));
  const problem = amountProblem(cell('amount'), cells[(places.get('amount') ?? -1) + 1] ?? '', separator);
  const method = METHODS[nameOf(cell('method'))];
  const type = nameOf(cell('keyType'));
  const destination = cell('destination');
  const externalId = cell('externalId');
  const errors = [
    ...(amountCents && !problem
      ? []
      : [{ column: 'amount' as const, message: problem || 'Não é um valor, como 1.234,56.' }]),
    ...(destination ? [] : [{ column: 'destination' as const, message: 'Falta o destino.' }]),
    ...(method ? [] : [{ column: 'method' as const, message: 'As formas são PIX, PIX turbo, LTC e USDT.' }]),
    ...(type === '' || TYPES[type]
      ? []
      : [{ column: 'keyType' as const, message: 'Os tipos são CPF, CNPJ, celular, e-mail e aleatória.' }]),
  ];
  const row = {
    ...{ method: method ?? cell('method'), destination },
    ...(amountCents && !problem && { amountCents }),
    ...(type && { pixKeyType: TYPES[type] ?? type }),
    ...(externalId && { externalId }),
  };
  return { row, errors };
}

/** The reason why an amount can be read in two ways; empty for one that cannot. */
function amountProblem(amount: string, next: string, separator: string): string {
  if (/^(?:R\$\s*)?\d{1,3}(?:\.\d{3})+$/.test(amount))
    return 'Escreva também os centavos, como 1.234,00: com um ponto só, o valor pode ser outro.';
  if (separator === ',' && /^\d+$/.test(amount) && /^\d{1,2}$/.test(next.trim()))
    return 'A vírgula separa as colunas: escreva o valor entre aspas, ou com ponto, como 150.00.';
  return '';
}

/** Removes the apostrophe by which a spreadsheet keeps a text from being a formula. */
const unguarded = (text: string) => (/^'[=+\-@]/.test(text) ? text.slice(1) : text);

interface FileRecord {
  line: number;
  cells: string[];
  /** The separator of the cells of the file. */
  separator: string;
}

/** Divides a file into its records, which are not empty, by the separator that its first line has most often. */
function recordsOf(text: string): FileRecord[] {
  const [first = ''] = text.split(/\r?\n/, 1);
  const [separator] = [';', ',', '\t']
    .map((sign) => [sign, first.split(sign).length] as const)
    .reduce((best, each) => (each[1] > best[1] ? each : best));
  const records: FileRecord[] = [];
  let [line, start, cell, quoted] = [1, 1, '', false];
  let cells: string[] = [];
  const endRecord = () => {
    cells.push(cell);
    if (cells.some((each) => each.trim() !== '')) records.push({ line: start, cells, separator });
    [cells, cell] = [[], ''];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]!;
    if (sign === '\n') line += 1;
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && cell.trim() === '') [quoted, cell] = [true, ''];
    else if (sign === separator) {
      cells.push(cell);
      cell = '';
    } else if (sign === '\n') {
      endRecord();
      start = line;
    } else if (sign !== '\r' || text[at + 1] !== '\n') cell += sign;
  }
  endRecord();
  return records;
}
