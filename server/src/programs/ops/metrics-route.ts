import { collectDefaultMetrics, Registry } from 'prom-client';
import { type Route, send } from '../../api/http/routes.ts';

/** The registry of the process's own metrics, created once: the library's collectors are never stopped. */
let sharedProcessRegistry: Registry | null = null;

function processRegistry(): Registry {
  if (sharedProcessRegistry) return sharedProcessRegistry;
  sharedProcessRegistry = new Registry();
  collectDefaultMetrics({ register: sharedProcessRegistry });
  return sharedProcessRegistry;
}

/** The route of `/metrics`: the process and the given registries, in Prometheus' text format, without a tenant's data. */
export function createMetricsRoutes(...others: (Registry | null)[]): Route[] {
  const registries = [processRegistry(), ...others.filter((registry) => registry !== null)];
  return [
    {
      methods: ['GET', 'HEAD'],
      path: /^\/metrics$/,
      async handle({ response }) {
        const texts = await Promise.all(registries.map((each) => each.metrics()));
        send(response, 200, texts.join('\n'), {
          'content-type': Registry.PROMETHEUS_CONTENT_TYPE,
          'cache-control': 'no-store',
        });
      },
    },
  ];
}
