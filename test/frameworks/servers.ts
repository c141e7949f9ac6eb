// A page that each framework renders on a server, by the framework's recipe in widget/docs/psa-checkout.md.
import type { Project } from './project.ts';

const NEXT_FILES = {
  'next.config.mjs': `
export default {
  distDir: process.env.DIST,
  turbopack: { root: import.meta.dirname + '/../../..' },
  outputFileTracingRoot: import.meta.dirname + '/../../..',
};
`,
  'app/layout.jsx': `
export const metadata = { title: 'Caneca', icons: { icon: 'data:,' } };
export default function Layout({ children }) {
  return <html lang="pt-BR"><body>{children}</body></html>;
}
`,
  'app/page.jsx': `
import { Pay } from './pay';

export default async function Page({ searchParams }) {
  const { endpoint, token } = await searchParams;
  return <Pay endpoint={endpoint} token={token} />;
}
`,
  'app/pay.jsx': `
'use client';
import { PsaCheckout } from '@psa/checkout/react';
import { useState } from 'react';

export function Pay({ endpoint, token }) {
  const [order, setOrder] = useState('');
  return (
    <>
      <PsaCheckout
        endpoint={endpoint}
        token={token}
        methods="pix card"
        customer={{ externalId: 'u-17' }}
        onpsa-paid={({ detail: { payment } }) => setOrder(payment.orderCode ?? payment.paymentId)}
      >
        Pagar R$ 49,90
      </PsaCheckout>
      {order && <p>Obrigado! Pedido {order}</p>}
    </>
  );
}
`,
};

const next = (bundler: 'turbopack' | 'webpack'): Project => ({
  packages: 'next',
  files: NEXT_FILES,
  env: { DIST: `.next-${bundler}`, NEXT_TELEMETRY_DISABLED: '1' },
  build: [['next/dist/bin/next', 'build', `--${bundler}`]],
  serve: { program: ['next/dist/bin/next', 'start'] },
});

const ANGULAR_BUILD = {
  builder: '@angular/build:application',
  options: {
    browser: 'src/main.ts',
    server: 'src/main.server.ts',
    ssr: { entry: 'src/server.ts' },
    outputMode: 'server',
    index: 'src/index.html',
    outputPath: 'dist',
    tsConfig: 'tsconfig.json',
  },
};

