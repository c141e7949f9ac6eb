import { createHash } from 'node:crypto';
import {
  BLACK,
  type Color,
  contrastOf,
  formatColor,
  MIN_CONTRAST,
  mixColors,
  parseColor,
  WHITE,
  withContrast,
} from '../../kernel/color.ts';
import { asTooMany, type PageLimits } from '../http/admission.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { HttpError, type Route, send } from '../http/routes.ts';

/** The look of a shop on its pages, without its name. */
export interface Brand {
  /** The color as #rrggbb. */
  color: string | null;
  /** The SHA-256 of its logo. */
  logoHash: string | null;
}

/**
 * Finds the look of a shop. Its logo is stored here: an address on the shop's server would show that server which
 * payers pay, and when.
 */
export interface Brands {
  brandOf(accountId: string): Promise<Brand | null>;
  logoOf(hash: string): Promise<{ type: string; bytes: Buffer } | null>;
}

/** The surfaces of page.css in dark mode on which the accent is read. */
const DARK_SURFACES: readonly Color[] = [
  [18, 26, 23],
  [24, 34, 30],
];

/**
 * The style of a shop's color: the head has it, with white text. Buttons and links have a variant of it that is readable in
 * light and in dark mode. Null if white text on it is not readable.
 */
export function themeOf(color: string): string | null {
  const brand = parseColor(color);
  if (!brand || contrastOf(brand, WHITE) < MIN_CONTRAST) return null;
  const softOn = (surface: Color) => (accent: Color) => mixColors(surface, accent, 0.12);
  const [softOnLight, softOnDark] = [softOn(WHITE), softOn(DARK_SURFACES[0]!)];
  const light = withContrast(brand, BLACK, (accent) => [WHITE, [245, 248, 246], softOnLight(accent)]);
  const dark = withContrast(brand, WHITE, (accent) => [...DARK_SURFACES, softOnDark(accent), BLACK], 5.5);
  const rule = (values: Record<string, Color | string>) =>
    `:root{${Object.entries(values)
      .map(([name, value]) => `--${name}:${typeof value === 'string' ? value : formatColor(value)}`)
      .join(';')}}`;
  const head = {
    'brand-from': brand,
    'brand-to': mixColors(brand, BLACK, 0.45),
    'brand-text': WHITE,
    'brand-muted': WHITE,
    // The head is darkened behind the chip, so that its text stays readable.
    'brand-chip': 'rgb(0 0 0 / 16%)',
    'brand-glow': 'transparent',
    'brand-card-from': 'rgb(0 0 0 / 14%)',
    'brand-card-to': 'rgb(0 0 0 / 4%)',
  };
  return `@media screen{${rule({
    ...head,
    accent: light,
    'accent-hover': mixColors(light, BLACK, 0.18),
    'on-accent': WHITE,
    'accent-soft': softOnLight(light),
  })}}
@media screen and (prefers-color-scheme:dark){${rule({
    accent: dark,
    'accent-hover': mixColors(dark, WHITE, 0.18),
    'on-accent': BLACK,
    'accent-soft': softOnDark(dark),
  })}}
`;
}

/** The version of the rules above: the address of a theme changes with them. */
const THEMES = createHash('sha256')
  .update(String(themeOf('#123456')))
  .digest('base64url')
  .slice(0, 12);

/** The addresses of a shop's theme and logo. */
export function brandUrls(basePath: string, brand: Brand | null) {
  return {
    themeUrl: brand?.color ? `${basePath}/assets/theme-${brand.color.slice(1)}.css?v=${THEMES}` : null,
    logoUrl: brand?.logoHash ? `${basePath}/assets/logo-${brand.logoHash}` : null,
  };
}

const IMMUTABLE = {
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; sandbox",
};

/** The routes of themes, which are computed, and of logos. The addresses name their content, so they never change. */
export function createBrandRoutes({
  brands,
  addressOf,
  limits,
}: {
  brands: Brands;
  addressOf: ClientAddress;
  limits: PageLimits;
}): Route[] {
  return [
    {
      methods: ['GET', 'HEAD'],
      path: /^\/checkout\/assets\/theme-(?<color>[0-9a-f]{6})\.css$/,
      handle({ response, params, url }) {
        const theme = themeOf(`#${params.color}`);
        if (theme === null) throw new HttpError(404, 'Not found');
        const isCurrent = url.searchParams.get('v') === THEMES;
        send(response, 200, theme, {
          'content-type': 'text/css; charset=utf-8',
          ...IMMUTABLE,
          ...(!isCurrent && { 'cache-control': 'no-cache' }),
        });
      },
    },
    {
      methods: ['GET', 'HEAD'],
      path: /^\/checkout\/assets\/logo-(?<hash>[0-9a-f]{64})$/,
      async handle({ request, response, params }) {
        const address = addressOf(request);
        try {
          await limits.take(address);
        } catch (error) {
          throw asTooMany(error);
        }
        const logo = await brands.logoOf(params.hash!);
        if (!logo) throw new HttpError(404, 'Not found');
        limits.putBack(address);
        send(response, 200, logo.bytes, { 'content-type': logo.type, ...IMMUTABLE });
      },
    },
  ];
}
