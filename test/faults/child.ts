import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PayResult } from '../../server/src/money-in/card-payments/hosted-checkout.ts';
import type { PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import type { SubscriptionStatus } from '../../server/src/money-in/subscriptions/model.ts';
import type { UpstreamTuning } from '../../server/src/programs/modes/remote.ts';
import { captureOutput } from '../support/log-capture.ts';

/**
 * The moment at which a server kills itself: the n-th statement from now on (or the n-th COMMIT), and this number of
 * turns of the event loop after it was issued. With none, the statement has not been sent.
 */
export interface Moment {
  statement: number;
  commits: boolean;
  turns: number;
}

/** A cut at a COMMIT: the number of COMMITs before it, and whether it or its answer is lost. */
export interface Cut {
  verdict: 'cut-before' | 'cut-after';
  after: number;
}

/** The status of a payment by LTC after a change. */
type OfLtc = { status: PaymentStatus | null };

/** The requests to server.mjs, and their answers. */
export interface Requests {
  start(request: {
    environment: Record<string, string>;
    clockAheadMs?: number;
    dieAt?: Moment | null;
    /** Set if the server records the boundaries that it reaches, and kills itself at `dieAt`. */
    watched?: { dieAt: string | null };
    /** Set if the server lives so briefly that optimized compilation is a waste. */
    brief?: boolean;
    /** The limit of requests a minute on `/v1`. */
    restLimit?: number;
    /** A facade's budget window, and other waits that a test shortens. */
    windowMs?: number;
    upstreamTuning?: UpstreamTuning;
    /** The deadline of its database, for tests of other things: a busy machine takes longer than a server waits. */
    databaseWaitMs?: number;
    /** The live keys of accounts beside the first, by the ids of these. */
    otherKeys?: Record<string, string>;
  }): { url: string; port: number };
  /** Stops the server, which may be started again. */
  stop(request: null): null;
  /** Cuts the worker thread of PGlite. */
  cutWorker(cut: Cut): null;
  dieAt(moment: Moment): null;
  /** Sets the boundary at which a watched server kills itself. */
  dieAtBoundary(boundary: string | null): null;
  /** The boundaries that it has reached since the last call. */
  passed(request: null): string[];
  pay(request: { orderCode: string; cardNumber: string }): { kind: PayResult['kind'] };
  /** Pays a code once for each `endToEndId`, and notifies the server as the bank does. */
  payPix(request: { paymentId: string; endToEndId: string }): {
    status: PaymentStatus | SubscriptionStatus | null;
  };
  /** Ends a subscription at the payer's bank, which notifies the server. */
  endAtBank(request: { subscriptionId: string }): { status: SubscriptionStatus | null };
  /** Sends a share of a payment's amount, or one more confirmation of it, and notifies the server as the network does. */
  sendLtc(request: { paymentId: string; txid: string; share: number; confirmations: number }): OfLtc;
  /** Removes an output from the chain, and notifies the server as the network does. */
  reorganiseLtc(request: { paymentId: string; txid: string }): OfLtc;
  /** Runs the operator's `psa ltc credit`. */
  creditLtcOf(request: { paymentId: string }): OfLtc;
  /** Runs the operator's `psa store import` with products of these ids. */
  importStore(request: { productIds: string[] }): null;
  refund(request: { orderCode: string }): null;
  /** Credits money from outside, once for each `name`. */
  credit(request: { name: string; cents: number; litoshi: number }): null;
  /** Does all work that is due. */
  settle(request: null): null;
  /** Advances its clock, and does all work that is then due. */
  pass(request: { ms: number }): null;
  /** The rows of each statement, all read in one transaction. */
  query(statements: string[]): object[][];
  checkpoint(request: null): null;
}

export type Asked = { id: number; name: keyof Requests; request: unknown; account: string | undefined };
export type Said = { id: number; value: unknown } | { id: number; error: string } | { fault: string };

/** A process that runs server.mjs. Its requests are rejected once it is dead. */
export interface ChildServer {
  /** `account`: the id of the account whose request it is, if it is not the first. */
  ask<Name extends keyof Requests>(
    name: Name,
    request: Parameters<Requests[Name]>[0],
    account?: string,
  ): Promise<ReturnType<Requests[Name]>>;
  kill(): void;
  readonly dead: boolean;
  /** The end of the process: the signal, and the statement at which it killed itself. */
  readonly death: Promise<{ signal: string | null; statement: string | null }>;
  /** The faults in its log. */
  readonly faults: string[];
}

export class ServerDied extends Error {
  override readonly name = 'ServerDied';
}

/**
 * Starts a process that is loaded and waits for `start`. It is started ahead of its use: loading takes longer than
 * most servers here live.
 */
export function spawnServer(): ChildServer {
  const child: ChildProcess = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    // The most memory that a server in these tests needs.
    execArgv: ['--max-old-space-size=256'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const pending = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  const faults: string[] = [];
  let ids = 0;
  let dead = false;
  let output = '';
  child.stdout?.on('data', (text) => {
    output += text;
  });
  child.on('message', (said: Said) => {
    if ('fault' in said) {
      captureOutput('log', said.fault);
      return void faults.push(said.fault);
    }
    const waiting = pending.get(said.id);
    pending.delete(said.id);
    if ('error' in said) waiting?.reject(new Error(said.error));
    else waiting?.resolve(said.value as never);
  });
  child.once('exit', () => {
    dead = true;
    for (const { reject } of pending.values()) reject(new ServerDied());
    pending.clear();
  });

  return {
    faults,
    get dead() {
      return dead;
    },
    death: once(child, 'close').then(([, signal]) => ({ signal, statement: output.trim() || null })),
    kill: () => void child.kill('SIGKILL'),
    ask: (name, request, account) =>
      new Promise((resolve, reject) => {
        if (dead) return reject(new ServerDied());
        const id = ids++;
        pending.set(id, { resolve, reject });
        // A child that is dying takes no message: its exit rejects this.
        child.send({ id, name, request, account } satisfies Asked, () => undefined);
      }),
  };
}
