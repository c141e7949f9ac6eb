/** Attributes of a span: names, kinds, codes and counts, never a value from a client or for one. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span that has not ended. */
export interface Span {
  /** Adds attributes that are known only after the start. */
  set(attributes: Attributes): void;
  rename(name: string): void;
}

export interface SpanOptions {
  readonly name: string;
  readonly attributes: Attributes;
  /** `server`: a caller waits for the answer; `consumer`: a task was due. */
  readonly kind: 'server' | 'consumer';
  /** The `traceparent` header of a request, whose trace is continued. */
  readonly parent?: string | undefined;
}

/** The writer of traces. It exists only if the operator has configured it. */
export interface Tracer {
  begin<Result>(options: SpanOptions, work: (step: Span) => Result): Result;
  step<Result>(
    name: string,
    kind: 'internal' | 'client',
    attributes: Attributes,
    work: (step: Span) => Result,
  ): Result;
  /** Whether a trace is active, even if it is not written. */
  isInside(): boolean;
  traceparent(): string | null;
  traceId(): string | null;
  bindContext(): <Result>(work: () => Result) => Result;
}

let tracer: Tracer | null = null;

/** Sets the tracer of the process; with null no traces are written. */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** Whether traces are written; attributes that are costly to compute are left out otherwise. */
export function isTracing(): boolean {
  return tracer !== null;
}

const NO_SPAN: Span = { set: () => undefined, rename: () => undefined };

/** Runs `work` as the first span of a trace, or of this server's part of a caller's. The span ends when `work` does. */
export function startSpan<Result>(options: SpanOptions, work: (step: Span) => Result): Result {
  return tracer ? tracer.begin(options, work) : work(NO_SPAN);
}

/** Runs `work` as a span of the active trace. Without a trace or a tracer it only runs `work`. */
export function withSpan<Result>(
  name: string,
  attributes: Attributes,
  work: (step: Span) => Result,
  kind: 'internal' | 'client' = 'internal',
): Result {
  return tracer ? tracer.step(name, kind, attributes, work) : work(NO_SPAN);
}

/** Runs `work` as a span of the active trace, or, without one, as the first span of a trace. */
export function withSpanOrTrace<Result>(name: string, attributes: Attributes, work: () => Result): Result {
  if (!tracer) return work();
  return tracer.isInside()
    ? tracer.step(name, 'internal', attributes, work)
    : tracer.begin({ name, kind: 'server', attributes }, work);
}

/** The header that makes another server's work part of this trace; null without a trace. */
export function traceparent(): string | null {
  return tracer ? tracer.traceparent() : null;
}

/** The id of the active trace, for the log. */
export function traceId(): string | null {
  return tracer ? tracer.traceId() : null;
}

/**
 * Captures the active span. Work that is done later for it, in a batch with other work, then belongs to it.
 */
export function bindContext(): <Result>(work: () => Result) => Result {
  return tracer ? tracer.bindContext() : runDirectly;
}

function runDirectly<Result>(work: () => Result): Result {
  return work();
}
