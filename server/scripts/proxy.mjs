import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stop, whenServed } from './processes.mjs';
import { root } from './progress.mjs';

/** A busy machine takes several seconds to start a proxy. */
const START_MS = 30_000;
const STOP_MS = 5_000;

/** The PATH of the user, and the folders of root's PATH, where Debian installs nginx. */
const PATH = [process.env.PATH, '/usr/local/sbin', '/usr/sbin'].join(delimiter);

/**
 * @typedef {'caddy' | 'nginx'} ProxyName
 * @typedef {{ port: number, ports: number[] }} Ports the proxy's own and those of the instances, all on 127.0.0.1
 */

/** The arguments that print the version, in the order of preference: Caddy checks whether the instances are ready. */
const VERSION_ARGUMENTS = { caddy: 'version', nginx: '-v' };

/** The proxies of this machine, the preferred one first. @returns {ProxyName[]} */
export function installedProxies() {
  const env = { ...process.env, PATH };
  return /** @type {ProxyName[]} */ (
    Object.entries(VERSION_ARGUMENTS)
      .filter(([name, argument]) => spawnSync(name, [argument], { env }).status === 0)
      .map(([name]) => name)
  );
}

/**
 * Starts a proxy in front of the instances, with its configuration and its files in a temporary folder.
 *
 * @param {ProxyName} name @param {Ports} ports
 * @throws if the proxy ends, or does not serve in time
 */
export async function startProxy(name, ports) {
  const folder = mkdtempSync(join(tmpdir(), 'psa-proxy-'));
  // If root starts nginx, its workers run as another user.
  chmodSync(folder, 0o755);
  const { args, env, noticeMs } = { caddy, nginx }[name](folder, ports);
  const child = spawn(name, args, {
    env: { ...process.env, PATH, ...env },
    // Ctrl-C is for the cluster, which then ends the proxy.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // The output of a successful start is not printed.
  let startLog = '';
  let started = false;
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (started) process.stderr.write(text);
    else startLog += text;
  });
  const kill = () => void child.kill();
  process.once('exit', kill);

  async function close() {
    await stop(child, 'SIGTERM', STOP_MS);
    process.off('exit', kill);
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    await whenServed(child, `http://127.0.0.1:${ports.port}/healthz`, START_MS);
  } catch (error) {
    await close();
    throw new Error(`${name} did not start: ${/** @type {Error} */ (error).message}\n${startLog}`.trimEnd());
  }
  started = true;
  return {
    /** The time until the proxy sends requests to an instance that is ready again. */
    noticeMs,
    close,
  };
}

/** @param {string} folder @param {Ports} ports */
function caddy(folder, { port, ports }) {
  return {
    args: ['run', '--config', join(root, 'server/Caddyfile'), '--adapter', 'caddyfile'],
    env: {
      SITE: `http://:${port}`,
      BIND: '127.0.0.1',
      INSTANCES: ports.map((each) => `127.0.0.1:${each}`).join(' '),
      LOG_LEVEL: 'ERROR',
      // Caddy stores certificates and its last configuration there.
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    },
    // Caddy requests /readyz once a second.
    noticeMs: 2_000,
  };
}

/**
 * Configures nginx. It does not check /readyz: a stopping instance refuses connections after PSA_DRAIN_SECONDS, and nginx
 * then sends the request to the next one.
 *
 * @param {string} folder @param {Ports} ports
 */
function nginx(folder, { port, ports }) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const configuration = `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream psa {
${ports.map((each) => `    server 127.0.0.1:${each} max_fails=0;`).join('\n')}
    keepalive 64;
    # Shorter than an instance that stops keeps a connection open.
    keepalive_timeout 2s;
  }
  server {
    listen 127.0.0.1:${port};
    location ~ ^/(readyz|metrics)$ { return 404; }
    location / {
      proxy_pass http://psa;
      proxy_http_version 1.1;
      proxy_connect_timeout 1s;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
  writeFileSync(join(folder, 'nginx.conf'), configuration);
  return { args: ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], env: {}, noticeMs: 0 };
}
