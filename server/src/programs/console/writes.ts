import { z } from 'zod';
import type { Session } from '../../access/sessions.ts';
import { readFile } from '../../api/http/file-bodies.ts';
import { parseInput } from '../../api/http/json-input.ts';
import type { OpenFile } from '../../api/http/rest-routes.ts';
import { HttpError, type RequestContext, type Route } from '../../api/http/routes.ts';
import type { SameOrigin } from '../../api/http/same-origin.ts';
import { assertUnrestrictedKey } from '../../kernel/caller.ts';
import { OutageError, PaymentError, PreconditionError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { plainText } from '../../kernel/text.ts';
import {
  type DisputeFiles,
  fileNameText,
  MAX_FILE_BYTES,
  MEDIA_TYPES,
} from '../../money-in/disputes/files.ts';
import {
  type DisputeService,
  disputeIdText,
  submitDisputeEvidenceInput,
} from '../../money-in/disputes/model.ts';
import { REFUNDED_TYPES, type RefundService, refundInput } from '../../money-in/refunds/model.ts';

/** The operations of the console that change something. */
export interface ConsoleOperations {
  refunds: Pick<RefundService, 'request'>;
  disputes: Pick<DisputeService, 'submitEvidence' | 'accept'>;
  /** Null in front of another service, which stores no files of this one. */
  disputeFiles: Pick<DisputeFiles, 'upload'> | null;
}

/** The caller of a change: a session, or anybody at an open console. */
export interface Actor {
  tenant: Tenant;
  session: Session | null;
}

export const keyText = z.string().trim().min(1, 'must be given').max(300, 'must be at most 300 characters');
/** The key of the session, which a change that costs money asks for again. */
const confirmed = { key: keyText.optional() };
const reference = plainText({ max: 100 });
const consoleRefundInput = refundInput.extend({ ...confirmed, type: z.enum(REFUNDED_TYPES), reference });
/** An id of any service's dispute: the service refuses a form that it does not have. */
const disputeId = plainText({ max: 100 });
const acceptInput = z.object({ ...confirmed, disputeId });
const uploadPath = z.object({ disputeId: disputeIdText });
const uploadQuery = z.object({ name: fileNameText });
const FILES = { mediaTypes: MEDIA_TYPES, maxBytes: MAX_FILE_BYTES };

/**
 * The routes that change something. Each needs an unrestricted key, as over `/v1`; those that cost money ask for the key of
 * the session again, so that a browser that was left alone pays nobody.
 */
export function createWriteRoutes({
  operations,
  sameOrigin: { action, post },
  findActor,
  confirm,
  openFile,
  audit,
}: {
  /** Creates the operations of one request. */
  operations: () => ConsoleOperations;
  sameOrigin: SameOrigin;
  /** Finds the caller, and counts a request of its account. @throws UnauthenticatedError, RateLimitError */
  findActor: (context: RequestContext) => Promise<Actor>;
  /** Checks that a text is the key of a session. @throws ValidationError, RateLimitError */
  confirm: (session: Session, key: string, context: RequestContext) => Promise<void>;
  openFile: OpenFile;
  audit: (happened: string, session: Session, details?: object) => void;
}): Route[] {
  async function admit(context: RequestContext): Promise<Actor> {
    const actor = await findActor(context);
    if (actor.session) assertUnrestrictedKey(actor.session.caller);
    return actor;
  }

  async function admitWithKey(context: RequestContext, key: string | undefined): Promise<Actor> {
    const actor = await admit(context);
    if (!actor.session) return actor;
    if (key === undefined) throw new ValidationError([{ path: 'key', message: 'must be given' }]);
    await confirm(actor.session, key, context);
    return actor;
  }

  /** Makes a change between two lines of the audit: the change may be made, and its answer lost. */
  async function recorded<Body extends object>(
    { session }: Actor,
    what: string,
    details: object,
    change: () => Promise<Body>,
  ): Promise<Body> {
    if (!session) return change();
    audit(what, session, { ...details, outcome: 'begun' });
    try {
      const body = await change();
      audit(what, session, { ...details, ...body, outcome: 'done' });
      return body;
    } catch (error) {
      const isRefusal = error instanceof PaymentError && !(error instanceof OutageError);
      audit(what, session, { ...details, outcome: isRefusal ? error.code : 'unknown' });
      throw error;
    }
  }

  return [
    action(
      /^\/console\/refunds$/,
      consoleRefundInput,
      async ({ key, type, reference: id, ...input }, context) => {
        const actor = await admitWithKey(context, key);
        const { amountCents, idempotencyKey } = input;
        const details = { type, reference: id, amountCents, idempotencyKey };
        const body = await recorded(actor, 'refund', details, async () => {
          const requested = operations().refunds.request(actor.tenant, { type, id }, input);
          const { refund, replayed } = await requested.catch(nameReference);
          const { refundId, status, amountCents } = refund;
          return { refundId, status, amountCents, replayed };
        });
        return { status: 201, body };
      },
    ),
    action(/^\/console\/disputes\/evidence$/, submitDisputeEvidenceInput, async (input, context) => {
      const actor = await admit(context);
      const { disputeId, ...evidence } = input;
      const body = await recorded(actor, 'evidence', { disputeId }, async () => {
        const { disputes } = operations();
        const { dispute, replayed } = await disputes.submitEvidence(actor.tenant, disputeId, evidence);
        return { disputeId, status: dispute.status, replayed };
      });
      return { status: 201, body };
    }),
    action(/^\/console\/disputes\/accept$/, acceptInput, async ({ key, disputeId }, context) => {
      const actor = await admitWithKey(context, key);
      const body = await recorded(actor, 'acceptance', { disputeId }, async () => {
        const { dispute, replayed } = await operations().disputes.accept(actor.tenant, disputeId);
        return { disputeId, status: dispute.status, replayed };
      });
      return { body };
    }),
    post(/^\/console\/disputes\/(?<disputeId>[^/]+)\/files$/, async (context) => {
      const { request, response, params, url } = context;
      const actor = await admit(context);
      const { disputeFiles } = operations();
      if (!disputeFiles)
        throw new PreconditionError('NOT_OFFERED', 'The service behind this server takes no files here');
      const { disputeId } = parseInput(uploadPath, params) as z.infer<typeof uploadPath>;
      const query = Object.fromEntries(url.searchParams);
      const { name } = parseInput(uploadQuery, query) as z.infer<typeof uploadQuery>;
      // A response closes once: a file that was opened after that would count as open for ever.
      if (response.destroyed) throw new HttpError(400, 'The client has left');
      response.once('close', openFile(actor.tenant));
      const content = await readFile(request, FILES, null);
      const body = await recorded(actor, 'file', { disputeId }, async () => {
        const input = { name, ...content };
        const { file, replayed } = await disputeFiles.upload(actor.tenant, disputeId, input);
        return { fileId: file.fileId, replayed };
      });
      return { status: 201, body };
    }),
  ];
}

/** Names the id of a refunded resource as the input does. @throws the error */
function nameReference(error: unknown): never {
  if (!(error instanceof ValidationError)) throw error;
  const isId = (path: string) => ['input.paymentId', 'input.chargeId'].includes(path);
  throw new ValidationError(
    error.fields.map((field) => (isId(field.path) ? { ...field, path: 'reference' } : field)),
  );
}
