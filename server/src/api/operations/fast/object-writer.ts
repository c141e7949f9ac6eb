import { isPromise } from '../../graphql/execution.ts';
import type { Failure, Path } from '../../graphql/failures.ts';

/** One execution of a compiled operation. */
export interface Run {
  context: unknown;
  variables: Readonly<Record<string, unknown>>;
  root: unknown;
  failures: Failure[];
}

/** The JSON of a value. */
export type Text = string | Promise<string>;
/** Writes the members of `source`, which is at `path`. Never throws, and never rejects. */
export type WriteFields = (source: unknown, path: Path | undefined, run: Run) => Text;
/** Writes a value at `path`. Throws or rejects if the value is not of its type. */
export type Complete = (value: unknown, path: Path | undefined, run: Run) => Text;

export interface CompiledField {
  /** Reads the field and completes its value. */
  write: WriteFields;
  /** Completes a value that was read. Never throws, and never rejects. */
  settle: Complete;
  /** Notes a failure and returns `null`. */
  fail(thrown: unknown, parent: Path | undefined, run: Run): string;
  /** The code of `write`; null for a field that only `write` can handle. */
  inline: InlineField | null;
}

/**
 * Code that writes a field, for most values without a function call. In the texts `#` stands for the number of the field,
 * and `v` for its value.
 */
export interface InlineField extends InlineLeaf {
  /** Reads the value. */
  read: string;
  /** Writes a value for which `isPlain` is false. */
  otherwise: string;
  /** Values by the names that the texts use, without the number. */
  bindings: Record<string, unknown>;
}

/** Code that writes the JSON of a leaf. */
export interface InlineLeaf {
  /** Whether `text` can write the value; may leave something in `w` for `text`. */
  isPlain: string;
  text: string;
  /** The character around the text. */
  quote: '"' | '';
}

/** Matches a text that JSON writes without escapes. Half of a surrogate pair needs one. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** The length from which `isPlain` checks a text. */
export const LONG = 500;
let lastPlain = '';

/** Matches a long text once: the path of a QR code is one string in all the operations and aliases of an update. */
function isPlain(text: string): boolean {
  if (text === lastPlain) return true;
  if (!PLAIN.test(text)) return false;
  lastPlain = text;
  return true;
}

/**
 * Generates one function for all members of an object: wherever a member is read or a function is called, the
 * engine then sees one kind of object and one function, and a list of fifty takes half the time. The code holds names of
 * the schema and the document, which consist of letters, digits and `_`, and numbers.
 */
export function createObjectWriter(members: readonly (readonly [key: string, CompiledField])[]): WriteFields {
  // A fragment on an interface can select other types only.
  if (members.length === 0) return () => '{}';
  const fields = members.map(([, field]) => field);
  const before = members.map(([key], index) => `${index === 0 ? '{' : ','}"${key}":`);

  function concatenate(texts: readonly string[]): string {
    let text = '';
    for (let index = 0; index < texts.length; index += 1) text += before[index]! + texts[index]!;
    return `${text}}`;
  }
  function join(texts: readonly Text[]): Text {
    if (!texts.some(isPromise)) return concatenate(texts as readonly string[]);
    // Most operations have one root field.
    return texts.length === 1
      ? (texts[0] as Promise<string>).then((text) => concatenate([text]))
      : Promise.all(texts).then(concatenate);
  }
  /** Writes the failed field as null, and the others one by one. */
  function resumeAfterError(
    texts: readonly Text[],
    thrown: unknown,
    source: unknown,
    path: Path | undefined,
    run: Run,
  ): Text {
    const failed = fields[texts.length]!.fail(thrown, path, run);
    const rest = fields.slice(texts.length + 1).map((field) => field.write(source, path, run));
    return join([...texts, failed, ...rest]);
  }

  const bindings: Record<string, unknown> = { PLAIN, isPlain, join, resumeAfterError };
  const steps = fields.map(({ inline, ...field }, index) => {
    for (const [name, value] of Object.entries({ ...field, ...inline?.bindings }))
      bindings[`${name}${index}`] = value;
    const step = inline
      ? `v = ${inline.read};
        if (${inline.isPlain}) t# = ${inline.text};
        else { ${inline.quote && `q# = ''; plain = false;`} if (typeof (t# = ${inline.otherwise}) !== 'string') waits = true; }`
      : `if (typeof (t# = write#(source, path, run)) !== 'string') waits = true;`;
    return `at = #; ${step}`.replaceAll('#', String(index));
  });
  const quotes = fields.map(({ inline }) => inline?.quote ?? '');
  const texts = fields.map((_, index) =>
    quotes[index] ? `(q${index} ? q${index} + t${index} + q${index} : t${index})` : `t${index}`,
  );
  // If every value is plain, the quotes are part of the text between the values, so fewer texts are joined.
  const plain = fields.map(
    (_, index) => `'${quotes[index - 1] ?? ''}${before[index]}${quotes[index]}' + t${index}`,
  );
  return new Function(
    ...Object.keys(bindings),
    `'use strict';
    return (source, path, run) => {
      const object = typeof source === 'object' || typeof source === 'function' ? source : {};
      let at = 0, waits = false, plain = true, v, w;
      let ${fields.map((_, index) => `t${index}, q${index} = '${quotes[index]}'`).join(', ')};
      try {
        ${steps.join('\n')}
      } catch (error) {
        return resumeAfterError([${texts.join(', ')}].slice(0, at), error, source, path, run);
      }
      if (waits) return join([${texts.join(', ')}]);
      if (plain) return ${plain.join(' + ')} + '${quotes.at(-1)}}';
      return ${before.map((text, index) => `'${text}' + ${texts[index]}`).join(' + ')} + '}';
    };`,
  )(...Object.values(bindings));
}
