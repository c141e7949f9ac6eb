// The viewer knows a dark look, and leaves it to the page to say when.
const dark = matchMedia('(prefers-color-scheme: dark)');
const look = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
look();
dark.addEventListener('change', look);

const answer = await fetch('openapi.json');
// The headers, which all answers share, would take more room than all else; the introduction names them.
const description = JSON.parse(await answer.text(), (key, value) => (key === 'headers' ? undefined : value));
// Tried out on the server that this page is from, by whatever name it was reached.
description.servers = [{ url: new URL('..', location.href).href.replace(/\/$/, '') }];

// @ts-expect-error the bundle before this script has put it there
window.SwaggerUIBundle({
  spec: description,
  dom_id: '#operations',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // No badge of another site's.
  validatorUrl: 'none',
});
