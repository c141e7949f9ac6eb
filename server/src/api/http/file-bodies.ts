import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { ValidationError } from '../../kernel/errors.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import { giveFileTime } from './body-time.ts';
import { parseInput } from './json-input.ts';
import { HttpError, readBytes, send } from './routes.ts';

// Bodies that are files and no JSON. An operation declares one as its `body`, or as the schema of an answer.

/** The files that a body may be. */
interface FileForm {
  readonly mediaTypes: readonly string[];
  /** The most bytes of one in a request. */
  readonly maxBytes: number;
}

interface UploadedFile {
  /** The Content-Type, one of the form's. The bytes may be something else. */
  mediaType: string;
  bytes: Buffer;
  idempotencyKey?: string | undefined;
}

interface SentFile {
  name: string;
  mediaType: string;
  bytes: Buffer;
}

const forms = z.registry<FileForm>();

/** The body of a request that is a file. */
export function uploadedFile(form: FileForm) {
  return z.custom<UploadedFile>().register(forms, form);
}

/** The body of an answer that is a file. */
export function sentFile(form: FileForm) {
  return z.custom<SentFile>().register(forms, form);
}

/** The form of a body that is a file; undefined for one of JSON. */
export function fileFormOf(body: z.ZodType | undefined): FileForm | undefined {
  return body && forms.get(body);
}

/** Whether the request or an answer of an operation is a file. */
export function holdsFile({
  body,
  answers,
}: {
  body?: z.ZodType;
  answers: Readonly<Record<number, { schema: z.ZodType }>>;
}): boolean {
  return [body, ...Object.values(answers).map(({ schema }) => schema)].some(fileFormOf);
}

const KEY_HEADER = z.object({ 'Idempotency-Key': idempotencyKeyText });

/** Reads a file. `idempotencyKey`: the key of the header. @throws ValidationError, HttpError 400, 413 */
export async function readFile(
  request: IncomingMessage,
  { mediaTypes, maxBytes }: FileForm,
  idempotencyKey: string | null,
): Promise<UploadedFile> {
  const [mediaType = ''] = (request.headers['content-type'] ?? '')
    .toLowerCase()
    .split(';', 1)
    .map((part) => part.trim());
  if (!mediaTypes.includes(mediaType))
    throw new ValidationError([{ path: 'Content-Type', message: `must be ${mediaTypes.join(' or ')}` }]);
  if ((request.headers['content-encoding'] || 'identity').toLowerCase() !== 'identity')
    throw new HttpError(400, 'The body must be sent without Content-Encoding');
  if (idempotencyKey !== null) parseInput(KEY_HEADER, { 'Idempotency-Key': idempotencyKey });
  giveFileTime(request, maxBytes);
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) throw new HttpError(400, 'The body is empty');
  return { mediaType, bytes, ...(idempotencyKey !== null && { idempotencyKey }) };
}

/** A browser saves the file, and never opens it as a page of this server. */
export function sendFile(
  response: ServerResponse,
  status: number,
  { name, mediaType, bytes }: SentFile,
): void {
  send(response, status, bytes, {
    'content-type': mediaType,
    'content-disposition': dispositionOf(name),
    'content-security-policy': "default-src 'none'; sandbox",
  });
}

/** Names a file in ASCII, and for all later clients in UTF-8 (RFC 6266). */
function dispositionOf(name: string): string {
  const ascii = name.replaceAll(/[^ -~]|["\\%]/gu, '_');
  const utf8 = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${utf8}`;
}
