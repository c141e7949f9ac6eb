import { firstTenant } from '../../access/service.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PermissionError, PreconditionError, RateLimitError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type {
  CheckedEndpoint,
  CheckedFeature,
  UpstreamCheck,
  UpstreamChecker,
} from '../../kernel/upstream-check.ts';
import type { MirroredResource, UpstreamFamily } from '../../kernel/upstream-family.ts';
import type { Database } from '../../state/db/database.ts';
import { createBudget } from '../../upstream/budget/budget.ts';
import type { Checks, ReadEndpoint } from '../../upstream/checks.ts';
import { createUpstream } from '../../upstream/client.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import { newestMirrored } from '../../upstream/mirror-lists.ts';
import { isSuccess, refusalOf, saysNotFound } from '../../upstream/responses.ts';
import { redactionOf } from '../../upstream/secrets.ts';
import { type Upstream, UpstreamFault } from '../../upstream/upstream.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { CHECKS } from './parts.ts';

const READ_ENDPOINTS = CHECKS.flatMap(({ reads }) => reads);
const WRITE_ENDPOINTS = CHECKS.flatMap(({ writes = [] }) => writes);
const FEATURES = CHECKS.flatMap(({ reads, features }) =>
  features.map((feature) => ({ needs: reads.map(({ name }) => name), ...feature })),
);

/** The wait for a slot: a payout may take the last ones of the minute. */
const WAIT_MS = 2_000;

/** Creates the check of the service behind a facade; `upstreamConfig` is null if there is none. */
export function createUpstreamCheck({
  database,
  clock,
  upstreamConfig,
}: {
  database: Database;
  clock: Clock;
  upstreamConfig: UpstreamConfig | null;
}): UpstreamChecker {
  return {
    async checkUpstream({ environment: wanted }) {
      if (!upstreamConfig)
        throw new PreconditionError(
          'NOT_OFFERED',
          'PSA_UPSTREAM_URL is not set: this server has no service behind it',
        );
      const { url, keys, families, requestsPerMinute: limit, windowMs } = upstreamConfig;
      const environment = wanted ?? (keys.live === undefined ? 'sandbox' : 'live');
      if (keys[environment] === undefined)
        throw new PreconditionError('NOT_OFFERED', `This server has no ${environment} key of the service`);
      const { accountId } = await firstTenant(database.sql);
      const tenant = { accountId, environment };
      // The answers are the result of the check, so faults are not reported elsewhere.
      const onFault = () => undefined;
      // The budget is in the database: the requests count with those of all servers on it.
      const budget = createBudget({ database, clock, limit, windowMs, accountKey: accountId, onFault });
      const redaction = redactionOf(upstreamConfig);
      const upstream = createUpstream({ url, keys, budget, clock, redaction, onFault });
      try {
        return await check({
          ...{ upstream, clock, tenant, families: new Set(families) },
          knownId: async (resource) => (await newestMirrored(database.sql, tenant, resource))?.observed.id,
        });
      } finally {
        await upstream.close();
      }
    },
  };
}

interface Asked {
  checked: CheckedEndpoint;
  id?: string | undefined;
}

