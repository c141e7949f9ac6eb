// Changes that the console requests of its own routes: no dashboard token makes any.
import { type PostResult, postBody, postJson } from '../demo/shared/post-json.ts';
import { refusalText } from '../demo/shared/refusals.ts';
import type { PageAnswer } from '../src/board/page-request.ts';
import type { Api } from './api.ts';
import { askForKey } from './key-dialog.ts';

const WRONG_KEY = 'Esta não é a chave desta sessão.';

/** The words for a refusal; undefined if the change was made. */
export function answerTo(result: PostResult<unknown>): PageAnswer {
  if (result.ok) return undefined;
  const { refusal } = result;
  const isWrongKey = refusal.fields.some(({ path }) => path === 'key');
  return { message: isWrongKey ? WRONG_KEY : refusalText(refusal) };
}

/** Requests a change that costs money: the user of a session gives its key again. */
export async function requestWithKey(
  api: Api,
  path: string,
  input: object,
  { title, declined }: { title: string; declined: string },
): Promise<PageAnswer> {
  if (!api.asksForKey) return answerTo(await postJson(path, input));
  const key = await askForKey(title);
  return key === null ? { message: declined } : answerTo(await postJson(path, { ...input, key }));
}

/** Uploads a file of a dispute. Never rejects. */
export function uploadFile(disputeId: string, file: File): Promise<PostResult<{ fileId: string }>> {
  const path = `./disputes/${disputeId}/files?name=${encodeURIComponent(file.name)}`;
  return postBody(path, file.type, file);
}
