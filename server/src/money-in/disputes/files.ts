import { z } from 'zod';
import { readJpeg, readPng } from '../../access/logo.ts';
import { type FieldError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { printableText } from '../../kernel/text.ts';

// Evidence as files. A dispute lists its files; their bytes are stored encrypted, and only a download reads them.

/** The most files of a dispute. */
export const MAX_FILES = 3;
export const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** The most bytes of the files of an account and environment; uploads at the same moment may exceed it by theirs. */
export const MAX_STORED_BYTES = 1024 ** 3;
export const FILE_NAME_MAX = 100;

/** The endings of the names of each type. */
const ENDINGS = {
  'application/pdf': ['pdf'],
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
} as const;

export type MediaType = keyof typeof ENDINGS;
export const MEDIA_TYPES = Object.keys(ENDINGS) as MediaType[];

/** A file that the merchant has uploaded for a dispute, without its bytes. */
export interface DisputeFile {
  /** `dsf_` and 24 hex digits. */
  fileId: string;
  /** A name for people, whose ending is of the type. */
  name: string;
  /** Another service may report a type that this server does not take. */
  mediaType: string;
  sizeBytes: number;
  /** SHA-256 of the bytes, in hex digits. */
  sha256: string;
  /** Null if another service does not report it. */
  createdAt: Date | null;
}

/** A file with its bytes. */
export interface FileContent {
  name: string;
  mediaType: string;
  bytes: Buffer;
}

export interface DisputeFiles {
  /**
   * Stores a file of a dispute that takes evidence. The same bytes are one file of a dispute, and so is what was uploaded
   * under the same idempotency key: `replayed`.
   * @throws ValidationError, NotFoundError, PreconditionError (DISPUTE_STATE, LIMIT_REACHED, NOT_OFFERED), IdempotencyError
   */
  upload(
    tenant: Tenant,
    disputeId: string,
    file: FileContent & { idempotencyKey?: string | undefined },
  ): Promise<{ file: DisputeFile; replayed: boolean }>;
  /** Reads a file with its bytes. @throws NotFoundError (the dispute, or the file) */
  read(tenant: Tenant, disputeId: string, fileId: string): Promise<FileContent>;
}

/** The id of a file of any service. */
export const anyFileIdText = z.string().regex(/^[\w.-]{1,100}$/, 'must be the id of a file');

export const FILE_ID_FORM = 'dsf_ and 24 hex digits, in lower case';

export function isFileId(text: string): boolean {
  return /^dsf_[0-9a-f]{24}$/.test(text);
}

export const fileIdText = z
  .string()
  .refine(isFileId, `must be ${FILE_ID_FORM}`)
  .meta({ description: 'dsf_ and 24 hex digits', examples: ['dsf_5b1c09d2e7a84f36b0c1d2e3'] });

/** A name that no file system, header or page reads as more than a name. */
export const fileNameText = printableText({ max: FILE_NAME_MAX })
  .refine((name) => !/[/\\:*?"<>|]/.test(name), 'must not contain any of / \\ : * ? " < > |')
  .refine((name) => !name.startsWith('.'), 'must not begin with a dot')
  .meta({
    description: `A name of at most ${FILE_NAME_MAX} printable characters, which ends as its type does`,
    examples: ['comprovante.pdf'],
  });

/** Refuses bytes that are no whole file of their type, and a name of another type. @throws ValidationError */
export function assertWholeFile({ name, mediaType, bytes }: FileContent): void {
  const endings = ENDINGS[mediaType as MediaType];
  const wrong: FieldError[] = [];
  if (!endings.some((ending) => name.toLowerCase().endsWith(`.${ending}`)))
    wrong.push({ path: 'name', message: `must end in .${endings.join(' or .')}, as ${mediaType} does` });
  if (!IS_WHOLE[mediaType as MediaType](bytes))
    wrong.push({
      path: 'body',
      message: `must be a whole file of ${mediaType}, the Content-Type, with nothing before or behind it`,
    });
  if (wrong.length > 0) throw new ValidationError(wrong);
}

const IS_WHOLE: Readonly<Record<MediaType, (bytes: Buffer) => boolean>> = {
  'application/pdf': isWholePdf,
  'image/png': (bytes) => readPng(bytes) !== null,
  'image/jpeg': (bytes) => readJpeg(bytes) !== null,
};

/** The bytes at the end of a PDF among which its last mark is. */
const PDF_END_BYTES = 1024;

function isWholePdf(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 8);
  const end = bytes.toString('latin1', Math.max(8, bytes.length - PDF_END_BYTES));
  return /^%PDF-\d\.\d/.test(start) && /%%EOF[\s\0]*$/.test(end);
}

/** Reads a file of a snapshot or a row, where instants are text. */
export function fileFromJson(json: unknown): DisputeFile {
  const { createdAt, ...rest } = json as DisputeFile;
  return { ...rest, createdAt: createdAt && new Date(createdAt) };
}
