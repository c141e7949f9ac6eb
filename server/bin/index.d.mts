/** A server in a process of its own. */
export interface RunningServer {
  /** The address of the server, such as `http://localhost:4000`. */
  readonly url: string;
  /** The keys of the first account, where this start created it: they are shown this once. */
  readonly keys: { readonly live: string; readonly sandbox: string } | null;
  /** Stops the server and waits until it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a server, as `npx @psa/server` does, and waits until it answers. It ends with the process that has started it.
 * `PSA_DRAIN_SECONDS` is 0 unless it is set: `stop` waits for no proxy.
 *
 * @param variables environment variables beside those of this process, such as `{ PORT: '0', PSA_DATA_DIR: 'memory' }`
 * @throws Error where the server cannot start; it has printed why
 */
export function start(variables?: Readonly<Record<string, string>>): Promise<RunningServer>;
