import { createRequire } from 'node:module';
import * as ours from 'graphql';
import { expect, it } from 'vitest';

it('The server shares one copy of graphql with the libraries that Node loads', () => {
  const theirs = createRequire(import.meta.url)('graphql');

  expect(ours.GraphQLObjectType).toBe(theirs.GraphQLObjectType);
});
