import type { Context, Span as OtelSpan } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { programVersion } from '../../kernel/assets.ts';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { PaymentError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import { type Attributes, type Span, setTracer, type Tracer } from '../../kernel/traces.ts';
import type { Log } from '../../state/db/log.ts';
import type { TracesConfig } from '../config/config.ts';

/** The limit on the last export, so that a collector that does not answer does not delay a stop. */
const LAST_EXPORT_MS = 2_000;
const EXPORT_MS = 5_000;
/** The interval between two warnings about lost traces; without it each batch would log one. */
const WARNING_MS = 60_000;

/**
 * Writes traces to an OTLP collector. The libraries are loaded here and nowhere else, so that a server without traces
 * does not load them. Returns a function that exports the last traces and stops tracing.
 */
export async function startTraces({
  config: { endpoint, headers, serviceName, share },
  clock,
  log,
}: {
  config: TracesConfig;
  clock: Clock;
  log: Log;
}): Promise<() => Promise<void>> {
  const [
    { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, isSpanContextValid, trace },
    { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider },
    { OTLPTraceExporter },
    { AsyncLocalStorageContextManager },
    { resourceFromAttributes },
    { parseTraceParent },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/core'),
  ]);
  const exporter = withWarnings(
    new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: EXPORT_MS }),
    { clock, log },
  );
  const provider = new TracerProvider({
    // No attributes of the process and the machine: arguments and paths may be confidential.
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': programVersion(),
      // Not a UUID: a random PIX key is one, and no log may have any.
      'service.instance.id': objectId(),
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_MS })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  const spans = provider.getTracer('psa');
  const KINDS = {
    server: SpanKind.SERVER,
    consumer: SpanKind.CONSUMER,
    client: SpanKind.CLIENT,
    internal: SpanKind.INTERNAL,
  };

  function run<Result>(
    name: string,
    { kind, attributes, parent }: { kind: keyof typeof KINDS; attributes: Attributes; parent: Context },
    work: (step: Span) => Result,
  ): Result {
    const span = spans.startSpan(name, { kind: KINDS[kind], attributes }, parent);
    const fail = (error: unknown) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', errorTypeOf(error));
      span.end();
    };
    let result: Result;
    try {
      result = contexts.with(trace.setSpan(parent, span), () => work(toSpan(span)));
    } catch (error) {
      fail(error);
      throw error;
    }
    if (result instanceof Promise) result.then(() => span.end(), fail);
    else span.end();
    return result;
  }

  /** The current span; null in a timer or a loop that has outlived its span. */
  function active() {
    const span = trace.getSpan(contexts.active());
    const found = span?.spanContext();
    // Only a recorded span can end: an unsampled span still propagates its trace.
    const hasEnded = found && (found.traceFlags & TraceFlags.SAMPLED) !== 0 && !span!.isRecording();
    return found && !hasEnded && isSpanContextValid(found) ? found : null;
  }

  const tracer: Tracer = {
    begin({ name, kind, attributes, parent }, work) {
      const remote = parent === undefined ? null : parseTraceParent(parent);
      const parentContext = remote
        ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true })
        : ROOT_CONTEXT;
      return run(name, { kind, attributes, parent: parentContext }, work);
    },
    step(name, kind, attributes, work) {
      const parent = contexts.active();
      if (!trace.getSpan(parent)?.isRecording()) return work(toSpan(null));
      return run(name, { kind, attributes, parent }, work);
    },
    isInside: () => active() !== null,
    traceparent() {
      const span = active();
      if (!span) return null;
      const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
      return `00-${span.traceId}-${span.spanId}-${flags}`;
    },
    // Work that outlives its request still logs the trace of that request.
    traceId: () => trace.getSpanContext(contexts.active())?.traceId ?? null,
    bindContext() {
      const context = contexts.active();
      return (work) => contexts.with(context, work);
    },
  };
  setTracer(tracer);

  return async () => {
    setTracer(null);
    contexts.disable();
    await new Promise<void>((resolve) => {
      const cancel = clock.schedule(plusMs(clock.now(), LAST_EXPORT_MS), resolve);
      void provider
        .shutdown()
        .catch(() => undefined)
        .then(cancel)
        .then(() => resolve());
    });
  };
}

/** The interface of a span for its work; without a span it writes nothing. */
function toSpan(span: OtelSpan | null): Span {
  return {
    set: (attributes) => span?.setAttributes(attributes),
    rename: (name) => span?.updateName(name),
  };
}

/** The code or the class of an error: its message may repeat a client's input, or a row of a table. */
function errorTypeOf(error: unknown): string {
  if (error instanceof PaymentError) return error.code;
  return error instanceof Error ? error.name : 'thrown';
}

/** Logs, at most once in WARNING_MS, that the collector takes no traces: the library does not report it. */
function withWarnings(exporter: SpanExporter, { clock, log }: { clock: Clock; log: Log }): SpanExporter {
  let nextWarningAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const now = clock.ms();
        if (result.error && now >= nextWarningAt) {
          nextWarningAt = now + WARNING_MS;
          log.warn({ reason: result.error.message }, 'Traces are lost: the collector does not take them');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
