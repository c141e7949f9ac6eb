import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { said as saidByServer } from './log-capture.ts';

/** A span as it comes over OTLP/HTTP with JSON. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where it begins a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}

/** Takes traces as an OpenTelemetry collector does. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** All that came, as text. */
  readonly said: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Sets the answer from now on. */
  answers: number;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const said: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (request.url === '/v1/traces') {
      said.push(text);
      saidByServer('trace', text);
      headers.push(request.headers);
      for (const { scopeSpans } of JSON.parse(text).resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(collector.answers, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    said,
    headers,
    answers: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return collector;
}
