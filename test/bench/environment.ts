export const LIVE_KEY = 'ps_live_measured0123456789';
export const SANDBOX_KEY = 'ps_test_measured0123456789';

/** The environment of a facade in front of this service. */
export function facadeEnvironment(upstreamUrl: string): Record<string, string> {
  return { PSA_UPSTREAM_URL: upstreamUrl, PSA_UPSTREAM_LIVE_KEY: LIVE_KEY, PSA_DEMO: 'off' };
}

/** Options without limits: no budget, and more root fields a minute than a variable may say. */
export const UNLIMITED = { graphqlLimit: 100_000_000, upstream: { requestsPerMinute: 0 } };

/** The environment of an embedded server: root fields are counted, and there are enough for a benchmark. */
export const UNLIMITED_KEY = {
  PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
  PSA_DEMO: 'off',
  options: { graphqlLimit: 100_000_000 },
};
