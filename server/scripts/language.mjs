import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './progress.mjs';
import { filesUnder } from './stamp.mjs';

/** Words that a reader has to translate, each with the plain ones to use. */
const BANNED = [
  ['told', 'notified, reported, shown, read'],
  ['whoever', 'the caller, a client, anyone who'],
  ['whomever', 'the caller, a client'],
  ['anew', 'again'],
  ['likewise', 'in the same way'],
  ['so long', 'for this time, while'],
  ['of which', 'whose, and … of them, or two sentences'],
  ['befall', 'happen to'],
  ['mend', 'correct, repair'],
  ['come to', 'reach, be'],
  ['is had', 'exists'],
  ['fault of ours', 'internal fault'],
];
const WORDS = new RegExp(
  `\\b(${BANNED.map(([word]) => word?.replace(/ /g, '[\\s/*#]+')).join('|')}|mends|mended|befell|befalls|comes to|came to)\\b`,
  'gi',
);
/** A doc comment, and a description of the schema, begins with a noun of the domain or a verb in the third person. */
const OPENING = /(\/\*\*|""")[\s*]*(What|Of|By|Who|Whom|Whose)\b/g;
/** The openings without a subject that the sources, too, must not have. */
const SOURCE_OPENING =
  /(\/\*\*|""")[\s*]*(When|Where|How|Why|As|For|From|With|Its|Their|Those|Left|Taken|Given|Held|Kept|Begun|Elsewhere|Not|True|False)\b/g;
/** The folders and files whose comments and descriptions are searched for both. */
const SOURCES = /^(server\/(src|scripts)|widget\/(src|demo)|test)\/|^schema\.graphql$/;
/** A comment: a whole block, or the rest of a line that has nothing else. */
const COMMENT = /\/\*\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm;
/** The conditions of a comment that begin like a place, and “none” for an absence or another kind. */
const CONDITION =
  /@throws[\s*]+(?:\w+[\s*]+)?(?:\([^)]*\)[\s*]+)?where\b|\b(?:null|undefined|rejects|fails|throws)[\s*]+where\b|\b(?:if|where)[\s*]+(?:it|they)[\s*]+(?:is|are)[\s*]+none\b|\bwhere[\s*]+there[\s*]+(?:is|are)[\s*]+none\b/gi;

const TEXTS = /\.(m?ts|tsx|mjs|js|css|html|md|graphql|ya?ml|jsonc?|vue|svelte|sh|py|rb|php|java|go)$/;
/** The files and folders that are searched. */
const SEARCHED = [
  ...['.changeset', '.github', 'README.md', 'schema.graphql', 'server', 'test', 'widget'],
  ...['biome.jsonc', 'knip.jsonc', 'package.json', 'pnpm-workspace.yaml', 'tsconfig.json'],
];
/** Texts that must not change: released ones, generated ones, and the list of these words. */
const EXEMPT = [
  /^server\/src\/state\/db\/migrations\//,
  /^(server|widget)\/released\//,
  /(^|\/)CHANGELOG\.md$/,
  /(^|\/)pnpm-lock\.yaml$/,
  /^widget\/src\/graphql-env\.d\.ts$/,
  // Its comments are descriptions of members, which begin as those of the REST interface do.
  /^widget\/src\/server\/webhook-events\.generated\.ts$/,
  /^server\/scripts\/language\.mjs$/,
  /^test\/scripts\/language\.test\.ts$/,
];

/** British spellings, by their beginnings. */
const BRITISH =
  /\b(un)?(colour|favour|honour|neighbour|behaviour|authoris|recognis|reorganis|organis|normalis|initialis|serialis|customis|cancelled|cancelling|centre|licence|instalment|misspelt|catalogue|fulfil\b)\w*/gi;
/** What merchants and payers read in English: its spelling is American. */
const AMERICAN =
  /^(README\.md|schema\.graphql|(server|widget)\/(README\.md|docs\/[^/]+\.md)|widget\/src\/(payouts\/)?locales\/en\.ts|server\/src\/api\/checkout-page\/texts\/en\.ts)$/;
/** The names in such a file: code and addresses in a document, keys in a list of texts. */
const NAMES = /```[\s\S]*?```|`[^`\n]*`|\]\([^)]*\)/g;
const KEYS = /^\s*\w+(?=[:(])/gm;

/** Finds British spellings outside of names. @param {string} text @param {string} file */
function findBritish(text, file) {
  const blank = (/** @type {string} */ name) => name.replace(/[^\n]/g, ' ');
  const words = text.replace(file.endsWith('.ts') ? KEYS : NAMES, blank);
  return [...words.matchAll(BRITISH)].map((match) => ({ match, found: `the British “${match[0]}”` }));
}

/** Finds conditions that begin like a place in the comments of a source. @param {string} text */
function findConditions(text) {
  return [...text.matchAll(COMMENT)].flatMap((comment) =>
    [...comment[0].matchAll(CONDITION)].map((match) => ({
      match: { index: comment.index + match.index },
      found: `“${match[0].replace(/[\s*]+/g, ' ')}”: say “if”`,
    })),
  );
}

/**
 * Finds banned words and openings in a text, the conditions of a source's comments that say “where”, and British spellings in one that users read.
 * @param {string} text
 * @param {string} [file] the path of the text; more is banned in sources
 * @returns {{ line: number, found: string }[]}
 */
export function findBannedLanguage(text, file = '') {
  // The mask of a destination is part of the interface.
  const own = text.replaceAll('(not told)', '(not said)');
  const openings = SOURCES.test(file) ? [OPENING, SOURCE_OPENING] : [OPENING];
  return [
    ...(AMERICAN.test(file) ? findBritish(text, file) : []),
    ...(/\.graphql$/.test(file) || !SOURCES.test(file) ? [] : findConditions(text)),
    ...[...own.matchAll(WORDS)].map((match) => ({ match, found: `“${match[0].replace(/[\s/*#]+/g, ' ')}”` })),
    ...openings
      .flatMap((opening) => [...own.matchAll(opening)])
      .map((match) => ({
        match,
        found: `a ${match[1] === '/**' ? 'doc comment' : 'description'} that begins with “${match[2]}”`,
      })),
  ]
    .map(({ match, found }) => ({ line: text.slice(0, match.index).split('\n').length, found }))
    .sort((left, right) => left.line - right.line);
}

/** Searches every text of the repository that is not exempt. Works without git, which a copy of the sources may lack. */
export async function language() {
  const files = SEARCHED.flatMap(filesUnder).filter(
    (file) => TEXTS.test(file) && !EXEMPT.some((exempt) => exempt.test(file)) && existsSync(join(root, file)),
  );
  const output = files.flatMap((file) =>
    findBannedLanguage(readFileSync(join(root, file), 'utf8'), file).map(
      ({ line, found }) => `${file}:${line} has ${found}\n`,
    ),
  );
  return { ok: output.length === 0, output: output.join('') };
}
