import { ValidationError } from '../../kernel/errors.ts';
import {
  describeResource,
  findForeignId,
  foreignIdMessage,
  type ResourceName,
  resourceAt,
  resourceOf,
} from '../../kernel/resource-ids.ts';
import type { RestOperation } from './rest.ts';

/**
 * Refuses the id of another resource in the path, or in the query or the body, with the operation that takes it: a 404 would
 * read as "never sold".
 * @throws ValidationError
 */
export interface IdCheck {
  ofPath(operation: RestOperation, params: Readonly<Record<string, string>>): void;
  /** `members`: those of the query or of the body. */
  ofMembers(operation: RestOperation, members: object): void;
}

export function createIdCheck(operations: readonly RestOperation[]): IdCheck {
  const paths = new Map(operations.map(({ method, path }) => [`${method} ${normalized(path)}`, path]));

  /** The operation that does the same with the resource that is meant, or looks it up if none does. */
  function operationFor({ method, path }: RestOperation, collection: string, meant: ResourceName): string {
    const other = `/v1/${describeResource(meant).collection}`;
    const sibling =
      resourceAt(collection) && paths.get(`${method} ${normalized(path.replace(collection, other))}`);
    return sibling
      ? `${method} ${sibling}`
      : `GET ${paths.get(`GET ${normalized(other)}/{}`) ?? `${other}/{id}`}`;
  }

  return {
    ofPath(operation, params) {
      for (const [name, value] of Object.entries(params)) {
        const collection = operation.path.slice(0, operation.path.indexOf(`/{${name}}`));
        const meant = resourceOf(value);
        if (meant === null || meant === resourceAt(collection)) continue;
        throw refusal(name, meant, operationFor(operation, collection, meant));
      }
    },
    ofMembers(operation, members) {
      for (const [name, value] of Object.entries(members)) {
        const foreign = name === 'reference' || name === 'code' ? null : findForeignId(name, value);
        if (foreign) throw refusal(name, foreign.meant, operationFor(operation, '', foreign.meant));
      }
    },
  };
}

function refusal(path: string, meant: ResourceName, operation: string): ValidationError {
  return new ValidationError([{ path, message: foreignIdMessage(meant, operation) }]);
}

function normalized(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '{}');
}
