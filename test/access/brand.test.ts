import { describe, expect, it } from 'vitest';
import { updateAccountInput } from '../../server/src/access/keys.ts';
import { MAX_LOGO_BYTES, readLogo } from '../../server/src/access/logo.ts';
import { themeOf } from '../../server/src/api/checkout-page/brand.ts';
import { type Color, contrastOf, parseColor } from '../../server/src/kernel/color.ts';
import { aPayment, LOGO, PAGES, servePage } from '../money-in/card-payments/hosted-checkout.ts';
import { servePixPage } from '../money-in/payments/hosted-page.ts';

/** The head of a picture in each format, with its sides if the format states them. */
function png(width = 32, height = 32): Buffer {
  const bytes = Buffer.from(LOGO.bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
function jpeg(width = 32, height = 32): Buffer {
  const bytes = Buffer.from(
    'ffd8ffe000044a46ffc000110800200020030122000211010311 01ffd9'.replaceAll(' ', ''),
    'hex',
  );
  bytes.writeUInt16BE(height, 13);
  bytes.writeUInt16BE(width, 15);
  return bytes;
}
function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width = 32, height = 32): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(24, 4);
  bytes.write(`WEBP${kind}`, 8);
  if (kind === 'VP8 ') {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  } else if (kind === 'VP8L') bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  }
  return bytes;
}

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

