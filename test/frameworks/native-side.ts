// The native side of React Native, as far as requests, sockets and timers need it. Its JavaScript lies in the bundle of an
// application and calls these modules; Node stands for the phone.
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createContext, Script } from 'node:vm';
import WebSocket from 'ws';

/** A running application. */
export interface NativeApplication {
  /** The global object of the application. */
  readonly global: Record<string, unknown>;
  /** The errors that the application has reported or logged. */
  readonly errors: readonly string[];
  /** Ends the sockets, requests and timers. */
  close(): void;
}

type Emit = (event: string, argument: unknown) => void;

interface NativeRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  data: { string?: string };
  responseType: 'text' | 'blob' | 'base64';
}

/** A part of a request or an answer that stays on the native side. */
interface BlobData {
  blobId: string;
  offset: number;
  size: number;
}

/** Runs a bundle for iOS by V8, with the globals of ECMAScript and those that the native side adds, and no others. */
export function startNative(bundle: string): NativeApplication {
  const errors: string[] = [];
  const emitters = new Map<string, () => { emit: Emit }>();
  const emit: Emit = (event, argument) => emitters.get('RCTDeviceEventEmitter')!().emit(event, argument);
  const blobs = new Map<string, Buffer>();
  const left = new AbortController();
  const modules: Record<string, object> = {
    PlatformConstants: { getConstants: () => PLATFORM },
    ExceptionsManager: {
      reportException: ({ message }: { message: string }) => errors.push(message),
    },
    NativeMicrotasksCxx: { queueMicrotask },
    NativeReactNativeFeatureFlagsCxx: FLAGS,
    NativePerformanceCxx: { now: () => performance.now() },
    Networking: networking(emit, blobs, left.signal),
    WebSocketModule: sockets(emit, left.signal),
    BlobModule: blobModule(blobs),
    FileReaderModule: {
      readAsText: async (blob: BlobData) => bytesOf(blobs, blob).toString(),
    },
  };
  const global = createContext({
    RN$Bridgeless: true,
    RN$registerCallableModule: (name: string, factory: () => { emit: Emit }) => emitters.set(name, factory),
    __turboModuleProxy: (name: string) => modules[name] ?? null,
    nativeModuleProxy: modules,
    // Hermes has promises of its own; without this object React Native brings others.
    HermesInternal: { hasPromise: () => true },
    nativeLoggingHook: (message: string, level: number) => {
      if (level >= LOGGED_ERROR) errors.push(message);
    },
    nativePerformanceNow: () => performance.now(),
    ...timers(left.signal),
  });
  new Script('delete globalThis.console; delete globalThis.WebAssembly;').runInContext(global);
  new Script(bundle, { filename: 'app.js' }).runInContext(global);
  return { global, errors, close: () => left.abort() };
}

const LOGGED_ERROR = 3;
const PLATFORM = {
  forceTouchAvailable: false,
  interfaceIdiom: 'phone',
  isTesting: false,
  osVersion: '26.0',
  systemName: 'iOS',
  reactNativeVersion: { major: 0, minor: 0, patch: 0, prerelease: null },
};
/** Observers of what is drawn: this application draws nothing. */
const FLAGS = {
  enableIntersectionObserverByDefault: () => false,
  enableMutationObserverByDefault: () => false,
  enableResizeObserverByDefault: () => false,
};
/** The listeners are counted for the memory of the native side. */
const LISTENERS = { addListener: () => undefined, removeListeners: () => undefined };

/** Timers are numbers, as the native side gives them. */
function timers(signal: AbortSignal) {
  const running = new Map<number, NodeJS.Timeout>();
  let last = 0;
  const clear = (id: number) => {
    clearTimeout(running.get(id));
    running.delete(id);
  };
  signal.addEventListener('abort', () => [...running.keys()].forEach(clear));
  return {
    setTimeout(callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      const id = ++last;
      const run = () => {
        running.delete(id);
        callback(...args);
      };
      running.set(id, setTimeout(run, ms));
      return id;
    },
    setInterval(callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
      const id = ++last;
      running.set(id, setInterval(callback, ms, ...args));
      return id;
    },
    clearTimeout: clear,
    clearInterval: clear,
  };
}