async function check({
  upstream,
  clock,
  tenant: { environment },
  families,
  knownId,
}: {
  upstream: Upstream;
  clock: Clock;
  tenant: Tenant;
  families: ReadonlySet<UpstreamFamily>;
  /** Finds the id of a resource that the mirror has. */
  knownId: (resource: MirroredResource) => Promise<string | undefined>;
}): Promise<UpstreamCheck> {
  const endpoints = createEndpoints(clock);
  const asked = new Map<string, Asked>();

  async function ask(endpoint: ReadEndpoint): Promise<void> {
    const family = endpoint.family === undefined ? undefined : asked.get(endpoint.family);
    const id =
      family?.id ?? (endpoint.resource && (await knownId(endpoint.resource))) ?? endpoint.nobody ?? '';
    const result = await askOne(endpoint, id);
    // Without its family, a 404 is about the path and not about the resource.
    const isWithoutFamily =
      family?.checked.finding === 'not_offered' &&
      result.checked.finding === 'empty' &&
      id === endpoint.nobody;
    asked.set(
      endpoint.name,
      isWithoutFamily && !SHOWN_WITHOUT_LIST.has(endpoint.name)
        ? { checked: { ...result.checked, finding: 'not_offered' } }
        : result,
    );
  }

  async function askOne({ name, pathOf, read }: ReadEndpoint, id: string): Promise<Asked> {
    const found = (finding: CheckedEndpoint['finding'], rest: Partial<CheckedEndpoint> = {}): Asked => ({
      checked: { endpoint: name, finding, unread: [], detail: null, ...rest },
    });
    try {
      const answer = await endpoints.callIfSupported(environment, { name, inWords: name }, () =>
        upstream.get({
          environment,
          path: pathOf(id),
          requestOptions: { priority: 'query', waitMs: WAIT_MS },
        }),
      );
      if (!answer) return found('not_offered');
      if (isSuccess(answer)) {
        const { isEmpty, unread, id: shown } = read(answer.body, environment, id);
        if (isEmpty) return found('empty');
        return { ...found(unread.length > 0 ? 'unread' : 'read', { unread }), id: shown };
      }
      if (saysNotFound(answer) || answer.status === 400) return found('empty');
      return found('refused', { detail: refusalOf(answer).message });
    } catch (error) {
      if (error instanceof PermissionError) return found('refused', { detail: error.message });
      if (error instanceof RateLimitError || error instanceof UpstreamFault)
        return found('no_answer', { detail: error.message });
      throw error;
    }
  }

  // The families come first, because they give the ids. Each step's calls run in parallel.
  for (const isOfFamily of [false, true])
    await Promise.all(READ_ENDPOINTS.filter(({ family }) => (family !== undefined) === isOfFamily).map(ask));
  const checked = READ_ENDPOINTS.map(({ name }) => asked.get(name)!.checked);
  const writes = WRITE_ENDPOINTS.map(({ name, family }) => ({
    endpoint: name,
    finding: 'not_asked' as const,
    unread: [],
    detail: family === undefined || families.has(family) ? null : notNamed(family),
  }));
  return {
    environment,
    ok: checked.every(({ finding }) => !isProblem(finding)),
    endpoints: [...checked, ...writes],
    features: FEATURES.map((feature) => featureOf(feature, asked, families)),
  };
}

/** The resources that the document shows without a list of their families. */
const SHOWN_WITHOUT_LIST: ReadonlySet<string> = new Set([
  'GET /v1/card-payments/{orderCode}',
  'GET /v1/subaccounts/{id}',
  'GET /v1/subaccounts/{id}/payouts/{payoutId}',
]);

const isProblem = (finding: CheckedEndpoint['finding']) =>
  finding === 'unread' || finding === 'refused' || finding === 'no_answer';

const notNamed = (family: UpstreamFamily) => `not sent: PSA_UPSTREAM_FAMILIES does not name ${family}`;

function featureOf(
  {
    feature,
    needs,
    family,
  }: Required<Pick<Checks['features'][number], 'needs'>> & Checks['features'][number],
  asked: ReadonlyMap<string, Asked>,
  families: ReadonlySet<UpstreamFamily>,
): CheckedFeature {
  const all = needs.map((name) => asked.get(name)!.checked);
  const named = (finding: CheckedEndpoint['finding']) => all.find((each) => each.finding === finding);
  const missing = named('not_offered');
  if (missing)
    return { feature, works: 'no', because: `NOT_OFFERED: the service has no ${missing.endpoint}` };
  if (family !== undefined && !families.has(family))
    return { feature, works: 'no', because: notNamed(family) };
  const refused = named('refused');
  if (refused) return { feature, works: 'no', because: refused.detail ?? `${refused.endpoint} is refused` };
  const silent = named('no_answer');
  if (silent)
    return { feature, works: 'unknown', because: silent.detail ?? `${silent.endpoint} has no answer` };
  const unread = all.flatMap((each) => each.unread);
  if (unread.length > 0) return { feature, works: 'partly', because: `not read: ${unread.join(', ')}` };
  const empty = named('empty');
  if (empty) return { feature, works: 'unknown', because: `${empty.endpoint} has nothing to show yet` };
  return { feature, works: 'yes', because: '' };
}
