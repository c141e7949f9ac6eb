import { type DocumentNode, type GraphQLSchema, NoDeprecatedCustomRule, validate } from 'graphql';

/** The releases that deprecated members, and the days on which they announced it. */
export const DEPRECATING_RELEASES: Readonly<Record<string, string>> = { '0.2.0': '2026-12-01' };

/** The time for which a deprecated member still works at least. */
const MONTHS_OF_LIFE = 12;

/** The reason of a deprecation. @param instead what to use instead, as a sentence */
export function deprecatedSince(release: string, instead: string): string {
  return `${instead} Deprecated since ${release}.`;
}

const headersByDocument = new WeakMap<DocumentNode, Readonly<Record<string, string>>>();

/**
 * The headers of a response to a document that uses deprecated members: `Deprecation` (RFC 9745) with the day on which the first
 * of them was deprecated, `Sunset` (RFC 8594) with the first day on which it may go. No headers for any other document.
 *
 * @param document a valid document
 */
export function deprecationHeaders(
  schema: GraphQLSchema,
  document: DocumentNode,
): Readonly<Record<string, string>> {
  const known = headersByDocument.get(document);
  if (known) return known;
  const days = validate(schema, document, [NoDeprecatedCustomRule])
    .map(({ message }) => DEPRECATING_RELEASES[/Deprecated since (\S+)\.$/.exec(message)?.[1] ?? ''])
    .filter((day) => day !== undefined)
    .sort();
  const headers = days[0] === undefined ? {} : headersSince(new Date(days[0]));
  headersByDocument.set(document, headers);
  return headers;
}

function headersSince(deprecated: Date): Record<string, string> {
  const sunset = new Date(deprecated);
  sunset.setUTCMonth(sunset.getUTCMonth() + MONTHS_OF_LIFE);
  return { deprecation: `@${deprecated.getTime() / 1000}`, sunset: sunset.toUTCString() };
}
