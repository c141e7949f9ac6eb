import { deprecatedSince } from './deprecations.ts';
import type { Types } from './mutations.ts';

/**
 * The field `isFinal`, and `final`, its name in 0.1.0.
 *
 * @param description which statuses are final
 */
export function finalFields<Shape>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Shape>,
  description: string,
  resolve: (resource: Shape) => boolean,
) {
  // A boolean field demands no more of its resolver's types than these, but the builder cannot say so of any Shape.
  const options = { description, resolve: (resource: unknown) => resolve(resource as Shape) };
  return {
    isFinal: t.boolean(options),
    final: t.boolean({
      ...options,
      deprecationReason: deprecatedSince('0.2.0', 'Use isFinal: final is a reserved word of Java and Dart.'),
    }),
  };
}
