import { ARCHITECTURE } from '../architecture.mjs';

/** The depth of the deepest folder with rules; files below may import only each other. A rule is for files of one depth. */
const DEPTH = 3;

// Prints the linter's configuration that enforces the import table: server/biome.jsonc extends it.
const rules = [
  ...ARCHITECTURE.flatMap(rulesOf),
  rule([...Array(DEPTH + 1).fill('*'), '**'], ['../**'], `Folders are at most ${DEPTH} deep.`),
];
console.log('// Made from server/architecture.mjs by: npm run regenerate');
console.log(`{\n  "overrides": [\n${rules.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]\n}`);

/** Creates one rule for each depth at which the row has files. @param {import('../architecture.mjs').Row} row */
function rulesOf(row) {
  const others = row.others.length === 0 ? 'nothing of others' : `of others ${row.others.join(' ')}`;
  const message = `${row.files.join(' and ')} may import ${others}. The table is server/architecture.mjs.`;
  return row.files.flatMap((files) =>
    expand(files.split('/')).map((path) => rule(path, groupOf(row, path.slice(0, -1)), message)),
  );
}

/**
 * Creates the rule for a file. The linter takes the last rule for a file; in it the last pattern that fits an import decides,
 * and one with `!` allows it.
 *
 * @param {string[]} path
 * @param {string[]} group
 * @param {string} message
 */
function rule(path, group, message) {
  const options = { patterns: [{ group, message }] };
  return {
    includes: [['src', ...path].join('/')],
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } },
  };
}

/** Expands `**` in a pattern to each possible number of folders. @param {string[]} pattern @returns {string[][]} */
function expand(pattern) {
  const at = pattern.indexOf('**');
  if (at < 0) return [pattern];
  const isLast = at === pattern.length - 1;
  const [before, after] = [pattern.slice(0, at), isLast ? ['*'] : pattern.slice(at + 1)];
  const most = DEPTH + 1 - before.length - after.length;
  return Array.from({ length: most + 1 }, (_, count) => [...before, ...Array(count).fill('*'), ...after]);
}

/**
 * Creates the patterns of a file's imports: all of our files are forbidden; then, from the nearest folder to the top, those
 * that the table grants there are allowed.
 *
 * @param {import('../architecture.mjs').Row} row
 * @param {string[]} folders
 */
function groupOf({ own, others }, folders) {
  const group = ['./**', '../**'];
  for (let up = 0; up <= folders.length; up += 1) {
    const to = up === 0 ? './' : '../'.repeat(up);
    const isTop = up === folders.length;
    const granted = [
      ...(isTop ? [] : own.flatMap((path) => within(path, folders.slice(1, folders.length - up)))),
      // A file directly in src owns the files beside it, and not those in folders.
      ...(isTop && up === 0 ? [...own, ...others.map((path) => (path === '**' ? '*/**' : path))] : []),
      ...(isTop && up > 0 ? others : []),
    ];
    group.push(...granted.map((path) => (path.startsWith('!') ? `${to}${path.slice(1)}` : `!${to}${path}`)));
    // `*` and `**` fit `..` too.
    if (granted.length > 0 && up > 0) group.push(`${to}../**`);
  }
  return group;
}

/** The parts of a pattern that remain below these folders; none where it does not match them. @param {string} path @param {string[]} folders @returns {string[]} */
function within(path, folders) {
  if (path.startsWith('!')) return within(path.slice(1), folders).map((rest) => `!${rest}`);
  const [folder, ...deeper] = folders;
  if (folder === undefined) return [path];
  const [first = '', ...rest] = path.split('/');
  if (first === '**')
    return rest.length === 0
      ? ['**']
      : [...new Set([...within(path, deeper), ...within(rest.join('/'), folders)])];
  return rest.length > 0 && fits(first, folder) ? within(rest.join('/'), deeper) : [];
}

/** Whether the pattern of a folder's name matches a folder. The folder may be `*` itself. @param {string} pattern @param {string} folder */
function fits(pattern, folder) {
  if (pattern === '*' || pattern === folder) return true;
  return /^\{(.*)\}$/.exec(pattern)?.[1]?.split(',').includes(folder) ?? false;
}
