/** Serializes a value. Old libraries give arrays, texts and numbers a `toJSON` by which they arrive as other texts: it is left out. */
export function toJson(value: object): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const given = this[key];
    // A date has a `toJSON` that is needed.
    return Object(given) === given && !Array.isArray(given) ? converted : given;
  });
}
