import { METHODS } from '../src/payouts/methods/registry.ts';

// Prints the labels of the payout methods for the widget.
const labels = Object.values(METHODS).map(({ graphql, label }) => `  ${graphql.name}: '${label}',\n`);

process.stdout.write(`// Made from the records of the payout methods in server/src/payouts/methods; \`npm run regenerate\` writes it.

/** The name of each method in the table, the same in every language. */
export const METHOD_LABELS = {
${labels.join('')}  UNKNOWN: '—',
} as const;

/** UNKNOWN is a method that the server itself does not know yet. */
export type PayoutMethod = keyof typeof METHOD_LABELS;
`);
