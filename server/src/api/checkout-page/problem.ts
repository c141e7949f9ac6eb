import { html } from './html.ts';
import { ICONS } from './icons.ts';
import { notice, page, type Site } from './layout.ts';

/** The page of a refused request or an internal error, in the look of the others. */
export function problemPage(site: Site, status: number, paymentUrl: string | null): string {
  const { problems } = site.texts;
  const { title, text } = isKnown(status) ? problems[status] : problems.other;
  const link =
    paymentUrl !== null &&
    html`<p class="actions"><a class="button" href="${paymentUrl}">${problems.seePayment}</a></p>`;
  return page(site, {
    title,
    state: 'problem',
    summary: null,
    main: notice({
      icon: status === 404 ? ICONS.search : ICONS.alert,
      tone: 'neutral',
      title,
      body: html`<p>${text}</p>${link}`,
    }),
  });
}

const KNOWN = [400, 403, 404, 413, 415, 429] as const;

function isKnown(status: number): status is (typeof KNOWN)[number] {
  return (KNOWN as readonly number[]).includes(status);
}
