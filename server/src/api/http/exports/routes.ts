import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { allowsOrigin, assertMay, type Caller, may } from '../../../kernel/caller.ts';
import type { Cursors, CursorsFor } from '../../../kernel/cursor.ts';
import { PaymentError, PermissionError, ValidationError } from '../../../kernel/errors.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { WatchCredential } from '../../../state/events/credential.ts';
import type { Admission } from '../admission.ts';
import type { ClientAddress } from '../client-address.ts';
import { answerTo } from '../error-answers.ts';
import { parseInput } from '../json-input.ts';
import { queryOf, textQuery } from '../list-query.ts';
import { HttpError, type RequestContext, type Route, sendJson } from '../routes.ts';
import type { Export, Figures } from './export.ts';
import { csvOf, EXCELS, type Excel, FORMATS, type Format, ndjsonOf } from './formats.ts';

/** The most rows of one file by default; `after` gets the others. */
const MAX_ROWS = 1_000_000;
/** The rows whose text is made at once, some 30 kB: other requests are answered in between. */
const PART_ROWS = 100;
/** The time that a client has for a part. One that reads slower, half a kilobyte a second, would hold an export open for good. */
const PART_MS = 60_000;

/** The limits on exports. */
export interface ExportLimits {
  /** Opens an export. Returns the function that closes it. @throws RateLimitError */
  open(caller: Caller): Promise<() => void>;
}

export interface ExportDependencies {
  /** Creates the exports of one request. */
  createExports: () => readonly Export[];
  /** Whether the lists have everything: a facade has what another service has shown. */
  isExact: boolean;
  /** Reads the cursor of the newest update of a tenant. */
  updatesCursor: (tenant: Tenant) => Promise<string>;
  cursorsFor: CursorsFor;
  access: Admission & {
    authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
  };
  addressOf: ClientAddress;
  watchCredential: WatchCredential;
  limits: ExportLimits;
  /** Whether a token may read what no trusted document of the server reads. */
  isFree: (caller: Caller) => boolean;
  onFault: (fault: unknown) => void;
  /** The most rows of one file. */
  maxRows?: number;
  /** The time that a client has to take a part of a file. */
  partMs?: number;
}

const OWN = {
  after: textQuery('The cursor of a row: the file has the rows behind it'),
  excel: z.enum(EXCELS).optional(),
};

const UPDATES_CURSOR = 'psa-updates-cursor';
const EXACT = 'psa-exact';

/** A page of a merchant may get a file with its dashboard token, and reads these headers. */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': `content-disposition, retry-after, x-error-code, ${UPDATES_CURSOR}, ${EXACT}`,
};
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, OPTIONS',
  'access-control-allow-headers': 'authorization',
  'access-control-max-age': '86400',
};

/** The route of all exports. They are no part of `/v1`, which is the document's. */
export function createExportRoute(dependencies: ExportDependencies): Route {
  const { onFault } = dependencies;
  return {
    methods: ['GET', 'OPTIONS'],
    path: /^\/exports\/(?<file>[^/]+)$/,
    async handle(context) {
      const { request, response } = context;
      for (const [name, value] of Object.entries(CROSS_ORIGIN)) response.setHeader(name, value);
      if (request.method === 'OPTIONS') {
        response.writeHead(204, PREFLIGHT).end();
        return;
      }
      response.setHeader('cache-control', 'no-store');
      try {
        await sendExport(context, dependencies);
      } catch (error) {
        if (!(error instanceof HttpError || error instanceof PaymentError)) onFault(error);
        // Without its last chunk the file is seen to be cut off.
        if (response.headersSent) return void response.destroy();
        const { status, body, headers } = answerTo(error);
        sendJson(response, status, body, headers);
      }
    },
  };
}

async function sendExport(context: RequestContext, dependencies: ExportDependencies): Promise<void> {
  const wanted = await readRequest(context, dependencies);
  const { caller } = wanted;
  const { response, request } = context;
  const close = await dependencies.limits.open(caller);
  const credential: { ended: PaymentError | null } = { ended: null };
  try {
    const { authorization = '' } = request.headers;
    const stopWatching = await dependencies.watchCredential(authorization, caller, {
      credentialEnded(error) {
        credential.ended = error;
        if (response.headersSent) response.destroy();
      },
    });
    try {
      const { partMs = PART_MS } = dependencies;
      await sendFile(response, { ...wanted, partMs }, await dependencies.updatesCursor(caller.tenant), () => {
        if (credential.ended) throw credential.ended;
      });
    } finally {
      stopWatching();
    }
  } finally {
    close();
  }
}

/** Reads who wants which rows in which form. @throws PaymentError, HttpError 404, 406 */
async function readRequest(
  { request, url, params, setTemplate }: RequestContext,
  { access, addressOf, createExports, cursorsFor, isExact, isFree, maxRows = MAX_ROWS }: ExportDependencies,
) {
  const { authorization } = request.headers;
  await access.admit(authorization, addressOf(request), request.socket);
  const caller = await access.authenticate(authorization, request.socket);
  assertUsable(caller, request, isFree);
  const { found, format } = findExport(createExports(), params.file ?? '');
  const file = `${found.name}.${format}`;
  setTemplate?.(`/exports/${file}`);
  if (!found.rights.some((right) => may(caller, right))) assertMay(caller, found.rights[0]);
  const { after, excel, ...members } = readQuery(found, format, url);
  const cursors = cursorsFor(caller.tenant, `exports.${found.name}`);
  const position = after === undefined ? undefined : positionOf(after, cursors);
  if (position === null)
    throw new ValidationError([{ path: 'after', message: 'is not a cursor of this export' }]);
  return {
    ...{ caller, file, cursors, isExact, maxRows, after: position },
    reading: found.open(caller, members),
    encoder: format === 'csv' ? csvOf(found.columns, excel) : ndjsonOf(found.columns),
    head: { export: found.name, environment: caller.tenant.environment, isExact },
  };
}

