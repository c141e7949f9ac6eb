import { expect, test } from 'vitest';
import {
  completeDatabaseUrl,
  DatabaseUrlError,
  parseDatabaseUrl,
} from '../../server/src/kernel/database-url.ts';

const BOTH = [
  'postgres://u:p%40@/psa?sslmode=require&host=h1&port=5432',
  'postgres://u:p%40@/psa?sslmode=require&host=h2&port=5433',
];

test.each([
  'postgres://u:p%40@h1:5432,h2:5433/psa?sslmode=require&target_session_attrs=read-write',
  'postgres://u:p%40@/psa?sslmode=require&host=h1,h2&port=5432,5433&target_session_attrs=read-write',
  'postgres://u:p%40@h1:5432,h2:5433/psa?sslmode=require',
  "host=h1,h2 port=5432,5433 user=u password='p@' dbname=psa sslmode=require",
])('Several servers are named in each form of PostgreSQL’s clients: %s', (text) => {
  expect(parseDatabaseUrl(text)).toEqual({ urls: BOTH, target: 'read-write' });
});

test.each([
  ['postgres://h1,h2:5433/psa', ['h1', null], ['h2', '5433']],
  ['postgres://h1,h2/psa?port=6432', ['h1', '6432'], ['h2', '6432']],
  ['postgres://[::1]:1,[2001:db8::2]/psa', ['::1', '1'], ['2001:db8::2', null]],
  ['postgres:///psa?host=/run/a,/run/b', ['/run/a', null], ['/run/b', null]],
])('Each server of %s has its own host and port', (text, ...servers) => {
  const { urls } = parseDatabaseUrl(text);
  const found = urls.map((url) => new URLSearchParams(url.slice(url.indexOf('?'))));
  expect(found.map((each) => [each.get('host'), each.get('port')])).toEqual(servers);
});

test.each([
  ['', 'any'],
  ['?target_session_attrs=any', 'any'],
  ['?target_session_attrs=read-write', 'read-write'],
  ['?target_session_attrs=primary', 'primary'],
])('One server with %j is addressed as it was given', (parameters, target) => {
  expect(parseDatabaseUrl(`postgres://u@db.example:1/psa${parameters}`)).toEqual({
    urls: ['postgres://u@db.example:1/psa'],
    target,
  });
});

test('Other parameters outlast the one that is taken out', () => {
  const { urls } = parseDatabaseUrl('postgres://h/psa?a=1&target_session_attrs=primary&b=2');
  expect(urls).toEqual(['postgres://h/psa?a=1&b=2']);
});

test('The variables of PostgreSQL’s clients complete an address without a host', () => {
  const variables = { PGHOST: 'h1,h2', PGPORT: '1,2', PGTARGETSESSIONATTRS: 'primary' };
  expect(parseDatabaseUrl(completeDatabaseUrl('postgres://u@/psa?a=1', variables))).toEqual({
    urls: ['postgres://u@/psa?a=1&host=h1&port=1', 'postgres://u@/psa?a=1&host=h2&port=2'],
    target: 'primary',
  });
  const named = completeDatabaseUrl('postgres://u@h/psa?target_session_attrs=any', variables);
  expect(parseDatabaseUrl(named)).toEqual({ urls: ['postgres://u@h/psa'], target: 'any' });
  // `pg` itself reads the name of a single host.
  expect(completeDatabaseUrl('postgres:///psa', { PGHOST: 'h1' })).toBe('postgres:///psa');
});

test.each([
  ['postgres://h1,h2/psa?target_session_attrs=standby', 'a server writes'],
  ['postgres://h1,h2/psa?target_session_attrs=READ', 'a server writes'],
  ['postgres://h1,h2/psa?targetServerType=primary', 'spell targetServerType as target_session_attrs'],
  ['postgres://h1,h2/psa?targetSessionAttrs=primary', 'spell targetSessionAttrs as target_session_attrs'],
  ['postgres://h1,h2,h3/psa?port=1,2', 'one port'],
  ['postgres://h1,,h3/psa', 'each of its hosts'],
  ['postgres://h1,h2:x/psa', 'a PostgreSQL URL'],
  ['postgres:///psa?hostaddr=10.0.0.1,10.0.0.2', 'not by hostaddr'],
  ['host=h1 dbname', 'must begin with'],
])('An address that would be misread is refused: %s', (text, message) => {
  expect(() => parseDatabaseUrl(text)).toThrow(DatabaseUrlError);
  expect(() => parseDatabaseUrl(text)).toThrow(message);
});
