import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Builder, Capabilities, type WebDriver, type WebElement } from 'selenium-webdriver';
import { vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type Engine, type EngineWindow, type Look, SIZE, TIME_ZONE } from './engine.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const STARTS_MS = 20_000;
const ENDS_MS = 5_000;

/** A program with WebKit that its driver controls. */
export interface WebKitApp {
  binary: string;
  args: string[];
}

/**
 * The app with one web view, whose window has no bars.
 *
 * @param newWindow what becomes of a page's new window
 * @param userAgent the name of the view; without one, the engine's own
 */
export function webView(newWindow: 'none' | 'same-view', userAgent = ''): WebKitApp {
  const { PSA_GTK_PYTHON = '/usr/bin/python3' } = process.env;
  const app = fileURLToPath(new URL('web-view.py', import.meta.url));
  return { binary: PSA_GTK_PYTHON, args: [app, newWindow, userAgent] };
}

/**
 * Starts WebKit: a screen in memory, on which each visit has its own browser, or app with a web view, and its own
 * driver.
 */
export async function startWebKit(app?: WebKitApp, look: Look = 'light'): Promise<Engine> {
  const { PSA_XVFB = 'Xvfb', PSA_WEBKIT_DRIVER = 'WebKitWebDriver', PSA_MINI_BROWSER } = process.env;
  const programs = new Set<ChildProcess>();
  // The processes must not outlive a test run that is killed.
  const kill = () => {
    for (const program of programs) program.kill();
  };
  process.once('exit', kill);
  const end = async (program: ChildProcess, signal: NodeJS.Signals = 'SIGTERM') => {
    program.kill(signal);
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
    programs.delete(program);
  };
  const screen = spawn(PSA_XVFB, ['-displayfd', '3', '-screen', '0', '1600x2000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  programs.add(screen);
  const [display] = (await once(screen.stdio[3] as Readable, 'data')) as [Buffer];
  const env = {
    ...process.env,
    DISPLAY: `:${String(display).trim()}`,
    TZ: TIME_ZONE,
    LANG: 'C.UTF-8',
    // Pages get the scheme of the desktop's theme.
    ...(look === 'dark' && { GTK_THEME: 'Adwaita:dark' }),
  };
  const capabilities = new Capabilities({
    browserName: 'MiniBrowser',
    'webkitgtk:browserOptions': app ?? { binary: PSA_MINI_BROWSER, args: ['--automation'] },
  });
  /** Starts a driver and its browser. A driver that hangs, which happens while another browser ends, is replaced. */
  async function begin(tries = 3): Promise<{ driver: WebDriver; program: ChildProcess }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const program = spawn(PSA_WEBKIT_DRIVER, [`--port=${port}`], { stdio: 'ignore', env });
    programs.add(program);
    await vi.waitFor(() => fetch(`${url}/status`), PATIENCE);
    const starting = Promise.resolve(new Builder().usingServer(url).withCapabilities(capabilities).build());
    starting.catch(() => undefined);
    const driver = await Promise.race([starting, setTimeout(STARTS_MS, null, { ref: false })]);
    if (driver) return { driver, program };
    await end(program, 'SIGKILL');
    if (tries > 1) return begin(tries - 1);
    throw new Error('WebKitWebDriver has started no browser in three tries');
  }
  async function leave(driver: WebDriver, program: ChildProcess): Promise<void> {
    // A driver may not answer once its browser is gone.
    await Promise.race([driver.quit().catch(() => undefined), setTimeout(ENDS_MS, null, { ref: false })]);
    await end(program, 'SIGKILL');
  }
  return {
    async visit(address) {
      const { driver, program } = await begin();
      await driver.manage().window().setRect(SIZE);
      const window = windowOf(driver, await driver.getWindowHandle(), () => leave(driver, program));
      await window.goto(address);
      return window;
    },
    async version() {
      const { driver, program } = await begin();
      const version = (await driver.getCapabilities()).getBrowserVersion();
      await leave(driver, program);
      return version ?? '';
    },
    async close() {
      await Promise.all([...programs].map((program) => end(program)));
      process.off('exit', kill);
    },
  };
}

function windowOf(driver: WebDriver, handle: string, leave: () => Promise<void>): EngineWindow {
  const here = () => driver.switchTo().window(handle);
  const find = async (element: string) => {
    await here();
    const found = await driver.executeScript<WebElement | null>(`return ${element}`);
    if (!found) throw new Error(`There is no ${element} on ${await driver.getCurrentUrl()}`);
    return found;
  };
  return {
    async goto(url) {
      await here();
      await driver.get(url);
    },
    async reload() {
      await here();
      await driver.navigate().refresh();
    },
    async ask<Value>(expression: string) {
      await here();
      return driver.executeScript<Value>(`return ${expression}`);
    },
    click: async (element) => (await find(element)).click(),
    async type(element, text) {
      // Keys go to the window with the focus. Without a window manager no window may have it.
      const field = await find(element);
      await driver.executeScript(
        `const [field, text] = arguments;
        field.focus();
        field.value = text;
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));`,
        field,
        text,
      );
    },
    async opened(act) {
      const before = await driver.getAllWindowHandles();
      await act();
      return vi.waitFor(async () => {
        const [opened] = (await driver.getAllWindowHandles()).filter((each) => !before.includes(each));
        if (!opened) throw new Error('no window has opened');
        return windowOf(driver, opened, leave);
      }, PATIENCE);
    },
    isClosed: async () => !(await driver.getAllWindowHandles()).includes(handle),
    async resize(size) {
      await here();
      await driver.manage().window().setRect(size);
    },
    async screenshot() {
      await here();
      return Buffer.from(await driver.takeScreenshot(), 'base64');
    },
    leave,
  };
}
