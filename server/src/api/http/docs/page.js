// The viewer has a dark mode, which the page switches.
const dark = matchMedia('(prefers-color-scheme: dark)');
const setMode = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
setMode();
dark.addEventListener('change', setMode);

const answer = await fetch('openapi.json');
// The headers, which all answers share, would take most of the page; the introduction names them.
const description = JSON.parse(await answer.text(), (key, value) => (key === 'headers' ? undefined : value));
// Requests go to the server of this page, under the name in the address bar.
description.servers = [{ url: new URL('..', location.href).href.replace(/\/$/, '') }];

// @ts-expect-error defined by the bundle before this script
window.SwaggerUIBundle({
  spec: description,
  dom_id: '#operations',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // No validation badge from another site.
  validatorUrl: 'none',
});
