import axe from 'axe-core';
import { describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/define.ts';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { change, checkout, eachOnAFreshPage, part, place, readScenario, settledLook } from './component.ts';
import type { Scenario } from './fake-server.ts';
import { waitFor } from './patience.ts';

eachOnAFreshPage();

const CODE = { kind: 'CODES', status: 'DELIVERED', content: 'CANECA-7F3K' };
const TEXT = { kind: 'TEXT', status: 'DELIVERED', content: '<img src=x onerror=alert(1)>\nsegunda linha' };
const LINK = { kind: 'LINK', status: 'DELIVERED', content: 'https://loja.example/manual.pdf' };
const PENDING = { kind: 'CODES', status: 'PENDING', content: null };

/** Pays, by card unless another method is named, and waits until the content was requested. */
async function pay(scenario: Partial<Scenario>, attributes: { methods?: string; locale?: string } = {}) {
  const started = await checkout(scenario, attributes);
  await started.element.start();
  await change(started.element, 'PAID');
  await waitFor(async () => expect((await readScenario(started.scenario)).contentReads).toBe(1));
  return started;
}

async function contentOf(element: PsaCheckout): Promise<HTMLElement> {
  return waitFor(() => {
    const content = part(element, 'delivered');
    expect(content).not.toBeNull();
    return content!;
  });
}

const wordsOf = (element: HTMLElement) => element.textContent?.replace(/\s+/g, ' ').trim();

describe('what a paid payment has delivered', () => {
  it.each(['card', 'pix'])('is shown beside the receipt of a payment by %s', async (methods) => {
    const { element } = await pay({ delivered: [CODE, TEXT, LINK, PENDING] }, { methods });
    const content = await contentOf(element);
    expect(element.shadowRoot?.querySelector('.facts')).not.toBeNull();
    expect([...content.querySelectorAll('textarea')].map(({ value, readOnly }) => [value, readOnly])).toEqual(
      [
        [CODE.content, true],
        [TEXT.content, true],
      ],
    );
    expect(content.querySelector('img')).toBeNull();
    const link = content.querySelector('a')!;
    expect([link.href, link.target, link.rel]).toEqual([LINK.content, '_blank', 'noopener noreferrer']);
    expect(wordsOf(content)).toMatch(
      /Abrir o conteúdo.*\(em outra aba\).*assim que a loja repuser o estoque/,
    );
  });

  it('a link is an address of the web, and any other is text', async () => {
    const content = 'javascript:alert(1)';
    const { element } = await pay({ delivered: [{ ...LINK, content }] });
    const shown = await contentOf(element);
    expect(shown.querySelector('a')).toBeNull();
    expect(shown.querySelector('textarea')?.value).toBe(content);
  });

  it('its button copies the content, and says so; without a clipboard the field is selected', async () => {
    const { element } = await pay({ delivered: [CODE] });
    const content = await contentOf(element);
    const write = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValueOnce();
    part(element, 'copy-button')!.click();
    await waitFor(() => expect(part(element, 'copy-button')?.textContent).toBe('Copiado'));
    expect(write).toHaveBeenCalledExactlyOnceWith(CODE.content);
    expect(wordsOf(content.querySelector('[role=status]')!)).toContain('Guarde em um lugar seguro');
    write.mockRejectedValueOnce(new DOMException('no', 'NotAllowedError'));
    part(element, 'copy-button')!.click();
    await waitFor(() => expect(wordsOf(content)).toContain('Está selecionado'));
    const { selectionStart, selectionEnd, value } = content.querySelector('textarea')!;
    expect([selectionStart, selectionEnd]).toEqual([0, value.length]);
  });

  it('it is shown again after a reload, and what was out of stock once it is there', async () => {
    const { element, scenario } = await pay({ delivered: [PENDING] });
    expect(wordsOf(await contentOf(element))).toContain('assim que a loja repuser o estoque');
    await fetch(`${inject('fakeUrl')}/scenario`, {
      method: 'POST',
      body: JSON.stringify({ token: scenario.token, delivered: [CODE] }),
    });
    await element.refresh();
    await waitFor(() =>
      expect(part(element, 'delivered')?.querySelector('textarea')?.value).toBe(CODE.content),
    );
    await element.refresh();
    expect((await readScenario(scenario)).contentReads).toBe(2);
    element.remove();
    const again = await place(scenario.token);
    expect((await contentOf(again)).querySelector('textarea')?.value).toBe(CODE.content);
  });

  it.each([
    ['nothing', null],
    ['revoked content', [{ ...CODE, status: 'REVOKED', content: null }]],
    ['a field that an older server refuses', 'unknown'],
  ] as [string, NonNullable<Scenario['delivered']> | null][])(
    'of %s the payer sees the receipt alone',
    async (_, delivered) => {
      const { element, scenario } = await pay({ delivered });
      await element.refresh();
      await element.updateComplete;
      expect([element.phase, element.error]).toEqual(['paid', undefined]);
      expect(part(element, 'delivered')).toBeNull();
      expect(element.shadowRoot?.querySelector('.facts')).not.toBeNull();
      expect((await readScenario(scenario)).contentReads).toBeGreaterThan(0);
    },
  );

  it('it is gone once the payment was refunded whole', async () => {
    const { element } = await pay({ delivered: [CODE] });
    await contentOf(element);
    const { payment } = element;
    await fetch(`${inject('fakeUrl')}/act`, {
      method: 'POST',
      body: JSON.stringify({
        orderCode: payment?.orderCode,
        silent: true,
        values: { status: 'REFUNDED', version: 9 },
      }),
    });
    await element.refresh();
    await element.updateComplete;
    expect(element.phase).toBe('refunded');
    expect(part(element, 'delivered')).toBeNull();
  });

  it.each([
    ['en', 'What you bought', 'Copy'],
    ['es', 'Lo que compraste', 'Copiar'],
  ])('its texts are there in %s', async (locale, title, copy) => {
    const { element } = await pay({ delivered: [CODE] }, { locale });
    const content = await contentOf(element);
    await waitFor(() => expect(wordsOf(content)).toContain(title));
    expect(part(element, 'copy-button')?.textContent).toBe(copy);
  });

  it.each(inject('axeSchemes'))(
    'axe finds nothing, and nothing is too wide, %s, at 320 px',
    async (scheme) => {
      document.documentElement.style.colorScheme = scheme;
      document.body.style.background = scheme === 'dark' ? '#0e1014' : '#fff';
      const long = { ...CODE, content: 'A'.repeat(300) };
      const { element } = await pay({ delivered: [CODE, long, TEXT, LINK, PENDING] }, {
        style: 'max-inline-size: 288px',
      } as object);
      await contentOf(element);
      await settledLook(element);
      const { violations } = await axe.run(element, { rules: { region: { enabled: false } } });
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([]);
      const base = element.shadowRoot?.querySelector('[part~=base]');
      expect(base?.scrollWidth).toBeLessThanOrEqual(element.clientWidth);
    },
  );
});
