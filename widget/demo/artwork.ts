// The products' pictures, inline so that the shop loads nothing from other origins. Colours come from the page's CSS.

const ARTWORK: Record<string, string> = {
  caneca: `
    <path class="shadow" d="M88 252h150l-14 12H102z"/>
    <path class="clay" d="M92 112h124v104a36 36 0 0 1-36 36h-52a36 36 0 0 1-36-36z"/>
    <path class="handle" d="M216 138h16a26 26 0 0 1 26 26v10a26 26 0 0 1-26 26h-17"/>
    <path class="forest" d="M92 196l30-30 22 20 28-34 44 44v20a36 36 0 0 1-36 36h-52a36 36 0 0 1-36-36z"/>
    <circle class="sun" cx="186" cy="142" r="13"/>
    <ellipse class="coffee" cx="154" cy="112" rx="62" ry="11"/>
    <path class="steam" d="M132 88c-8-10 8-16 0-28M156 84c-8-11 8-18 0-32M180 88c-8-10 8-16 0-28"/>`,
  cafe: `
    <path class="shadow" d="M96 262h136l-12 10H110z"/>
    <path class="paper" d="M102 86h116l10 158a18 18 0 0 1-18 18H110a18 18 0 0 1-18-18z"/>
    <path class="fold" d="M102 86l8-30h100l8 30z"/>
    <path class="clay" d="M98.600 140h122.800l4.600 72H94z"/>
    <path class="forest" d="M94.600 212l28-34 22 18 30-36 46.800 52z"/>
    <circle class="sun" cx="190" cy="160" r="9"/>
    <path class="bean" d="M234 238c16-12 34-2 32 14s-24 24-34 12 2-26 2-26z"/>
    <path class="groove" d="M234 260c10-2 10-14 22-16"/>
    <path class="bean" d="M54 246c14-8 28 2 24 16s-24 18-30 6 6-22 6-22z"/>
    <path class="groove" d="M52 264c8-1 10-10 18-12"/>`,
  rede: `
    <path class="post" d="M44 66v200M276 66v200"/>
    <path class="shadow" d="M92 262h136l-14 8H106z"/>
    <path class="rope" d="M44 92l44 50M44 92l62 62M44 92l34 38M276 92l-44 50M276 92l-62 62M276 92l-34 38"/>
    <path class="clay" d="M80 132c20 76 140 76 160 0l-4 34c-26 78-126 78-152 0z"/>
    <path class="stripe" d="M84 164c26 66 126 66 152 0l-4 16c-28 62-116 62-144 0z"/>
    <path class="fringe" d="M96 196l-6 22M114 212l-4 24M136 222l-2 26M160 226v26M184 222l2 26M206 212l4 24M224 196l6 22"/>
    <path class="forest" d="M262 58c-26-22-52-12-58 6 20 4 42 4 58-6zM282 56c12-26 2-44-16-48-6 18-2 36 16 48z"/>`,
};

/** Returns a product's picture as inline SVG. */
export function artwork(sku: string): string {
  return `<svg viewBox="0 0 320 300" aria-hidden="true" class="artwork">${(ARTWORK[sku] ?? '').replace(/\s+</g, '<')}</svg>`;
}
