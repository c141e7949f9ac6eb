const { PSA_FAST_PATH } = process.env;

/** The fast path as the run of the tests sets it, for the servers that tests start. A nightly run switches it off. */
export const FAST_PATH: Record<string, string> = PSA_FAST_PATH ? { PSA_FAST_PATH } : {};
