// Hive Gateway in front of the service's OpenAPI description, both set up as its documentation says, with the
// defaults. Error responses are left out of its schema, so that its queries are as short as ours.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { answerParent, cpuMicroseconds } from './answer.mjs';

/** The peer's own folder of packages, which is installed when it is needed. */
const installed = createRequire(new URL('../peers/hive-gateway/', import.meta.url));

answerParent({
  async start({ upstream }) {
    const { createGatewayRuntime } = installed('@graphql-hive/gateway-runtime');
    const { composeSubgraphs } = installed('@graphql-mesh/fusion-composition');
    const { DefaultLogger } = installed('@graphql-mesh/utils');
    const { loadOpenAPISubgraph } = installed('@omnigraph/openapi');

    const load = loadOpenAPISubgraph('Payments', {
      source: `${upstream}/v1/openapi.json`,
      endpoint: upstream,
      operationHeaders: { authorization: "{context.headers['authorization']}" },
      ignoreErrorResponses: true,
    });
    const { name, schema$ } = load({ cwd: process.cwd(), fetch, logger: new DefaultLogger() });
    const { supergraphSdl, errors } = composeSubgraphs([{ name, schema: await schema$ }]);
    if (errors?.length) throw new Error(errors.join('\n'));

    const server = createServer(createGatewayRuntime({ supergraph: supergraphSdl }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${address.port}` };
  },
  cpu: cpuMicroseconds,
});
