// Changes that the console requests of its own routes: no dashboard token makes any.
import { type PostResult, postBody, postJson } from '../demo/shared/post-json.ts';
import { refusalText } from '../demo/shared/refusals.ts';
import type { PageAnswer } from '../src/board/page-request.ts';
import type { Api } from './api.ts';
import { isSignedOut } from './entry.ts';
import { askForKey } from './key-dialog.ts';

const WRONG_KEY = 'Esta não é a chave desta sessão.';
/** The session is one of all tabs: what is written here stays until it is sent. */
const SESSION_OVER = 'A sessão terminou. Entre de novo em outra aba, e repita o envio aqui.';

/** The words of a request for its user: its title, those for a key that was not given, and those for refusals by their codes. */
interface Words {
  title: string;
  declined: string;
  refusals?: Readonly<Record<string, string>>;
}

/** The words for a refusal; undefined if the change was made. @throws for a lost answer: the change may have been made */
export function answerTo(result: PostResult<unknown>, own: Words['refusals'] = {}): PageAnswer {
  if (result.ok) return undefined;
  const { refusal } = result;
  if (refusal.status === 0 || refusal.status >= 500) throw new Error('no answer');
  if (refusal.fields.some(({ path }) => path === 'key')) return { message: WRONG_KEY };
  if (isSignedOut(refusal)) return { message: SESSION_OVER };
  return { message: own[refusal.code ?? ''] ?? refusalText(refusal) };
}

/** Requests a change that costs money or cannot be undone: the user of a session gives its key again. */
export async function requestWithKey(
  api: Api,
  path: string,
  input: object,
  { title, declined, refusals }: Words,
): Promise<PageAnswer> {
  if (!api.asksForKey) return answerTo(await postJson(path, input), refusals);
  const key = await askForKey(title, api.leaving);
  return key === null ? { message: declined } : answerTo(await postJson(path, { ...input, key }), refusals);
}

/** Uploads a file of a dispute. Never rejects. */
export function uploadFile(disputeId: string, file: File): Promise<PostResult<{ fileId: string }>> {
  const path = `./disputes/${disputeId}/files?name=${encodeURIComponent(file.name)}`;
  return postBody(path, file.type, file);
}
