/** Serializes a value without the `toJSON` that old libraries give arrays, texts and numbers, which makes other texts of them. */
export function toJson(value: object): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, converted: unknown) {
    const given = this[key];
    // A date has a `toJSON` that is needed.
    return Object(given) === given && !Array.isArray(given) ? converted : given;
  });
}
