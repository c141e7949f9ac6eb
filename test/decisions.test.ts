import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'server/docs/decisions');
const index = readFileSync(join(folder, 'README.md'), 'utf8');
const decisions = readdirSync(folder)
  .filter((name) => /^\d{4}-/.test(name))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

/** The anchors that a page makes of the headings of a document. */
function anchorsIn(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isThere(target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = join(folder, file);
  return existsSync(path) && (anchor === undefined || anchorsIn(readFileSync(path, 'utf8')).includes(anchor));
}

describe('the records of decisions', () => {
  test('The decisions are numbered without a gap, and each is in the index once with its title', () => {
    const numbers = decisions.map(({ name }) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(numbers.map((_, position) => position + 1));
    const listed = [...index.matchAll(/^- \[(\d{4})\]\(([^)]+)\) (.*)$/gm)].map(([, ...parts]) => parts);
    expect(listed).toEqual(
      decisions.map(({ name, text }) => [name.slice(0, 4), name, /^# \d{4}\. (.*)/.exec(text)?.[1]]),
    );
  });

  test.each(decisions)('The decision $name has the shape of all decisions', ({ name, text }) => {
    const headings = [...text.matchAll(/^#+ .*$/gm)].map(([heading]) => heading);
    expect(headings.slice(1)).toEqual(['## Status', '## Context', '## Alternatives', '## Consequences']);
    expect(headings[0]).toMatch(new RegExp(`^# ${name.slice(0, 4)}\\. `));
    expect(text).toMatch(/## Status\n\nAccepted\b/);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  });

  test('Every file that a decision names, and every link in it, is there', () => {
    const all = [...decisions, { name: 'README.md', text: index }];
    const targets = all.flatMap(({ name, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target]) => ({ name, target: target! })),
    );
    expect(targets.filter(({ target }) => !isThere(target))).toEqual([]);
    const paths = all.flatMap(({ name, text }) =>
      [...text.matchAll(/`((?:server|test|widget)\/[^`*]+\.\w+)`/g)].map(([, path]) => ({
        name,
        path: path!,
      })),
    );
    expect(paths.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  });
});
