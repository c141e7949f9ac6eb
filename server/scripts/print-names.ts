// Prints the table of names, as JSON: the content by the path.

import { createOperations } from '../src/programs/modes/parts.ts';
import { schema } from '../src/programs/modes/schema.ts';
import { EVENTS } from '../src/webhooks/sent-events.ts';
import { fillDocument, table } from './markdown.ts';
import { COLUMNS, type Column, deviates, NONE, type Resource, readResources } from './names.ts';
import { DEVIATIONS, WORDS } from './names-deviations.ts';

const DOCUMENT = 'server/docs/names.md';
/** The tables of the document, each with the columns that are read together. */
const TABLES: Readonly<Record<string, readonly Column[]>> = {
  'Which one it is': ['identifier', 'own number', 'customer', 'metadata', 'node'],
  'What it costs, and how it stands': ['status', 'amount', 'fee', 'net', 'refunds'],
  'How it is found and followed': ['filter', 'order', 'updates', 'REST', 'webhooks'],
  'When it happened': ['times'],
};

if (COLUMNS.length !== Object.values(TABLES).flat().length) throw new Error('A column is in no table.');

// Describing the operations calls no service.
const routes = createOperations({ publicUrl: '' } as Parameters<typeof createOperations>[0]);
const resources = readResources({ schema, routes, events: Object.keys(EVENTS) }, WORDS);
const numberOf = new Map(
  DEVIATIONS.flatMap(({ cells }, index) => cells.map((cell) => [cell, index + 1] as const)),
);

const sections = Object.entries(TABLES).map(([title, columns]) => {
  const rows = resources.map((resource) => [
    `\`${resource.type}\``,
    ...columns.map((column) => cellOf(resource, column)),
  ]);
  return `## ${title}\n\n${table([['resource', ...columns], ...rows])}`;
});
const reasons = DEVIATIONS.map(({ reason }, index) => `${index + 1}. ${reason}`);
process.stdout.write(
  JSON.stringify({
    [DOCUMENT]: fillDocument(DOCUMENT, `${sections.join('\n\n')}\n\n## Reasons\n\n${reasons.join('\n')}`),
  }),
);

function cellOf({ type, cells }: Resource, column: Column): string {
  const { shown } = cells[column];
  const text = shown === NONE || column === 'order' ? shown : codeOf(shown);
  const reason = deviates(column, cells[column]) ? numberOf.get(`${type}.${column}`) : undefined;
  return reason === undefined ? text : `${text} (${reason})`;
}

function codeOf(names: string): string {
  return names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', ');
}
