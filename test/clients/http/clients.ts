import { fileURLToPath } from 'node:url';
import { findProgram } from '../../support/debian.mjs';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The tasks of each client. The relay sees whether a connection is kept alive. */
export const FEATURES = [
  'query',
  'mutation',
  'rest get',
  'rest post',
  'gzip',
  'keep-alive',
  'webhook',
] as const;

export type Feature = (typeof FEATURES)[number];

/** A client, as Debian packages it, and a program that uses it as its manual shows. */
export interface HttpClient {
  name: string;
  /** The commands that its program needs, each with its Debian package. */
  needs: Record<string, string>;
  /** The command, with its arguments. */
  run: [string, ...string[]];
  /** A second client of the language, which makes one call, on a connection of its own. */
  second?: string;
}

export const HTTP_CLIENTS: readonly HttpClient[] = [
  { name: 'curl', needs: { curl: 'curl', openssl: 'openssl' }, run: ['sh', here('client.sh')] },
  {
    name: 'Python http.client',
    needs: { python3: 'python3' },
    run: ['python3', here('client.py')],
    second: 'urllib',
  },
  { name: 'Ruby Net::HTTP', needs: { ruby: 'ruby' }, run: ['ruby', here('client.rb')] },
  {
    // The `php` command exists also without the extension for curl.
    name: 'PHP curl',
    needs: { php: 'php-cli and php-curl' },
    run: ['php', here('client.php')],
    second: 'streams',
  },
  { name: 'Go net/http', needs: { go: 'golang-go' }, run: ['go', 'run', here('client.go')] },
  {
    name: 'Java HttpClient',
    needs: { java: 'default-jdk-headless', javac: 'default-jdk-headless' },
    run: ['java', here('client.java')],
    second: 'HttpURLConnection',
  },
];

/** The packages that a client lacks on this machine. */
export function missingFor({ needs }: HttpClient): string[] {
  const missing = Object.entries(needs).filter(([command]) => !findProgram([command]));
  return [...new Set(missing.map(([, debian]) => debian))];
}
