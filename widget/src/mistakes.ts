import type { Problem } from './explain.ts';

/**
 * One promise for all explanations: separate imports might resolve in another order than their problems came.
 */
let chunk: Promise<typeof import('./explain.ts')> | undefined;

/** Explains in the console what a mistake in the page may have caused; see explain.ts. */
export function explain(element: Element, problem: Problem): void {
  // If the chunk does not load, the element works without the explanation.
  chunk ??= import('./explain.ts');
  chunk.then((it) => it.explain(element, problem)).catch(() => undefined);
}

/**
 * Explains why an element is idle, if it still is after three seconds, in which the page may set missing
 * attributes.
 */
export function explainIfIdle(element: Element & { readonly phase: string }): void {
  setTimeout(() => element.phase === 'idle' && explain(element, 'missing'), 3_000);
}

/** Whether a token is an API key, which no page may have. */
export function hasSecret({
  token,
  paymentToken,
}: {
  token?: string | undefined;
  paymentToken?: string | undefined;
}): boolean {
  return /\bps_(live|test)_/.test(`${token} ${paymentToken}`);
}
