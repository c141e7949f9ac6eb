import { createRequire } from 'node:module';

/** Makes Vite load graphql's CommonJS modules, as Node does: two copies of the package refuse each other's types. */
export const ONE_GRAPHQL = {
  alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql/index.js') }],
};