/** The requests of `XMLHttpRequest`, and so of `fetch`. An answer is passed on as a whole. */
function networking(emit: Emit, blobs: Map<string, Buffer>, left: AbortSignal) {
  const running = new Map<number, AbortController>();
  let last = 0;
  left.addEventListener('abort', () => {
    for (const each of running.values()) each.abort();
  });

  function end(id: number, error: string | null): void {
    if (running.delete(id) && !left.aborted) emit('didCompleteNetworkResponse', [id, error, false]);
  }

  async function pass(id: number, { url, responseType }: NativeRequest, response: IncomingMessage) {
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    emit('didReceiveNetworkResponse', [id, response.statusCode, headers, url]);
    const body = await buffer(response);
    if (responseType === 'blob') {
      const blobId = randomUUID();
      blobs.set(blobId, body);
      emit('didReceiveNetworkData', [id, { blobId, offset: 0, size: body.length }]);
    } else {
      emit('didReceiveNetworkData', [id, body.toString(responseType === 'text' ? 'utf8' : 'base64')]);
    }
    end(id, null);
  }

  return {
    ...LISTENERS,
    sendRequest(request: NativeRequest, onStart: (id: number) => void) {
      const id = ++last;
      const controller = new AbortController();
      running.set(id, controller);
      setImmediate(() => {
        onStart(id);
        const { method, url, headers, data } = request;
        openRequest(url, { method, headers, signal: controller.signal })
          .on('error', (error) => end(id, error.message))
          .on('response', (response) =>
            pass(id, request, response).catch((error: Error) => end(id, error.message)),
          )
          .end(data.string);
      });
    },
    abortRequest: (id: number) => running.get(id)?.abort(),
  };
}

function sockets(emit: Emit, left: AbortSignal) {
  const open = new Map<number, WebSocket>();
  left.addEventListener('abort', () => {
    for (const socket of open.values()) socket.terminate();
  });
  return {
    ...LISTENERS,
    connect(url: string, protocols: string[] | null, { headers }: { headers: object }, id: number) {
      // A phone names the server itself as the origin.
      const origin = new URL(url.replace(/^ws/, 'http')).origin;
      const socket = new WebSocket(url, [...(protocols ?? [])], { headers: { origin, ...headers } });
      open.set(id, socket);
      let message = 'The connection was lost';
      const tell: Emit = (event, argument) => left.aborted || emit(event, argument);
      socket
        .on('open', () => tell('websocketOpen', { id, protocol: socket.protocol }))
        .on('message', (data) => tell('websocketMessage', { id, type: 'text', data: String(data) }))
        .on('error', (error) => {
          message = error.message;
        })
        .on('close', (code, reason) => {
          open.delete(id);
          if (code === LOST) tell('websocketFailed', { id, message });
          else tell('websocketClosed', { id, code, reason: String(reason), clean: true });
        });
    },
    send: (text: string, id: number) => open.get(id)?.send(text),
    ping: (id: number) => open.get(id)?.ping(),
    close: (code: number, reason: string, id: number) => open.get(id)?.close(code, reason),
  };
}

/** The close code of a socket that was cut, which no server sends. */
const LOST = 1006;

function blobModule(blobs: Map<string, Buffer>) {
  return {
    getConstants: () => ({ BLOB_URI_SCHEME: 'blob', BLOB_URI_HOST: null }),
    addNetworkingHandler: () => undefined,
    createFromParts(parts: { type: 'blob' | 'string'; data: unknown }[], blobId: string) {
      const bytes = parts.map(({ type, data }) =>
        type === 'string' ? Buffer.from(String(data)) : bytesOf(blobs, data as BlobData),
      );
      blobs.set(blobId, Buffer.concat(bytes));
    },
    release: (blobId: string) => blobs.delete(blobId),
  };
}

function bytesOf(blobs: Map<string, Buffer>, { blobId, offset, size }: BlobData): Buffer {
  return blobs.get(blobId)!.subarray(offset, offset + size);
}
