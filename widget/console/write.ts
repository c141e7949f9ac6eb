// Changes that the console requests of its own routes: no dashboard token makes any.
import { nothing, type TemplateResult } from 'lit';
import { isLost, type PostResult, postBody, postJson, type Refusal } from '../demo/shared/post-json.ts';
import { refusalText } from '../demo/shared/refusals.ts';
import type { PageAnswer } from '../src/board/page-request.ts';
import type { Api } from './api.ts';
import { isSignedOut } from './entry.ts';
import { askForKey, askToConfirm } from './key-dialog.ts';
import { addressOf } from './place.ts';

/** The time for an upload without its bytes, and the fewest bytes that it sends in a millisecond. */
const BASE_MS = 60_000;
const SLOWEST = 32;
const WRONG_KEY = 'Esta não é a chave desta sessão.';
/** The session is one of all tabs: what is written here stays until it is sent. */
const SESSION_OVER = 'A sessão terminou. Entre de novo em outra aba, e repita o envio aqui.';

/** The words of a request for its user: its title, and those for a key that was not given. */
interface Words {
  title: string;
  declined: string;
}

/** The words for a refusal, those of a page first. */
export function messageOf(refusal: Refusal, own: Readonly<Record<string, string>> = {}): string {
  return knownRefusal(refusal) ?? own[refusal.code ?? ''] ?? refusalText(refusal);
}

/** The words for a refusal of the session or of its key; null for another. */
export function knownRefusal(refusal: Refusal): string | null {
  if (refusal.fields.some(({ path }) => path === 'key')) return WRONG_KEY;
  return isSignedOut(refusal) ? SESSION_OVER : null;
}

/** The words for a refusal; undefined if the change was made. @throws for a lost answer: the change may have been made */
export function answerTo(
  result: PostResult<unknown>,
  own: Readonly<Record<string, string>> = {},
): PageAnswer {
  if (result.ok) return undefined;
  if (isLost(result.refusal)) throw new Error('no answer');
  return { message: messageOf(result.refusal, own) };
}

/**
 * Posts a change for which the user of a session gives its key again; null if the user has declined. Without a session only a
 * change that `isFinal` is asked for. `details`: the terms of the change, above the key.
 */
export async function postWithKey<Body>(
  api: Api,
  title: string,
  post: (confirmed: { key?: string }) => Promise<PostResult<Body>>,
  isFinal = false,
  details: TemplateResult | typeof nothing = nothing,
): Promise<PostResult<Body> | null> {
  if (!api.asksForKey) return isFinal && !(await askToConfirm(title, api.leaving, details)) ? null : post({});
  const key = await askForKey(title, api.leaving, details);
  return key === null ? null : post({ key });
}

/** Requests a change that costs money or cannot be undone: the user of a session gives its key again. */
export async function requestWithKey(
  api: Api,
  path: string,
  input: object,
  { title, declined }: Words,
): Promise<PageAnswer> {
  const address = addressOf(path);
  const result = await postWithKey(api, title, (confirmed) => postJson(address, { ...input, ...confirmed }));
  return result === null ? { message: declined } : answerTo(result);
}

/** Uploads a file of a dispute, in the time that the server has for it. Never rejects. */
export function uploadFile(disputeId: string, file: File): Promise<PostResult<{ fileId: string }>> {
  const path = addressOf(`./disputes/${disputeId}/files?name=${encodeURIComponent(file.name)}`);
  return postBody(path, file.type, file, Math.ceil(BASE_MS + file.size / SLOWEST));
}
