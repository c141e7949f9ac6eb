import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../server/docs/decisions/', import.meta.url));
const index = readFileSync(join(folder, 'README.md'), 'utf8');
const decisions = readdirSync(folder)
  .filter((name) => /^\d{4}-/.test(name))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

describe('the records of decisions', () => {
  test('Each number is that of one decision, which is in the index once with its title', () => {
    const numbers = decisions.map(({ name }) => name.slice(0, 4));
    expect(numbers).toEqual([...new Set(numbers)]);
    const listed = [...index.matchAll(/^- \[(\d{4})\]\(([^)]+)\) (.*)$/gm)].map(([, ...parts]) => parts);
    expect(listed.toSorted(([left], [right]) => Number(left) - Number(right))).toEqual(
      decisions.map(({ name, text }) => [name.slice(0, 4), name, /^# \d{4}\. (.*)/.exec(text)?.[1]]),
    );
  });

  test.each(decisions)('The decision $name has the shape of all decisions', ({ name, text }) => {
    const headings = [...text.matchAll(/^#+ .*$/gm)].map(([heading]) => heading);
    expect(headings.slice(1)).toEqual(['## Status', '## Context', '## Alternatives', '## Consequences']);
    expect(headings[0]).toMatch(new RegExp(`^# ${name.slice(0, 4)}\\. `));
    expect(text).toMatch(/## Status\n\nAccepted/);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  });
});
