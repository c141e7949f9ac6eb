import { type AccessService, DASHBOARD_SCOPES } from '../access/model.ts';
import { createOwnPages } from '../http/own-pages.ts';
import { type Route, send, sendJson } from '../http/routes.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type PayoutService, requestPayoutInput } from '../payouts/model.ts';

/** The page comes for a new one before it ends. */
const TOKEN_SECONDS = 900;

/**
 * What the dashboard at `/demo/dashboard` asks its merchant's server for: a token that reads, and payouts, which such a
 * token cannot request. A merchant's server would hold an API key and its own sign-in here.
 */
export function createDashboardRoutes({
  tenant,
  access,
  payouts,
  clock,
  publicUrl,
}: {
  tenant: Tenant;
  access: AccessService;
  payouts: PayoutService | null;
  clock: Clock;
  publicUrl: string;
}): Route[] {
  const { action } = createOwnPages(publicUrl);
  const config: Route = {
    methods: ['GET'],
    path: /^\/demo\/dashboard\/config\.json$/,
    async handle({ response }) {
      const { token, expiresAt } = await access.createDashboardToken(tenant, null, {
        scopes: [...DASHBOARD_SCOPES],
        expiresInSeconds: TOKEN_SECONDS,
      });
      // The page counts from `now`: its own clock may be wrong, and the simulator's may be ahead.
      sendJson(
        response,
        200,
        { endpoint: '/graphql', token, expiresAt, now: clock.now(), simulated: payouts !== null },
        { 'cache-control': 'no-store' },
      );
    },
  };
  const slash: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/demo\/dashboard\/$/,
    handle: ({ response }) => send(response, 308, '', { location: '/demo/dashboard' }),
  };
  if (!payouts) return [config, slash];
  return [
    config,
    slash,
    action(/^\/demo\/dashboard\/payouts$/, requestPayoutInput, async (input) => {
      const { payout, replayed } = await payouts.request(tenant, input);
      const { withdrawalId, code, status } = payout;
      return { status: 201, body: { withdrawalId, code, status, replayed } };
    }),
  ];
}