type Wanted = Awaited<ReturnType<typeof readRequest>>;

/** Sends a file. `assertOpen` throws once the credential has ended. */
async function sendFile(
  response: ServerResponse,
  wanted: Wanted & { partMs: number },
  updatesCursor: string,
  assertOpen: () => void,
): Promise<void> {
  for await (const part of partsOf(wanted, updatesCursor)) {
    assertOpen();
    // The head follows the first rows: until then an error has its own status.
    if (!response.headersSent)
      response.writeHead(200, {
        'content-type': wanted.encoder.contentType,
        'content-disposition': `attachment; filename="${wanted.file}"`,
        [UPDATES_CURSOR]: updatesCursor,
        [EXACT]: String(wanted.isExact),
      });
    if (!(await write(response, part, wanted.partMs))) return;
  }
  response.end();
}

/** Refuses a token on another page, and one that runs only trusted documents, because a file is no document. @throws PermissionError */
function assertUsable(
  caller: Caller,
  { headers }: IncomingMessage,
  isFree: ExportDependencies['isFree'],
): void {
  if (!allowsOrigin(caller, headers.origin))
    throw new PermissionError('This token may not be used on this page');
  if (caller.credential.kind !== 'api_key' && !isFree(caller))
    throw new PermissionError('This token runs only trusted documents, and an export is not one of them');
}

/** Finds the export of a file. @throws HttpError 404, 406 */
function findExport(all: readonly Export[], file: string): { found: Export; format: Format } {
  const [name = '', extension = ''] = /^(.*?)(?:\.([^.]*))?$/.exec(file)!.slice(1);
  const found = all.find((each) => each.name === name);
  const names = all.map((each) => each.name).join(', ');
  if (!found) throw new HttpError(404, `There is no such export; there are ${names}`);
  const format = FORMATS.find((each) => each === extension);
  if (!format) throw new HttpError(406, `An export ends in .${FORMATS.join(' or .')}`);
  return { found, format };
}

/** @throws ValidationError naming the parameter */
function readQuery(found: Export, format: Format, url: URL) {
  const query = z.object({ ...found.query, ...OWN });
  const given = queryOf(query, `GET /exports/${found.name}.${format}`, url);
  if (format !== 'csv' && given.excel !== undefined)
    throw new ValidationError([{ path: 'excel', message: 'is for .csv' }]);
  return parseInput(query, given) as { after?: string; excel?: Excel };
}

/** The first character of a cursor. Without it one in 64 would begin with a `-`, and a spreadsheet would compute it. */
const CURSOR_SIGN = 'c';

const cursorOf = (position: number, cursors: Cursors) => CURSOR_SIGN + cursors.encode(position);

function positionOf(cursor: string, cursors: Cursors): number | null {
  return cursor.startsWith(CURSOR_SIGN) ? cursors.decode(cursor.slice(CURSOR_SIGN.length)) : null;
}

/** Makes the parts of a file, each when it is wanted: nothing is read ahead of what the client takes. */
async function* partsOf(
  { reading: { pages, ends }, after, encoder, cursors, head, maxRows }: Wanted,
  updatesCursor: string,
): AsyncGenerator<string, void> {
  const start = (opening: Figures | null) => encoder.start({ ...head, updatesCursor, opening });
  let [rows, more]: [number, boolean] = [0, false];
  let closing: Figures | null = null;
  for await (const page of pages(after)) {
    const shown = page.slice(0, maxRows - rows);
    more = shown.length < page.length;
    for (let from = 0; from < shown.length; from += PART_ROWS) {
      const part = shown.slice(from, from + PART_ROWS);
      const texts = encoder.rows(
        part.map(({ row, position }) => ({ row, cursor: cursorOf(position, cursors) })),
      );
      const isFirst = rows === 0 && from === 0;
      yield isFirst ? start(ends?.before(part[0]!.row) ?? null) + texts : texts;
      closing = ends?.after(part.at(-1)!.row) ?? null;
    }
    rows += shown.length;
    if (more) break;
  }
  if (rows > 0) return yield encoder.end({ rows, more, closing });
  const figures = (await ends?.withoutRows()) ?? null;
  yield start(figures) + encoder.end({ rows, more, closing: figures });
}

/** Writes a part, and waits until the client has taken it. Returns false if the client has left, or is too slow. */
async function write(response: ServerResponse, part: string, partMs: number): Promise<boolean> {
  if (!response.destroyed && part !== '' && !response.write(part))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => response.destroy(), partMs);
      const settle = () => {
        clearTimeout(timer);
        response.off('drain', settle).off('close', settle);
        resolve();
      };
      response.once('drain', settle).once('close', settle);
    });
  return !response.destroyed;
}