describe('a logo', () => {
  it.each([
    ['image/png', png()],
    ['image/jpeg', jpeg()],
    // Markers may have bytes of padding in front of them.
    ['image/jpeg', Buffer.concat([jpeg().subarray(0, 8), Buffer.from('ffff', 'hex'), jpeg().subarray(8)])],
    ['image/webp', webp('VP8 ')],
    ['image/webp', webp('VP8L')],
    ['image/webp', webp('VP8X')],
  ])('A logo is known as %s by its bytes', (type, bytes) => {
    expect(readLogo(bytes)).toMatchObject({ type, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it.each([
    ['an SVG', SVG],
    ['a PNG in front of a page', Buffer.concat([png(), Buffer.from('<script>')])],
    ['half a PNG', png().subarray(0, 40)],
    ['half a JPEG', jpeg().subarray(0, 24)],
    ['a longer WebP', Buffer.concat([webp('VP8X'), Buffer.from('x')])],
    ['a GIF', Buffer.from('GIF89a'.padEnd(60))],
    ['nothing', Buffer.alloc(0)],
    ['only the first bytes', Buffer.from([0xff, 0xd8, 0xff])],
  ])('A logo may not be %s', (_name, bytes) => {
    expect(readLogo(bytes)).toMatch(/^must be a whole PNG, JPEG or WebP/);
  });

  it.each([
    ['a PNG', png(2049, 1)],
    ['a JPEG', jpeg(32, 4000)],
    [
      'a JPEG with padding',
      Buffer.concat([jpeg().subarray(0, 8), Buffer.from('ff', 'hex'), jpeg(1, 4000).subarray(8)]),
    ],
    ['a WebP', webp('VP8X', 16_000, 16_000)],
    ['an empty PNG', png(0, 10)],
  ])('A logo may not be %s of such sides', (_name, bytes) => {
    expect(readLogo(bytes)).toMatch(/^must be at most 2048 pixels wide and high/);
  });

  it('A logo has at most 100 kB', () => {
    expect(readLogo(Buffer.alloc(MAX_LOGO_BYTES + 1))).toBe('must have at most 100 kB, and has 102401 bytes');
    const input = { id: 'acc_one', logo: 'A'.repeat(200_000) };
    expect(updateAccountInput.safeParse(input).error?.issues[0]?.message).toBe('must have at most 100 kB');
  });
});

describe('a colour', () => {
  const refusalOf = (color: string) =>
    updateAccountInput.safeParse({ id: 'acc_one', color }).error?.issues[0]?.message;

  it('A colour is accepted where white text on it can be read', () => {
    for (const color of ['#7a1f5c', '#000000', '#0A6B52', '#767676'])
      expect(refusalOf(color)).toBeUndefined();
    expect(refusalOf('#777777')).toMatch(/^#777777 has a contrast of 4\.4:1 to the white text on it/);
    expect(refusalOf('#ffcc00')).toBe(
      '#ffcc00 has a contrast of 1.5:1 to the white text on it, and 4.5:1 is the least; #8f7200 would do',
    );
    for (const text of ['red', '#fff', '#12345g', 'url(x)', '#123456;'])
      expect(refusalOf(text)).toMatch(/as #rrggbb/);
  });

  it('Each colour that is accepted gives a theme whose texts can be read, in light and in dark mode', () => {
    const colors = ['#000000', '#767676', '#7a1f5c', '#0000ff', '#c00000', '#006400', '#8a6e00', '#001020'];
    for (const color of colors) {
      const [, light, dark] = themeOf(color)!.split(':root');
      const value = (theme: string, name: string): Color => {
        const [, found] = new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(theme)!;
        return parseColor(found!)!;
      };
      expect(contrastOf(value(light!, 'brand-from'), value(light!, 'brand-text'))).toBeGreaterThanOrEqual(
        4.5,
      );
      for (const [theme, surface] of [
        [light!, '#ffffff'],
        [dark!, '#121a17'],
      ] as const) {
        const accent = value(theme, 'accent');
        for (const other of [value(theme, 'on-accent'), value(theme, 'accent-soft'), parseColor(surface)!])
          expect(contrastOf(accent, other), `${color} ${theme}`).toBeGreaterThanOrEqual(4.5);
      }
    }
    expect(themeOf('#ffcc00')).toBeNull();
  });
});

describe('the pages of a shop', () => {
  const brand = { color: '#7a1f5c', logoHash: 'a'.repeat(64) };

  it('The pages of all methods have the colour and the logo, and their policy is as strict', async () => {
    await using card = await servePage({ brand });
    await using pix = await servePixPage({ brand });
    for (const { pageUrl, origin } of [card, pix]) {
      const response = await fetch(pageUrl);
      expect(response.headers.get('content-security-policy')).toMatch(/style-src 'self'; script-src 'self'/);
      const markup = await response.text();
      expect(markup).not.toContain('class="monogram"');
      const [, logoPath] = /<img class="logo" src="([^"]+)" alt="">/.exec(markup)!;
      const logo = await fetch(`${origin}${logoPath}`);
      expect(Object.fromEntries(logo.headers)).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(Buffer.from(await logo.arrayBuffer())).toEqual(LOGO.bytes);
      const [, themePath] = /<link rel="stylesheet" href="([^"]*theme[^"]+)">/.exec(markup)!;
      const theme = await fetch(`${origin}${themePath}`);
      expect(theme.headers.get('content-type')).toBe('text/css; charset=utf-8');
      expect(theme.headers.get('cache-control')).toMatch(/immutable/);
      expect(await theme.text()).toContain('--brand-from:#7a1f5c');
    }
    // The page of a failed payment shows the picture and the color, too.
    card.state.payment = aPayment({ ...PAGES.failed!, orderCode: card.state.payment.orderCode });
    expect(await (await fetch(card.pageUrl)).text()).toContain('class="logo"');
  });

  it('A logo and a theme that nobody has are not found', async () => {
    await using served = await servePage({ brand });
    for (const name of [`logo-${'b'.repeat(64)}`, 'logo-x', 'theme-ffcc00.css', 'theme-7a1f5c;x.css'])
      expect((await fetch(`${served.origin}/checkout/assets/${name}`)).status, name).toBe(404);
  });

  it('A shop without a brand has its initial in the colours of the page', async () => {
    await using served = await servePage();
    const markup = await (await fetch(served.pageUrl)).text();
    expect(markup).toContain('class="monogram"');
    expect(markup).not.toMatch(/theme-|class="logo"/);
  });
});
