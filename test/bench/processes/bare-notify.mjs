// The floor of an update: one transaction writes and notifies, and a listener sends the notification to its one
// client.
import { once } from 'node:events';
import pg from 'pg';
import { WebSocketServer } from 'ws';
import { answerParent } from './answer.mjs';
import { watchCommits } from './commits.mjs';

const commits = watchCommits(pg);
/** @type {pg.Client} */
let writer;
let written = 0;

answerParent({
  async start({ databaseUrl }) {
    writer = new pg.Client(databaseUrl);
    await writer.connect();
    await writer.query('create table sent (number integer, body text)');
    const listener = new pg.Client(databaseUrl);
    await listener.connect();
    await listener.query('listen sent');
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    listener.on('notification', ({ payload = '' }) => {
      for (const client of server.clients) client.send(payload);
    });
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `ws://127.0.0.1:${address.port}` };
  },
  async tell({ text }) {
    commits.forget();
    await writer.query('begin');
    await writer.query('insert into sent values ($1, $2)', [++written, text]);
    await writer.query(`select pg_notify('sent', $1)`, [text]);
    await writer.query('commit');
    return { at: String(process.hrtime.bigint()), ...commits.last() };
  },
});