export const SERVERS: Record<string, Project> = {
  'Next.js (Turbopack)': next('turbopack'),
  'Next.js (webpack)': next('webpack'),

  React: {
    packages: 'bundlers',
    files: {
      'pay.js': `
import { PsaCheckout } from '@psa/checkout/react';
import { createElement as h, Fragment, useState } from 'react';

export function Pay({ endpoint, token }) {
  const [order, setOrder] = useState('');
  return h(
    Fragment,
    null,
    h(
      PsaCheckout,
      {
        endpoint,
        token,
        methods: 'pix card',
        customer: { externalId: 'u-17' },
        'onpsa-paid': ({ detail: { payment } }) => setOrder(payment.orderCode ?? payment.paymentId),
      },
      'Pagar R$ 49,90',
    ),
    order && h('p', null, 'Obrigado! Pedido ', order),
  );
}
`,
      'board.js': `
import { PsaDisputes } from '@psa/checkout/disputes/react';
import { PsaSales } from '@psa/checkout/sales/react';
import { createElement as h, Fragment, useState } from 'react';

export function Board({ endpoint, token }) {
  const [sale, setSale] = useState('');
  return h(
    Fragment,
    null,
    h(PsaSales, { endpoint, token, 'onpsa-sale-select': ({ detail }) => setSale(detail.sale.reference) }),
    h(PsaDisputes, { endpoint, token }),
    sale && h('p', null, 'Venda ', sale),
  );
}
`,
      'page.js': `
import { createElement } from 'react';
import { Board } from './board.js';
import { Pay } from './pay.js';

export function pageOf({ endpoint, token, dashboard }) {
  return dashboard
    ? createElement(Board, { endpoint, token: dashboard })
    : createElement(Pay, { endpoint, token });
}
`,
      'client.js': `
import { hydrateRoot } from 'react-dom/client';
import { pageOf } from './page.js';

hydrateRoot(document.querySelector('main'), pageOf(Object.fromEntries(new URLSearchParams(location.search))));
`,
      'build.mjs': `
import { build } from 'vite';
await build({ root: import.meta.dirname, logLevel: 'warn', build: { outDir: 'out', rolldownOptions: { input: 'client.js', output: { entryFileNames: '[name].js' } } } });
`,
      'server.mjs': `
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { renderToString } from 'react-dom/server';
import { pageOf } from './page.js';

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://shop');
  if (pathname.endsWith('.js')) {
    response.writeHead(200, { 'content-type': 'text/javascript' });
    return response.end(await readFile(import.meta.dirname + '/out' + pathname));
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    '<!doctype html><html lang="pt-BR"><title>Caneca</title><link rel="icon" href="data:,"><main>' +
      renderToString(pageOf(Object.fromEntries(searchParams))) +
      '</main><script type="module" src="/client.js"></script></html>',
  );
}).listen(process.env.PORT);
`,
    },
    build: [['build.mjs']],
    serve: { program: ['server.mjs'] },
    hasBoard: true,
  },

  Nuxt: {
    packages: 'nuxt',
    env: { NUXT_TELEMETRY_DISABLED: '1' },
    files: {
      'nuxt.config.mjs': `
export default {
  compatibilityDate: '2026-11-01',
  telemetry: false,
  app: { head: { title: 'Caneca', htmlAttrs: { lang: 'pt-BR' }, link: [{ rel: 'icon', href: 'data:,' }] } },
  vue: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('psa-') } },
};
`,
      'app/app.vue': `
<script setup>
import '@psa/checkout/define';
import { ref } from 'vue';

const { searchParams } = useRequestURL();
const order = ref('');
const paid = ({ detail: { payment } }) => (order.value = payment.orderCode ?? payment.paymentId);
</script>

<template>
  <psa-checkout
    :endpoint="searchParams.get('endpoint')"
    :token="searchParams.get('token')"
    methods="pix card"
    :customer="{ externalId: 'u-17' }"
    @psa-paid="paid"
  >
    Pagar R$ 49,90
  </psa-checkout>
  <p v-if="order">Obrigado! Pedido {{ order }}</p>
</template>
`,
    },
    build: [['nuxt/bin/nuxt.mjs', 'build']],
    serve: { program: ['.output/server/index.mjs'] },
  },

  SvelteKit: {
    packages: 'sveltekit',
    files: {
      'package.json': '{ "private": true, "type": "module" }',
      'vite.config.js': `
import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter() })] };
`,
      'src/app.html':
        '<!doctype html><html lang="pt-BR"><head><title>Caneca</title><link rel="icon" href="data:,">%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
      'src/routes/+page.server.js': `
export const load = ({ url }) => Object.fromEntries(url.searchParams);
`,
      'src/routes/+page.svelte': `
<script>
import '@psa/checkout/define';

let { data } = $props();
let order = $state('');
</script>

<psa-checkout
  endpoint={data.endpoint}
  token={data.token}
  methods="pix card"
  customer={{ externalId: 'u-17' }}
  onpsa-paid={({ detail: { payment } }) => (order = payment.orderCode ?? payment.paymentId)}
>
  Pagar R$ 49,90
</psa-checkout>
{#if order}<p>Obrigado! Pedido {order}</p>{/if}
`,
    },
    build: [['vite/bin/vite.js', 'build', '--logLevel', 'warn']],
    serve: { program: ['build/index.js'] },
  },

  Astro: {
    packages: 'astro',
    env: { ASTRO_TELEMETRY_DISABLED: '1', HOST: '127.0.0.1' },
    files: {
      'package.json': '{ "private": true, "type": "module" }',
      'astro.config.mjs': `
import node from '@astrojs/node';
export default { output: 'server', adapter: node({ mode: 'standalone' }) };
`,
      'src/pages/index.astro': `---
const { endpoint, token } = Object.fromEntries(Astro.url.searchParams);
---
<html lang="pt-BR">
  <head><title>Caneca</title><link rel="icon" href="data:," /></head>
  <body>
    <psa-checkout endpoint={endpoint} token={token} methods="pix card">Pagar R$ 49,90</psa-checkout>
    <script>
      import '@psa/checkout/define';

      const element = document.querySelector('psa-checkout');
      element.customer = { externalId: 'u-17' };
      element.addEventListener('psa-paid', ({ detail: { payment } }) => {
        const thanks = document.createElement('p');
        thanks.textContent = 'Obrigado! Pedido ' + (payment.orderCode ?? payment.paymentId);
        document.body.append(thanks);
      });
    </script>
  </body>
</html>
`,
    },
    build: [['astro/bin/astro.mjs', 'build']],
    serve: { program: ['dist/server/entry.mjs'] },
  },

  'Angular SSR': {
    packages: 'angular',
    env: { NG_CLI_ANALYTICS: 'false' },
    files: {
      'angular.json': JSON.stringify({
        version: 1,
        projects: {
          shop: {
            projectType: 'application',
            root: '',
            sourceRoot: 'src',
            architect: { build: ANGULAR_BUILD },
          },
        },
      }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          target: 'ES2022',
          module: 'preserve',
          strict: true,
          skipLibCheck: true,
          types: [],
        },
        files: ['src/main.ts', 'src/main.server.ts', 'src/server.ts'],
      }),
      'src/index.html':
        '<!doctype html><html lang="pt-BR"><head><title>Caneca</title><base href="/"><link rel="icon" href="data:,"></head><body><shop-pay></shop-pay></body></html>',
      'src/pay.ts': `
import '@psa/checkout/define';
import { Component, CUSTOM_ELEMENTS_SCHEMA, DOCUMENT, inject, signal } from '@angular/core';
import type { PsaCheckoutEventMap } from '@psa/checkout';

@Component({
  selector: 'shop-pay',
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: \`
    <psa-checkout
      [attr.endpoint]="query.get('endpoint')"
      [attr.token]="query.get('token')"
      methods="pix card"
      [customer]="{ externalId: 'u-17' }"
      (psa-paid)="paid($event)"
    >
      Pagar R$ 49,90
    </psa-checkout>
    @if (order()) {
      <p>Obrigado! Pedido {{ order() }}</p>
    }
  \`,
})
export class Pay {
  readonly query = new URL(inject(DOCUMENT).location.href).searchParams;
  readonly order = signal('');

  paid({ detail: { payment } }: PsaCheckoutEventMap['psa-paid']) {
    this.order.set((payment.orderCode ?? payment.paymentId)!);
  }
}
`,
      'src/main.ts': `
import { bootstrapApplication, provideClientHydration } from '@angular/platform-browser';
import { Pay } from './pay';

bootstrapApplication(Pay, { providers: [provideClientHydration()] });
`,
      'src/main.server.ts': `
import { bootstrapApplication, type BootstrapContext } from '@angular/platform-browser';
import { provideRouter } from '@angular/router';
import { provideServerRendering, RenderMode, withRoutes } from '@angular/ssr';
import { Pay } from './pay';

const routes = [{ path: '**', renderMode: RenderMode.Server as const }];
const providers = [provideRouter([]), provideServerRendering(withRoutes(routes))];

export default (context: BootstrapContext) => bootstrapApplication(Pay, { providers }, context);
`,
      'src/server.ts': `
// @ts-nocheck The project has no types of Node.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { AngularNodeAppEngine, createNodeRequestHandler, isMainModule, writeResponseToNodeResponse } from '@angular/ssr/node';

const engine = new AngularNodeAppEngine({ allowedHosts: ['localhost'] });

export const reqHandler = createNodeRequestHandler(async (request, response) => {
  if (/\\.js$/.test(request.url)) {
    response.writeHead(200, { 'content-type': 'text/javascript' });
    return response.end(await readFile(import.meta.dirname + '/../browser' + request.url));
  }
  const rendered = await engine.handle(request);
  if (rendered) return writeResponseToNodeResponse(rendered, response);
  response.writeHead(404);
  response.end();
});
if (isMainModule(import.meta.url)) createServer(reqHandler).listen(process.env['PORT']);
`,
    },
    build: [['@angular/cli/bin/ng.js', 'build']],
    serve: { program: ['dist/server/server.mjs'] },
  },
};
