import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { captureOutput } from './log-capture.ts';

/** A span as OTLP/HTTP with JSON sends it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** The id of the parent span; empty if the span begins a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}

/** A server that receives traces as an OpenTelemetry collector does. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The bodies of all requests, as text. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** The status of each later answer. */
  status: number;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (request.url === '/v1/traces') {
      bodies.push(text);
      captureOutput('trace', text);
      headers.push(request.headers);
      for (const { scopeSpans } of JSON.parse(text).resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    status: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return collector;
}
