const { PSA_FAST_PATH } = process.env;

/** The setting of the fast path for the servers that tests start. A nightly run switches it off. */
export const FAST_PATH: Record<string, string> = PSA_FAST_PATH ? { PSA_FAST_PATH } : {};
