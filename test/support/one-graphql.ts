import { createRequire } from 'node:module';

/** Vite takes graphql's ES modules and Node its CommonJS ones; two copies refuse each other's types. */
export const ONE_GRAPHQL = {
  alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql/index.js') }],
};
