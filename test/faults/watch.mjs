// The places where a process commits, and where it sends something. They are found in the bytes to its database and
// to its sockets, so that a new place needs no line here.
import { subscribe } from 'node:diagnostics_channel';
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { modules } from '../support/built.mjs';

const { default: pg } = await modules.pg();

/** The header with a request's name in a boundary's name. */
export const ASKED = 'x-asked';

/**
 * Calls `reached` with the name of each boundary, in the middle of the operation that it bounds.
 * @param {(boundary: string) => void} reached
 */
export function watchBoundaries(reached) {
  watchCommits(reached);
  watchWebhooks(reached);
  watchAnswers(reached);
  watchUpdates(reached);
}

/**
 * A transaction that writes is named after the tables that it writes, and so is a single statement.
 * @param {(boundary: string) => void} reached
 */
function watchCommits(reached) {
  const send = pg.Client.prototype.query;
  /** @type {WeakMap<import('pg').Client, Set<string>>} */
  const writtenBy = new WeakMap();

  pg.Client.prototype.query = /** @type {any} */ (
    /** @this {import('pg').Client} @param {any[]} args */
    function (...args) {
      const sent = () => send.apply(this, /** @type {any} */ (args));
      const text = String(args[0].text ?? args[0]);
      const values = args[0].values ?? args[1] ?? [];
      if (/^\s*(begin|start transaction)/i.test(text)) writtenBy.set(this, new Set());
      const written = writtenBy.get(this);
      if (/^\s*rollback/i.test(text)) writtenBy.delete(this);
      else if (/^\s*commit/i.test(text)) {
        writtenBy.delete(this);
        if (written && written.size > 0) return around(this, [...written].sort().join(', '), sent);
      } else if (written) for (const what of [...writesOf(text), ...kindsIn(text, values)]) written.add(what);
      else if (text.includes('pg_notify')) return called('call to the other instances', sent);
      else if (writesOf(text).length > 0) return around(this, `only ${alone(text)}`, sent);
      return sent();
    }
  );

  /** @param {import('pg').Client} client @param {string} name @param {() => any} sent */
  function around(client, name, sent) {
    reached(`commit of ${name} | before it is sent`);
    // A pipelined statement is no commit: the next bytes are the COMMIT's answer.
    client.connection.stream.prependOnceListener('data', () =>
      reached(`commit of ${name} | done, its answer not read`),
    );
    return sent().then((/** @type {unknown} */ result) => {
      reached(`commit of ${name} | answered, nobody notified`);
      return result;
    });
  }

  /** @param {string} name @param {() => any} sent */
  function called(name, sent) {
    reached(`${name} | before`);
    return sent().then((/** @type {unknown} */ result) => {
      reached(`${name} | after`);
      return result;
    });
  }
}

/** @param {string} text */
function writesOf(text) {
  if (/^\s*(create|alter) /im.test(text)) return ['tables'];
  const plain = text.replaceAll(/\/\*.*?\*\//gs, '');
  const writes = plain.matchAll(/(?<!\b(?:for|do)\s+)\b(insert into|update|delete from)\s+"?(\w+)"?/gi);
  return [...writes].map(([, verb, table]) => `${verb?.split(' ')[0]?.toLowerCase()} ${table}`);
}

/** The kinds of events and tasks among its values: `payout.pending`, `webhook.deliver`. @param {string} text @param {unknown[]} values */
function kindsIn(text, values) {
  if (writesOf(text).length === 0) return [];
  return values
    .flat()
    .map(String)
    .filter((value) => /^[a-z_]+\.[a-z_]+$/.test(value));
}

/**
 * Summarizes a statement with the columns that it updates: a task is claimed, renewed and postponed by different
 * columns.
 * @param {string} text
 */
function alone(text) {
  const set = /^\s*update .*?\bset\b(.*?)(?:\bwhere\b|\bfrom\b|$)/is.exec(text)?.[1] ?? '';
  const columns = [...set.matchAll(/"?(\w+)"?\s*=/g)].map(([, column]) => column);
  return `${writesOf(text).sort().join(', ')}${columns.length > 0 ? ` (${columns.join(', ')})` : ''}`;
}

/** Watches requests to another server over HTTP. @param {(boundary: string) => void} reached */
function watchWebhooks(reached) {
  subscribe('http.client.request.start', () => reached('webhook attempt | before'));
  subscribe('http.client.response.finish', () => reached('webhook attempt | after'));
}

/** Watches answers to requests that a header names. @param {(boundary: string) => void} reached */
function watchAnswers(reached) {
  const { writeHead } = ServerResponse.prototype;
  ServerResponse.prototype.writeHead = /** @type {any} */ (
    /** @this {ServerResponse} @param {any[]} args */
    function (...args) {
      const asked = this.req.headers[ASKED];
      if (asked) {
        reached(`answer to ${asked} | before`);
        this.once('finish', () => reached(`answer to ${asked} | after`));
      }
      return writeHead.apply(this, /** @type {any} */ (args));
    }
  );
}

/** @param {(boundary: string) => void} reached */
function watchUpdates(reached) {
  const { write } = Socket.prototype;
  Socket.prototype.write = /** @type {any} */ (
    /** @this {Socket} @param {any[]} args */
    function (...args) {
      const chunk = args[0];
      const transport = chunk.includes('"type":"next"')
        ? 'a WebSocket'
        : chunk.includes('event: next')
          ? 'an event stream'
          : null;
      if (transport) {
        reached(`update over ${transport} | before`);
        // Messages that are collected in one turn have left in the next.
        setImmediate(() => reached(`update over ${transport} | after`));
      }
      return write.apply(this, /** @type {any} */ (args));
    }
  );
}
