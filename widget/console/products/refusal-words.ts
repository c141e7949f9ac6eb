import { isLost, type PostResult } from '../../demo/shared/post-json.ts';
import { messageOf } from '../write.ts';

/**
 * The words for an answer of the server: empty once the change is made. `ofField` has those of a wrong member by its path, and
 * `refusals` those of a page by their codes.
 */
export function refusalWords(
  result: PostResult<unknown>,
  {
    lost,
    ofField = () => undefined,
    refusals = {},
  }: {
    lost: string;
    ofField?: (path: string) => string | undefined;
    refusals?: Readonly<Record<string, string>>;
  },
): string {
  if (result.ok) return '';
  const { refusal } = result;
  for (const { path } of refusal.fields) {
    const words = ofField(path);
    if (words) return words;
  }
  return isLost(refusal) ? lost : messageOf(refusal, refusals);
}
