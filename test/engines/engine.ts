/**
 * A browser engine. Playwright drives only Chromium as it is installed, and otherwise its own browsers. Debian's
 * Firefox speaks WebDriver BiDi, and its WebKit has a driver for WebDriver; their clients are Puppeteer and Selenium.
 */
export interface Engine {
  /** Opens a window of a new person: no cookies, no storage. */
  visit(url: string): Promise<EngineWindow>;
  /** The version that the engine reports. */
  version(): Promise<string>;
  close(): Promise<void>;
}

/** The appearance that a person has chosen. */
export type Look = 'light' | 'dark' | 'forced colors';

/** A window or a tab, with a person's actions and questions to the page. */
export interface EngineWindow {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Evaluates an expression whose value is JSON. */
  ask<Value>(expression: string): Promise<Value>;
  /** Clicks on the element that an expression finds. */
  click(element: string): Promise<void>;
  /** Types into the element that an expression finds. */
  type(element: string, text: string): Promise<void>;
  /** Returns the window that opens while `act` runs. */
  opened(act: () => Promise<void>): Promise<EngineWindow>;
  isClosed(): Promise<boolean>;
  /** Gives the page this size; in WebKit its window, which in `webView` has no bars. */
  resize(size: { width: number; height: number }): Promise<void>;
  /** Returns a picture of the window, as PNG. */
  screenshot(): Promise<Buffer>;
  /** Ends the visit, and closes all windows. */
  leave(): Promise<void>;
}

export const SIZE = { width: 1280, height: 900 };
/** The visitor's time zone, which differs from the shop's. */
export const TIME_ZONE = 'America/Manaus';
