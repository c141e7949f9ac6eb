/**
 * The BR Code, which people paste as "Pix Copia e Cola" or scan as a QR code: the Banco Central's form of EMV's
 * merchant-presented codes (Manual de Padrões para Iniciação do Pix, Manual do BR Code). A field is an id of two digits,
 * a length of two digits, and a value; some values are fields themselves.
 */

import { type Cents, isCents } from './money.ts';

export interface BrCode {
  /** The address of the charge, without its scheme. The payer's bank reads the charge there. */
  url: string | null;
  /** The PIX key of a static code. */
  key: string | null;
  /** The amount. Null if the code names none: the payer then enters it. */
  amountCents: Cents | null;
  merchantName: string;
  merchantCity: string;
  /** The payee's reference; null for `***`, which leaves it to the charge or to the payer's bank. */
  txid: string | null;
  /**
   * Whether the code has a URL. Field 01 does not decide it: dynamic codes may leave it out, and static ones that are
   * paid once may have it.
   */
  isDynamic: boolean;
}

/** The parts of a dynamic code. */
export interface DynamicBrCode {
  /** The host and path of the charge, at most 77 characters. */
  url: string;
  amountCents: Cents;
  merchantName: string;
  merchantCity: string;
  /** The payee's reference, 1 to 25 letters and digits. The manual asks for none here: the charge has its own. */
  txid?: string | null;
}

/** The ids of the fields, and of the fields inside 26 and 62. */
const ID = {
  format: '00',
  initiation: '01',
  account: '26',
  category: '52',
  currency: '53',
  amount: '54',
  country: '58',
  name: '59',
  city: '60',
  additional: '62',
  crc: '63',
} as const;
const ACCOUNT_ID = { scheme: '00', key: '01', url: '25' } as const;
const TXID_ID = '05';

const SCHEME = 'br.gov.bcb.pix';
const BRL = '986';
const NO_TXID = '***';
/** EMV keeps the ids from 26 to 51 for accounts, of PIX and of other schemes. */
const ACCOUNTS = /^(?:2[6-9]|[34]\d|5[01])$/;

const NAME_MAX = 25;
const CITY_MAX = 15;
const AMOUNT_MAX = 13;
const CODE_MAX = 512;

/**
 * Builds a dynamic code, its fields in the order of the manual. Names are written in ASCII, without accents, and cut.
 *
 * @throws RangeError for a URL, an amount or a reference that a code cannot hold
 */
export function brCode({ url, amountCents, merchantName, merchantCity, txid = null }: DynamicBrCode): string {
  if (!/^[!-~]{1,77}$/.test(url) || url.includes('://'))
    throw new RangeError('a BR Code needs a URL of 1 to 77 ASCII characters without a scheme');
  if (txid !== null && !/^[A-Za-z0-9]{1,25}$/.test(txid))
    throw new RangeError('the txid of a BR Code has 1 to 25 letters and digits');
  const text = [
    field(ID.format, '01'),
    field(ID.initiation, '12'),
    field(ID.account, field(ACCOUNT_ID.scheme, SCHEME) + field(ACCOUNT_ID.url, url)),
    field(ID.category, '0000'),
    field(ID.currency, BRL),
    field(ID.amount, amountText(amountCents)),
    field(ID.country, 'BR'),
    field(ID.name, asciiName(merchantName, NAME_MAX)),
    field(ID.city, asciiName(merchantCity, CITY_MAX)),
    field(ID.additional, field(TXID_ID, txid ?? NO_TXID)),
    `${ID.crc}04`,
  ].join('');
  return text + crc16(text);
}

/**
 * Parses a code, dynamic or static, with its CRC; null for any other text. Unknown fields are ignored, and fields may
 * have any order between the first and the last. A text with one field twice, or with two PIX accounts, is no code.
 */
