/** The servers that a DATABASE_URL names, in their order. */
export interface DatabaseServers {
  /** The address of each, which names one server and has no `target_session_attrs`. */
  readonly urls: readonly string[];
  /** The kind of server that clients connect to: one that takes writes, the primary, or any. */
  readonly target: Target;
}

export type Target = 'any' | 'read-write' | 'primary';

/** Variables of PostgreSQL's own clients, for what an address leaves out. */
export type DatabaseDefaults = Readonly<
  Partial<Record<'PGHOST' | 'PGPORT' | 'PGTARGETSESSIONATTRS', string>>
>;

/** The address cannot be used. The message continues `DATABASE_URL …`, and shows none of it. */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError';
}

/**
 * Parses an address in either form of PostgreSQL's clients: `postgres://user@h1:5432,h2:5433/db?…`, whose
 * `host` and `port` may be parameters, or `host=h1,h2 port=5432,5433 dbname=db …`. Of several servers it
 * selects one that takes writes, unless `target_session_attrs` says something else.
 * @throws DatabaseUrlError
 */
export function parseDatabaseUrl(text: string): DatabaseServers {
  const url = URL_START.test(text) ? text : urlOf(text);
  const [, start = '', userInfo = '', authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query.slice(1));
  const unknown = ['hostaddr', 'service'].find((name) => parameters.has(name));
  if (unknown !== undefined) throw new DatabaseUrlError(`must name its servers by host, not by ${unknown}`);
  const target = targetOf(parameters);
  const named = parameters.get('host') ?? (authority === '' ? '' : undefined);
  const servers =
    named === undefined
      ? authority.split(',').map(splitPort)
      : named.split(',').map((host) => ({ host, port: '' }));
  const ports = portsOf(parameters.get('port') ?? '', servers);
  const isComplete = authority !== '' || userInfo === '' || path !== '';
  const isUrl = URL.canParse(`${start}${userInfo}localhost${path}`) && isComplete;
  // With a port that is no number `pg` never responds, and the start would end in silence.
  if (!isUrl || ports.some((port) => !/^\d{0,5}$/.test(port))) throw new DatabaseUrlError(NO_URL);
  if (servers.length > 1 && servers.some(({ host }) => host === ''))
    throw new DatabaseUrlError('must name each of its hosts');
  // A single server keeps its given address.
  if (servers.length === 1)
    return { urls: [parameters.has(TARGET) ? withoutTarget(url) : url], target: target ?? 'any' };
  for (const name of [TARGET, 'host', 'port']) parameters.delete(name);
  const urls = servers.map(({ host }, index) => {
    const own = new URLSearchParams(parameters);
    own.set('host', host);
    if (ports[index]) own.set('port', ports[index]);
    return `${start}${userInfo}${path || '/'}?${own}`;
  });
  return { urls, target: target ?? 'read-write' };
}

/**
 * Adds the servers and the required kind of session from the variables of PostgreSQL's clients, if an address
 * names none. `pg` reads these variables itself, except for lists of servers.
 */
export function completeDatabaseUrl(text: string, variables: DatabaseDefaults): string {
  const { PGHOST, PGPORT, PGTARGETSESSIONATTRS } = variables;
  const url = URL_START.test(text) ? text : urlOf(text);
  const [, , , authority, , query = ''] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query.slice(1));
  const added = new URLSearchParams();
  if (authority === '' && !parameters.has('host') && PGHOST?.includes(',')) {
    added.set('host', PGHOST);
    if (PGPORT && !parameters.has('port')) added.set('port', PGPORT);
  }
  if (PGTARGETSESSIONATTRS && !parameters.has(TARGET)) added.set(TARGET, PGTARGETSESSIONATTRS);
  return added.size === 0 ? text : `${url}${query ? '&' : '?'}${added}`;
}

const TARGET = 'target_session_attrs';
const NO_URL = 'must be a PostgreSQL URL';
const URL_START = /^postgres(?:ql)?:\/\//;
/** The scheme, the user, the hosts, the database, the parameters. */
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^?#]*)?(\?[^#]*)?/;

/** Makes an address of `keyword=value` pairs. @throws DatabaseUrlError */
function urlOf(text: string): string {
  const pairs = new Map<string, string>();
  let at = 0;
  for (const { 0: pair, 1: name = '', 2: value = '', index } of text.matchAll(PAIR)) {
    if (index !== at) break;
    at += pair.length;
    pairs.set(name, value.replace(/^'(.*)'$/s, '$1').replaceAll(/\\(.)/gs, '$1'));
  }
  if (pairs.size === 0 || at < text.length)
    throw new DatabaseUrlError(
      'must begin with postgres:// or postgresql://, or be pairs such as host=db dbname=psa',
    );
  const take = (name: string) => {
    const value = pairs.get(name) ?? '';
    pairs.delete(name);
    return encodeURIComponent(value);
  };
  const [user, password, database] = [take('user'), take('password'), take('dbname')];
  const userInfo = user || password ? `${user}${password && `:${password}`}@` : '';
  return `postgres://${userInfo}/${database}?${new URLSearchParams([...pairs])}`;
}

const PAIR = /\s*([a-z_]+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)\s*/gs;

/** Reads the required kind of session; undefined if the address names none. @throws DatabaseUrlError */
function targetOf(parameters: URLSearchParams): Target | undefined {
  const other = [...parameters.keys()].find((name) => OTHER_SPELLINGS.test(name));
  if (other !== undefined) throw new DatabaseUrlError(`must spell ${other.slice(0, 30)} as ${TARGET}`);
  const given = parameters.get(TARGET);
  if (!given) return undefined;
  const target = TARGETS.find((each) => each === given);
  if (!target) throw new DatabaseUrlError(`must have ${TARGETS.join(', ')} as ${TARGET}: a server writes`);
  return target;
}

const TARGETS: readonly Target[] = ['read-write', 'primary', 'any'];
/** The names that other languages' clients use for `target_session_attrs`. `pg` would ignore them. */
const OTHER_SPELLINGS = /^(?:target[ -]?session[ -]?attr\w*|target_?server_?type)$/i;

function splitPort(server: string): { host: string; port: string } {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(server) ?? [];
  return { host: decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1')), port };
}

/** The port of each server: its own, or that of the list. @throws DatabaseUrlError */
function portsOf(list: string, servers: readonly { port: string }[]): string[] {
  const listed = list.split(',');
  if (listed.length > 1 && listed.length !== servers.length)
    throw new DatabaseUrlError('must have one port, or one for each of its hosts');
  return servers.map(({ port }, index) => port || (listed[listed.length > 1 ? index : 0] ?? ''));
}

function withoutTarget(url: string): string {
  return url.replace(/([?&])target_session_attrs=[^&#]*(&?)/g, (_, before, after) => (after ? before : ''));
}
