import type { Context, Span as OtelSpan } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracesConfig } from '../config.ts';
import type { Log } from '../db/log.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { PaymentError } from '../kernel/errors.ts';
import { type Attributes, type Span, setTracer, type Tracer } from '../kernel/traces.ts';

/** A collector that does not answer keeps the process no longer than this when it stops. */
const LAST_EXPORT_MS = 2_000;
const EXPORT_MS = 5_000;
/** That traces are lost is said so often, and not with each batch. */
const COMPLAINT_MS = 60_000;

/**
 * Writes traces to an OTLP collector. The libraries are loaded here and nowhere else, so that who wants no traces pays
 * nothing for them. Returns what sends the last of them and ends it.
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
  const exporter = complaining(
    new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: EXPORT_MS }),
    { clock, log },
  );
  const provider = new TracerProvider({
    // Of the process and the machine nothing is said: arguments and paths are nobody's business.
    resource: resourceFromAttributes({ 'service.name': serviceName }),
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
      span.setAttribute('error.type', kindOf(error));
      span.end();
    };
    let result: Result;
    try {
      result = contexts.with(trace.setSpan(parent, span), () => work(stepOf(span)));
    } catch (error) {
      fail(error);
      throw error;
    }
    if (result instanceof Promise) result.then(() => span.end(), fail);
    else span.end();
    return result;
  }

  /** A timer or a loop that outlives its span belongs to no trace. */
  function active() {
    const span = trace.getSpan(contexts.active());
    const found = span?.spanContext();
    const isOver = found && (found.traceFlags & TraceFlags.SAMPLED) !== 0 && !span!.isRecording();
    return found && !isOver && isSpanContextValid(found) ? found : null;
  }

  const tracer: Tracer = {
    begin({ name, kind, attributes, parent }, work) {
      const theirs = parent === undefined ? null : parseTraceParent(parent);
      const beginning = theirs
        ? trace.setSpanContext(ROOT_CONTEXT, { ...theirs, isRemote: true })
        : ROOT_CONTEXT;
      return run(name, { kind, attributes, parent: beginning }, work);
    },
    step(name, kind, attributes, work) {
      const parent = contexts.active();
      if (!trace.getSpan(parent)?.isRecording()) return work(stepOf(null));
      return run(name, { kind, attributes, parent }, work);
    },
    isInside: () => active() !== null,
    traceparent() {
      const span = active();
      if (!span) return null;
      const flags = (span.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
      return `00-${span.traceId}-${span.spanId}-${flags}`;
    },
    // What a request has left behind may still say where it came from.
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

/** Where there is no span, nothing is written. */
function stepOf(span: OtelSpan | null): Span {
  return {
    set: (attributes) => span?.setAttributes(attributes),
    rename: (name) => span?.updateName(name),
  };
}

/** A closed code or a class: a message may repeat what a client has sent, or a row of a table. */
function kindOf(error: unknown): string {
  if (error instanceof PaymentError) return error.code;
  return error instanceof Error ? error.name : 'thrown';
}

/** Says once in a while that nothing arrives: the library says it to nobody. */
function complaining(exporter: SpanExporter, { clock, log }: { clock: Clock; log: Log }): SpanExporter {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const now = clock.ms();
        if (result.error && now >= nextAt) {
          nextAt = now + COMPLAINT_MS;
          log.warn({ reason: result.error.message }, 'Traces are lost: the collector does not take them');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
