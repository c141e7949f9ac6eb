import { type Caller, DASHBOARD_SCOPES, type DashboardScope, may, SCOPES } from '../kernel/caller.ts';
import type { MintedToken } from './model.ts';

/** The life of a session of the console. */
export const SESSION_SECONDS = 12 * 3_600;
/** The life of a dashboard token of the console; the page requests a new one before it ends. */
export const CONSOLE_TOKEN_SECONDS = 900;
/** The beginning of the text of a session. */
export const SESSION_PREFIX = 'ps_session_';

/** A browser that has presented an API key at the console. It sees what the key may see. */
export interface Session {
  /** The id, which grants nothing. */
  sessionId: string;
  /** The caller with the key. */
  caller: Caller;
  key: { id: string; name: string | null; hint: string | null };
  expiresAt: Date;
}

export interface SessionService {
  /** Begins a session of a key. The text of the result is its only copy. */
  begin(caller: Caller): Promise<{ session: Session; text: string }>;
  /** Finds a session by its text; null if it has ended, or the key was revoked. */
  find(text: string): Promise<Session | null>;
  /** Mints a dashboard token that ends with the session. @throws UnauthenticatedError if the session has ended meanwhile */
  mint(session: Session, scopes: DashboardScope[]): Promise<MintedToken & { expiresAt: Date }>;
  /** Ends a session with all its tokens, at once. */
  end(session: Session): Promise<void>;
}

/** The scopes of dashboard tokens whose rights a caller has. */
export function scopesOf(caller: Caller): DashboardScope[] {
  return DASHBOARD_SCOPES.filter((scope) => SCOPES[scope].rights.every((right) => may(caller, right)));
}
