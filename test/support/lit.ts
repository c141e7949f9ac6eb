/** The text of a template and of the templates inside it. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value : '';
  const { strings = [], values = [] } = value as { strings?: readonly string[]; values?: readonly unknown[] };
  return strings.map((text, index) => text + textOf(values[index])).join('');
}