export function parseBrCode(text: string): BrCode | null {
  if (text.length > CODE_MAX) return null;
  const code = text.trim();
  if (!/^000201[ -~]*6304[0-9A-F]{4}$/.test(code) || crc16(code.slice(0, -4)) !== code.slice(-4)) return null;
  const fields = parseFields(code.slice(0, -8));
  if (!fields || fields.has(ID.crc) || fields.get(ID.currency) !== BRL) return null;
  const [account, another] = [...fields].flatMap(([id, value]) => pixAccount(id, value));
  const additional = parseFields(fields.get(ID.additional) ?? '');
  if (!account || another || !additional) return null;
  const url = account.get(ACCOUNT_ID.url) ?? null;
  const txid = additional.get(TXID_ID) ?? NO_TXID;
  return {
    url,
    key: account.get(ACCOUNT_ID.key) ?? null,
    amountCents: parseAmount(fields.get(ID.amount) ?? ''),
    merchantName: fields.get(ID.name) ?? '',
    merchantCity: fields.get(ID.city) ?? '',
    txid: txid === NO_TXID ? null : txid,
    isDynamic: url !== null,
  };
}

/** The CRC-16/CCITT-FALSE of a text in ASCII, as four upper-case hex digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at) << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return (crc & 0xffff).toString(16).toUpperCase().padStart(4, '0');
}

function field(id: string, value: string): string {
  return id + String(value.length).padStart(2, '0') + value;
}

/** Reads fields by their ids. Null if a length is 00 or goes beyond the end, or if an id occurs twice. */
function parseFields(text: string): Map<string, string> | null {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const [head, id, length] = /^(\d\d)(\d\d)/.exec(text.slice(at, at + 4)) ?? [];
    if (!head || !id || fields.has(id)) return null;
    const value = text.slice(at + 4, at + 4 + Number(length));
    if (value === '' || value.length !== Number(length)) return null;
    fields.set(id, value);
    at += 4 + value.length;
  }
  return fields;
}

/**
 * The fields of a PIX account. Undefined for an account of another scheme, and for a field that is no
 * account.
 */
function pixAccount(id: string, value: string): Map<string, string>[] {
  const account = ACCOUNTS.test(id) ? parseFields(value) : null;
  return account?.get(ACCOUNT_ID.scheme)?.toLowerCase() === SCHEME ? [account] : [];
}

/**
 * Writes an amount in reais with two decimals. @throws RangeError for an amount below one cent, and for more
 * than 13 characters
 */
function amountText(cents: Cents): string {
  const text = String(cents).padStart(3, '0').replace(/..$/, '.$&');
  if (!isCents(cents) || cents === 0 || text.length > AMOUNT_MAX)
    throw new RangeError(`not an amount of a BR Code: ${cents} cents`);
  return text;
}

/**
 * Reads an amount in reais, with at most two decimals. Null for 0 too, with which a code leaves the amount
 * open.
 */
function parseAmount(text: string): Cents | null {
  const [all, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  const cents = Number(whole + decimals.padEnd(2, '0'));
  return all && isCents(cents) && cents > 0 ? cents : null;
}

/** Letters that Unicode does not decompose, and punctuation marks that people type unknowingly. */
const IN_ASCII = new Map([
  ...Object.entries({ ß: 'ss', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L' }),
  ...Object.entries({ đ: 'd', Đ: 'D', ð: 'd', Ð: 'D', þ: 'th', Þ: 'Th', ı: 'i' }),
  ...Object.entries({ '‘': "'", '’': "'", '“': '"', '”': '"', '–': '-', '—': '-' }),
]);

/** A name without accents, in printable ASCII, cut to `max` characters. It is never empty: a code has no empty field. */
function asciiName(text: string, max: number): string {
  const ascii = text
    .normalize('NFKD')
    .replace(/[^ -~]/gu, (character) => (/\s/.test(character) ? ' ' : (IN_ASCII.get(character) ?? '')));
  return ascii.replace(/ +/g, ' ').trim().slice(0, max).trimEnd() || 'PSA';
}
