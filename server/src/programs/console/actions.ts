import { z } from 'zod';
import type { Session } from '../../access/sessions.ts';
import type { RequestContext } from '../../api/http/routes.ts';
import { assertMay, assertUnrestrictedKey, type Right } from '../../kernel/caller.ts';
import { OutageError, PaymentError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';

/** The caller of an action: a session, or anybody at an open console. */
export interface Actor {
  tenant: Tenant;
  session: Session | null;
  /** The requests of the account in this minute, with this one. */
  requests: { limit: number; remaining: number; resetAt: Date };
}

export const keyText = z.string().trim().min(1, 'must be given').max(300, 'must be at most 300 characters');
/** The key of the session, which is asked for again by what costs money, gives power or cannot be undone. */
export const confirmed = { key: keyText.optional() };

/** Writes a line of the audit: what a session has done, with its key and its account. */
type Audit = (happened: string, session: Session, details?: object) => void;

/** The rules that all actions of the console share: who may request one, and the lines of the audit about it. */
export interface Actions {
  /**
   * Admits a session whose key has a right, as over `/v1`; without one a session of an unrestricted key. @throws
   * UnauthenticatedError, PermissionError, RateLimitError
   */
  admit(context: RequestContext, right?: Right): Promise<Actor>;
  /** Admits one that gives its key again, so that a browser that was left alone does nothing. @throws ValidationError, errors of `admit` */
  admitWithKey(context: RequestContext, key: string | undefined, right?: Right): Promise<Actor>;
  /** Makes a change between two lines of the audit: the change may be made, and its answer lost. */
  recorded<Body extends object>(
    actor: Actor,
    what: string,
    details: object,
    change: () => Promise<Body>,
  ): Promise<Body>;
}

export function createActions({
  findActor,
  confirm,
  audit,
}: {
  /** Finds the caller, and counts a request of its account. @throws UnauthenticatedError, RateLimitError */
  findActor: (context: RequestContext) => Promise<Actor>;
  /** Checks that a text is the key of a session. @throws ValidationError, RateLimitError */
  confirm: (session: Session, key: string, context: RequestContext) => Promise<void>;
  audit: Audit;
}): Actions {
  async function admit(context: RequestContext, right?: Right): Promise<Actor> {
    const actor = await findActor(context);
    if (!actor.session) return actor;
    const { caller } = actor.session;
    if (right === undefined) assertUnrestrictedKey(caller);
    else assertMay(caller, right);
    return actor;
  }

  return {
    admit,

    async admitWithKey(context, key, right) {
      const actor = await admit(context, right);
      if (!actor.session) return actor;
      if (key === undefined) throw new ValidationError([{ path: 'key', message: 'must be given' }]);
      await confirm(actor.session, key, context);
      return actor;
    },

    async recorded({ session }, what, details, change) {
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
    },
  };
}
