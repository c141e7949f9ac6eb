import type { Finding, Undecided, Verification } from '../verify/model.ts';

/** Formats what was found in the books. */
export function formatVerification({
  found,
  findings,
  undecided,
  looked,
  statements,
  slowestMs,
}: Verification): string {
  const { tenants, transactions, events, resources } = looked;
  const left = found - findings.length;
  return [
    ...findings.flatMap(linesOf),
    ...(left > 0 ? [`and ${left} more`, ''] : []),
    ...undecided.map(inWords),
    `Looked at ${count(transactions, 'ledger transaction')}, ${count(events, 'event')} and ${count(resources, 'resource')} ` +
      `of ${count(tenants, 'set of books', 'sets of books')}, in ${count(statements, 'statement')} of ${slowestMs} ms at most.`,
    found > 0
      ? `${count(found, 'finding')}: the books break a law. Nothing was changed.`
      : undecided.length > 0
        ? 'Nothing was found, but not every law was decided.'
        : 'Every law holds.',
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf({ law, account, environment, key, expected, found, numbers }: Finding): string[] {
  const place = numbers === null ? '' : `, between ${numbers[0]} and ${numbers[1]}`;
  return [
    `${law}: ${key} (account ${account}, ${environment}${place})`,
    `  expected: ${expected}`,
    `  found: ${Object.entries(found)
      .map(([name, value]) => `${name} ${value ?? 'none'}`)
      .join(', ')}`,
    '',
  ];
}

function inWords({ laws, account, environment, reason }: Undecided): string {
  const where = account === null ? '' : ` of account ${account}, ${environment}`;
  return `Not decided${where}: ${laws.join(', ')}; ${reason}.`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
