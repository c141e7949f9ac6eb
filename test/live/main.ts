import { parseArgs } from 'node:util';
import { CLIENTS } from './clients.ts';
import { conform, conforms } from './kit.ts';

const USAGE = `Usage: npm run conformance -- --endpoint http://localhost:4000/graphql --key ps_test_…
  --other-key KEY      of another account: its updates must not appear among those of the first, nor the other way round
  --client NAME        only this client; may be repeated: ${Object.keys(CLIENTS).join(', ')}
  --payments 40        payments that are created, most of them with a cut of every connection
  --followers 1        followers by each client
  --expired CURSOR     a cursor that the server has to call expired; may be repeated
  --patience 60        seconds within which an update has to come
  --json               print the findings as JSON

The keys are unrestricted ones of accounts for tests: the payments stay, and nobody pays them.`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      endpoint: { type: 'string' },
      key: { type: 'string' },
      'other-key': { type: 'string' },
      client: { type: 'string', multiple: true },
      payments: { type: 'string', default: '40' },
      followers: { type: 'string', default: '1' },
      expired: { type: 'string', multiple: true },
      patience: { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
    },
  });
  const { endpoint, key, client: clients = Object.keys(CLIENTS), expired } = values;
  const [payments, followers, patience] = [values.payments, values.followers, values.patience].map(Number);
  const isNumber = (number: number | undefined, least: number): number is number =>
    Number.isInteger(number) && number! >= least;
  if (!endpoint || !URL.canParse(endpoint) || !key || clients.some((name) => !CLIENTS[name])) return null;
  if (!isNumber(payments, 8) || !isNumber(followers, 1) || !isNumber(patience, 1)) return null;
  const patienceMs = patience * 1_000;
  return {
    endpoint,
    key,
    otherKey: values['other-key'],
    clients,
    payments,
    followers,
    patienceMs,
    expiredCursors: expired,
    isJson: values.json,
  };
}

/** Runs the kit. Returns the exit code: 0 if all is right, 1 if not, 2 if the kit could not run. */
async function run(): Promise<number> {
  try {
    const dose = readOptions();
    if (!dose) {
      console.error(USAGE);
      return 2;
    }
    const findings = await conform(dose);
    const isRight = conforms(findings, dose);
    if (dose.isJson) {
      console.log(JSON.stringify(findings));
      return isRight ? 0 : 1;
    }
    console.table(findings);
    console.log(isRight ? 'Every client received each update once, in order.' : 'FAILED');
    return isRight ? 0 : 1;
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(`✗ ${message}${cause instanceof Error ? `: ${cause.message}` : ''}`);
    return 2;
  }
}

process.exit(await run());
