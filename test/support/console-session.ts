import { LIVE_KEY, type TestApp } from './app.ts';

export interface ConsoleAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any route
  body: any;
  cookies: string[];
}

/** A session of the console, as its page posts to it. */
export interface ConsoleSession {
  cookie: string;
  post(path: string, input?: unknown, headers?: Record<string, string>): Promise<ConsoleAnswer>;
}

export async function signInAtConsole(app: Pick<TestApp, 'url'>, key = LIVE_KEY): Promise<ConsoleSession> {
  async function post(path: string, input: unknown, headers: Record<string, string>): Promise<ConsoleAnswer> {
    const response = await fetch(`${app.url}/console/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: app.url, ...headers },
      body: JSON.stringify(input),
    });
    const { status } = response;
    return { status, body: await response.json(), cookies: response.headers.getSetCookie() };
  }
  const { cookies } = await post('sign-in', { key }, {});
  const cookie = cookies[0]!.split(';')[0]!;
  return { cookie, post: (path, input = {}, headers = {}) => post(path, input, { cookie, ...headers }) };
}
