import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PayResult } from '../../server/src/money-in/card-payments/hosted-checkout.ts';
import type { PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import type { SubscriptionStatus } from '../../server/src/money-in/subscriptions/model.ts';
import type { UpstreamTuning } from '../../server/src/programs/modes/remote.ts';
import { captureOutput } from '../support/log-capture.ts';

/**
 * The moment of its death: at the n-th statement from now on (or the n-th COMMIT), that many turns of the event loop after it came
 * up. After none it has not been sent.
 */
export interface Moment {
  statement: number;
  commits: boolean;
  turns: number;
}

/** At the COMMIT after so many others, before it arrives or before its answer does. */
export interface Cut {
  verdict: 'cut-before' | 'cut-after';
  after: number;
}

/** A payment by LTC after a change. */
type OfLtc = { status: PaymentStatus | null };

/** The requests to server.mjs, and their answers. */
export interface Requests {
  start(request: {
    environment: Record<string, string>;
    clockAheadMs?: number;
    dieAt?: Moment | null;
    /** It records the boundaries that it reaches, and dies at this one. */
    watched?: { dieAt: string | null };
    /** It will not live long enough for what is compiled to be worth compiling well. */
    brief?: boolean;
    /** Requests a minute that it takes on `/v1`. */
    restLimit?: number;
    /** A facade's budget window, and other waits that a test shortens. */
    windowMs?: number;
    upstreamTuning?: UpstreamTuning;
    /** The deadline of its database, where the test is not about it: a busy machine takes longer than a server waits. */
    databaseWaitMs?: number;
  }): { url: string; port: number };
  /** It may be started again. */
  stop(request: null): null;
  /** On PGlite. */
  cutWorker(cut: Cut): null;
  dieAt(moment: Moment): null;
  /** The boundaries of a watched server. */
  dieAtBoundary(boundary: string | null): null;
  /** The boundaries that it has reached since it was last asked. */
  passed(request: null): string[];
  pay(request: { orderCode: string; cardNumber: string }): { kind: PayResult['kind'] };
  /** A payer's order to its bank, once under the name of its credit, and the bank's notification. */
  payPix(request: { paymentId: string; endToEndId: string }): {
    status: PaymentStatus | SubscriptionStatus | null;
  };
  /** A payer ends a subscription in its bank, which notifies the service. */
  endAtBank(request: { subscriptionId: string }): { status: SubscriptionStatus | null };
  /** An output with a share of a payment's amount, or more confirmations of it, and the network's notification. */
  sendLtc(request: { paymentId: string; txid: string; share: number; confirmations: number }): OfLtc;
  /** An output that the chain loses, and the network's notification. */
  reorganiseLtc(request: { paymentId: string; txid: string }): OfLtc;
  /** The operator's `psa ltc credit`. */
  creditLtcOf(request: { paymentId: string }): OfLtc;
  /** The operator's `psa store import`, of products with these ids. */
  importStore(request: { productIds: string[] }): null;
  refund(request: { orderCode: string }): null;
  /** Money that comes in from elsewhere, once under its name however often it is asked for. */
  credit(request: { name: string; cents: number; litoshi: number }): null;
  /** Does all work that is due. */
  settle(request: null): null;
  /** Moves its clock on, and does all work that is due then. */
  pass(request: { ms: number }): null;
  /** The rows of each, all read in one transaction. */
  query(statements: string[]): object[][];
  checkpoint(request: null): null;
}

export type Asked = { id: number; name: keyof Requests; request: unknown };
export type Said = { id: number; value: unknown } | { id: number; error: string } | { fault: string };

/** A server of server.mjs. Its answers are rejected once it is dead. */
export interface ChildServer {
  ask<Name extends keyof Requests>(
    name: Name,
    request: Parameters<Requests[Name]>[0],
  ): Promise<ReturnType<Requests[Name]>>;
  kill(): void;
  readonly dead: boolean;
  /** The end of the process: the signal, and the statement at which it killed itself. */
  readonly death: Promise<{ signal: string | null; statement: string | null }>;
  /** Faults that it logged. */
  readonly faults: string[];
}

export class ServerDied extends Error {
  override readonly name = 'ServerDied';
}

/** Loaded and waiting for `start`: made ahead of its use, for loading takes longer than most servers here live. */
export function spawnServer(): ChildServer {
  const child: ChildProcess = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    // No server of ours needs more.
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
    ask: (name, request) =>
      new Promise((resolve, reject) => {
        if (dead) return reject(new ServerDied());
        const id = ids++;
        pending.set(id, { resolve, reject });
        // A child that is dying takes no message: its exit rejects this.
        child.send({ id, name, request } satisfies Asked, () => undefined);
      }),
  };
}
