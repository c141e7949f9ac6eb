/**
 * A browser engine. Playwright drives browsers of its own alone, apart from Chromium: Debian's Firefox speaks WebDriver BiDi,
 * and its WebKit has a driver for WebDriver. Their clients are Puppeteer and Selenium.
 */
export interface Engine {
  /** Opens a window of a new person: no cookies, no storage. */
  visit(url: string): Promise<EngineWindow>;
  /** The engine's version, as it says itself. */
  version(): Promise<string>;
  close(): Promise<void>;
}

/** A window or a tab, with what a person does in it and what the page is asked. */
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
  /** Returns a picture of the window, as PNG. */
  screenshot(): Promise<Buffer>;
  /** Ends the person's visit, with all windows. */
  leave(): Promise<void>;
}

export const SIZE = { width: 1280, height: 900 };
/** The visitor's zone, which is not the one of the shop. */
export const TIME_ZONE = 'America/Manaus';
