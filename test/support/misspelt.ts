/** The part of a JSON Schema that names an object's members. */
interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

type Path = readonly (string | number)[];

/** A body with one member that its schema does not have. */
interface Planted {
  body: object;
  /** The path of the member, as the refusal names it. */
  name: string;
  /** The member that was meant; null if there is none. */
  meant: string | null;
}

/** Makes one edit in a name each. */
const EDITS: readonly ((name: string) => string)[] = [
  (name) => name.slice(0, -1),
  (name) => `${name}s`,
  (name) => name.slice(0, 1) + name,
  (name) => name.slice(0, 1).toUpperCase() + name.slice(1),
  (name) => `${name} `,
  (name) => `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`,
];

/**
 * Plants unknown members in an example, one in each body: in each object of the schema one without a resemblance, and
 * each member misspelt by one edit and in snake_case, unless that is the name of another member.
 */
export function unknownMembersOf(schema: Schema, example: object): Planted[] {
  return objectsOf(schema, []).flatMap(({ path, members }) => {
    const planted = (given: string, meant: string | null): Planted => ({
      body: withMember(example, path, given, meant),
      name: [...path, / /.test(given) ? JSON.stringify(given) : given].join('.'),
      meant,
    });
    const misspelt = members.flatMap((member, index) => {
      const snake = member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const given = [EDITS[index % EDITS.length]!(member), snake];
      return given.filter((name) => !members.includes(name)).map((name) => planted(name, member));
    });
    return [planted('zzzzzzzz', null), ...misspelt];
  });
}

function objectsOf(
  { properties, items, anyOf = [] }: Schema,
  path: Path,
): { path: Path; members: string[] }[] {
  return [
    ...(properties ? [{ path, members: Object.keys(properties) }] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, member]) => objectsOf(member, [...path, name])),
    ...(items ? objectsOf(items, [...path, 0]) : []),
    ...anyOf.flatMap((each) => objectsOf(each, path)),
  ];
}

/** A copy of the example whose object at `path` has `given` in place of `meant`. A missing object is created. */
function withMember(example: object, path: Path, given: string, meant: string | null): object {
  const body = structuredClone(example) as Record<string | number, unknown>;
  let object = body;
  for (const [index, step] of path.entries()) {
    object[step] ??= typeof path[index + 1] === 'number' ? [] : {};
    object = object[step] as Record<string | number, unknown>;
  }
  object[given] = meant === null ? 1 : (object[meant] ?? null);
  if (meant !== null) delete object[meant];
  return body;
}
