import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { repositoryRoot } from '../../src/stack/files';

/** A real Chromium for the page tests: CHROMIUM_PATH, else the one of the npm package. */

const REMEDY = 'install Chrome or Chromium and set CHROMIUM_PATH to its program (Debian: apt-get install chromium)';

export const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Pages of one visitor share a process: to start another costs more than to show a page. */
const ARGS = ['--renderer-process-limit=1'];

export interface Visitor {
  page: Page;
  /** What the browser complained of: errors of scripts, and everything the Content-Security-Policy refused. */
  complaints: string[];
}

/** Starts the browser; close it after the tests of the file. Fails with one line that says what is missing. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await unpacked());
  try {
    // Its sandbox cannot work as root, nor in most containers; the pages are our own.
    return await chromium.launch({ executablePath, chromiumSandbox: false, args: ARGS });
  } catch (error) {
    const why = /error while loading shared libraries: (\S+):/.exec(String(error))?.[1] ?? firstLine(error);
    throw new Error(
      `The page tests need a browser, and ${executablePath} does not start (${why}): install libnss3 and libnspr4, or ${REMEDY}.`,
      {
        cause: error,
      },
    );
  }
}

/** A customer with a browser of their own: no cookies of anybody else. */
export async function aVisitor(
  browser: Browser,
  options: BrowserContextOptions & { size?: keyof typeof SIZES } = {},
): Promise<Visitor> {
  const { size = 'desktop', ...context } = options;
  const page = await (await browser.newContext({ viewport: SIZES[size], locale: 'en-GB', ...context })).newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A page that answers 4xx is told as an error too; that is no complaint.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  return { page, complaints };
}

/**
 * The package's browser, unpacked once per machine and user. By another process, as the package unpacks to wherever
 * TMPDIR says, and moved into place whole: two test files may want it at the same time.
 */
async function unpacked(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`The page tests need a browser, and this platform has none: ${REMEDY}.`);
  }
  const { devDependencies } = JSON.parse(readFileSync(path.join(repositoryRoot(), 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const folder = path.join(tmpdir(), `payments-chromium-${devDependencies['@sparticuz/chromium']}-${userInfo().uid}`);
  const program = path.join(folder, 'chromium');
  if (existsSync(program)) return program;
  const making = mkdtempSync(`${folder}-`);
  try {
    const unpack = "require('@sparticuz/chromium').executablePath()";
    await promisify(execFile)(process.execPath, ['-e', unpack], {
      cwd: repositoryRoot(),
      env: { ...process.env, TMPDIR: making },
    });
    renameSync(making, folder);
  } catch (error) {
    // Another test file was first.
    if (!existsSync(program)) {
      throw new Error(
        `The page tests need a browser, and that of @sparticuz/chromium does not unpack (${firstLine(error)}): ${REMEDY}.`,
        { cause: error },
      );
    }
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return program;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
