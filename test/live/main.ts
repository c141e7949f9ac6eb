import { parseArgs } from 'node:util';
import { CLIENTS } from './clients.ts';
import { conform } from './kit.ts';

const USAGE = `Usage: npm run conformance -- --endpoint http://localhost:4000/graphql --key ps_test_…
  --client NAME     only this client; may be repeated: ${Object.keys(CLIENTS).join(', ')}
  --payments 40     payments that are created, most of them with a cut of every connection
  --followers 1     followers by each client

The key is an unrestricted one of an account for tests: the payments stay, and nobody pays them.`;

const { values } = parseArgs({
  options: {
    endpoint: { type: 'string' },
    key: { type: 'string' },
    client: { type: 'string', multiple: true },
    payments: { type: 'string', default: '40' },
    followers: { type: 'string', default: '1' },
  },
});
const { endpoint, key, client: clients = Object.keys(CLIENTS) } = values;
const [payments, followers] = [Number(values.payments), Number(values.followers)];
const isUsable = Number.isInteger(payments) && payments >= 8 && Number.isInteger(followers) && followers >= 1;
if (!endpoint || !URL.canParse(endpoint) || !key || !isUsable || clients.some((name) => !CLIENTS[name])) {
  console.error(USAGE);
  process.exit(2);
}

const findings = await conform({ endpoint, key, clients, payments, followers });
console.table(findings.map(({ silentGaps: _, ...row }) => row));
const isFaulty = findings.some(
  ({ updates, missed, doubled, misplaced, foreign, errors, renewals }) =>
    missed + doubled + misplaced + foreign + errors > 0 ||
    updates !== payments * followers ||
    renewals < followers,
);
console.log(isFaulty ? 'FAILED' : 'Every client received each update once, in order.');
process.exit(isFaulty ? 1 : 0);
