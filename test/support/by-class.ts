import { UPSTREAM_PRIORITIES, type UpstreamPriority } from '../../server/src/upstream/upstream.ts';

/** A value for each class of requests to another service. */
export function byClass<Value>(createValue: (each: UpstreamPriority) => Value) {
  return Object.fromEntries(UPSTREAM_PRIORITIES.map((each) => [each, createValue(each)])) as Record<
    UpstreamPriority,
    Value
  >;
}
