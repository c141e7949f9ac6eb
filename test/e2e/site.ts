import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A shop's own server, of another origin than the payments server. */
export interface Site {
  readonly url: string;
  /** The HTML that it serves. */
  page: string;
  close(): void;
}

export async function startSite(): Promise<Site> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(site.page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const site: Site = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    page: '',
    close: () => void server.close(),
  };
  return site;
}

/** A page with one element and the scripts of `head`. */
export function pageWith(element: string, attributes: Record<string, string>, head: string): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
  return `<!doctype html><html lang="pt-BR"><title>Caneca</title><link rel="icon" href="data:,">
    ${head}<${element}${written.join('')}></${element}></html>`;
}
