/** Serializes a value. Old libraries give arrays and texts a `toJSON` by which an array would arrive as a text: it is left out. */
export function toJson(value: object): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key) {
    return this[key];
  });
}
