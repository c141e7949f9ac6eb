import type { PostResult } from '../../demo/shared/post-json.ts';
import { isLost, messageOf } from '../write.ts';

/** The words for an answer of the server: empty once the change is made. `ofField` has those of a wrong member by its path. */
export function refusalWords(
  result: PostResult<unknown>,
  { lost, ofField = () => undefined }: { lost: string; ofField?: (path: string) => string | undefined },
): string {
  if (result.ok) return '';
  const { refusal } = result;
  for (const { path } of refusal.fields) {
    const words = ofField(path);
    if (words) return words;
  }
  return isLost(refusal) ? lost : messageOf(refusal);
}
