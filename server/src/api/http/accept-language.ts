/** Returns the supported language that an `Accept-Language` header prefers; the first one for `*`, or if none is accepted. */
export function preferredOf<Code extends string>(
  languages: readonly [Code, ...Code[]],
  accepted: string,
): Code {
  let [preferred, highest]: [Code, number] = [languages[0], 0];
  for (const range of accepted.split(',', MAX_RANGES)) {
    const [tag = '', ...parameters] = range.split(';');
    const language = tag.trim() === '*' ? languages[0] : matchLanguage(languages, tag.trim());
    const quality = qualityOf(parameters);
    if (language !== null && quality > highest) [preferred, highest] = [language, quality];
  }
  return preferred;
}

/** The language that a tag such as `es-MX` is a variant of; null if it is of none. */
export function matchLanguage<Code extends string>(languages: readonly Code[], tag: string): Code | null {
  const primary = tag.split('-', 1)[0]!.toLowerCase();
  return languages.find((code) => code.split('-', 1)[0] === primary) ?? null;
}

/** The most ranges that are read: more than any browser sends. */
const MAX_RANGES = 40;

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, quality] = /^\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*$/i.exec(parameter) ?? [];
    if (quality !== undefined) return Number(quality);
  }
  return 1;
}
