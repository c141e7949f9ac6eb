import { readFound, writeFound } from '../found.mjs';
import type { Findings } from './kit.ts';

/** Saves the findings, and the document that shows them. */
export async function save(findings: readonly Findings[]): Promise<void> {
  const found = readFound();
  for (const { client, version, passed, failed } of findings) {
    const results = [
      ...passed.map((feature) => [feature, 'passed'] as const),
      ...failed.map((feature) => [feature, 'failed'] as const),
    ];
    found[client] = { version, results: Object.fromEntries(results) };
  }
  await writeFound(found);
}
