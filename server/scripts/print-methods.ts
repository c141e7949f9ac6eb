import { METHODS } from '../src/kernel/payout-methods/registry.ts';

// Prints the members of the payout methods that the widget and the demo show, as JSON by file.

const HEAD =
  '// Made from the records of the payout methods in server/src/kernel/payout-methods; `npm run regenerate` writes it.\n\n';

const labels = Object.values(METHODS).map(({ graphql, label }) => `  ${graphql.name}: '${label}',\n`);
const widget = `${HEAD}/** The name of each method in the table, the same in every language. */
export const METHOD_LABELS = {
${labels.join('')}  UNKNOWN: '—',
} as const;

/** UNKNOWN is a method that the server itself does not know yet. */
export type PayoutMethod = keyof typeof METHOD_LABELS;
`;

const records = Object.entries(METHODS).map(([wireName, { graphql, label, destination }]) => {
  const members = `method: '${graphql.name}', wireName: '${wireName}', label: '${label}'`;
  return `  { ${members}, isAddress: ${destination.isPublic} },\n`;
});
const demo = `${HEAD}/** The methods that the demo offers: by GraphQL and by REST. An address is of a public ledger, and a key is not. */
export const PAYOUT_METHODS = [
${records.join('')}] as const;

export type PayableMethod = (typeof PAYOUT_METHODS)[number]['method'];
`;

process.stdout.write(
  JSON.stringify({ 'widget/src/payouts/methods.ts': widget, 'widget/demo/shared/payout-methods.ts': demo }),
);
