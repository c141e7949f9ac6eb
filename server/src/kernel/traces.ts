/** Attributes of a span. Never a value that came from a client or goes to one: names, kinds, codes, counts. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A step under way. */
export interface Span {
  /** Adds attributes that are known only later. */
  set(attributes: Attributes): void;
  rename(name: string): void;
}

export interface SpanOptions {
  readonly name: string;
  readonly attributes: Attributes;
  /** `server`: somebody waits for the answer; `consumer`: it was due. */
  readonly kind: 'server' | 'consumer';
  /** The `traceparent` header of a request that comes from a trace of somebody else's. */
  readonly parent?: string | undefined;
}

/** Writes traces; there is one only where an operator wants them. */
export interface Tracer {
  begin<Result>(beginning: SpanOptions, work: (step: Span) => Result): Result;
  step<Result>(
    name: string,
    kind: 'internal' | 'client',
    attributes: Attributes,
    work: (step: Span) => Result,
  ): Result;
  /** Whether this is done in a trace, be it one that is not written. */
  isInside(): boolean;
  traceparent(): string | null;
  traceId(): string | null;
  here(): <Result>(work: () => Result) => Result;
}

let tracer: Tracer | null = null;

/** From now on traces are written, or with null are not. One for the process, as its log is. */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** Whether anybody wants to know: what is costly to say is not said otherwise. */
export function isTracing(): boolean {
  return tracer !== null;
}

const NOWHERE: Span = { set: () => undefined, rename: () => undefined };

/** Does `work` as the beginning of a trace, or as the continuation of another's. It ends with what `work` returns. */
export function startSpan<Result>(beginning: SpanOptions, work: (step: Span) => Result): Result {
  return tracer ? tracer.begin(beginning, work) : work(NOWHERE);
}

/** Does `work` as a step of what is being traced. Outside of any trace, and where there are none, it just does it. */
export function withSpan<Result>(
  name: string,
  attributes: Attributes,
  work: (step: Span) => Result,
  kind: 'internal' | 'client' = 'internal',
): Result {
  return tracer ? tracer.step(name, kind, attributes, work) : work(NOWHERE);
}

/** Does `work` as a step of what is being traced, or, where nothing is, as the beginning of a trace. */
export function withSpanEntered<Result>(name: string, attributes: Attributes, work: () => Result): Result {
  if (!tracer) return work();
  return tracer.isInside()
    ? tracer.step(name, 'internal', attributes, work)
    : tracer.begin({ name, kind: 'server', attributes }, work);
}

/** The header that makes another server's work part of this trace; null where there is none. */
export function traceparent(): string | null {
  return tracer ? tracer.traceparent() : null;
}

/** For the log. */
export function traceId(): string | null {
  return tracer ? tracer.traceId() : null;
}

/** Where this is called: what is done later on its behalf, by somebody who does it for several, belongs there. */
export function bindContext(): <Result>(work: () => Result) => Result {
  return tracer ? tracer.here() : straight;
}

function straight<Result>(work: () => Result): Result {
  return work();
}
