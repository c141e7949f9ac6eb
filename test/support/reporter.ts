import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { SerializedError } from 'vitest';
import { DefaultReporter, type TestCase, type TestModule, type TestRunEndReason } from 'vitest/node';
import { citedFiles } from '../clients/table.mjs';
import type { FileMeta } from './cpu.ts';
import { projectOfFile } from './test-files.mjs';

/** The result of a run, which the runner reads from the file that `PSA_TEST_REPORT` names. */
export interface Report {
  passed: number;
  failed: number;
  skipped: number;
  /** The failed tests, and files that did not load, each in a few lines. */
  failures: string[];
  projects: Record<string, ProjectReport>;
  /** CPU time of the runner itself in milliseconds: it transforms the sources, and serves them to browsers. */
  runnerCpuMs: number;
  /** The files, in the order in which they ended. */
  files: FileReport[];
  /** The results of the tests with stock clients, for the table of clients. */
  clients: ClientsReport;
}

export interface ClientsReport {
  /** Whether each test has passed, by the file that the table of clients cites and the full name of the test. */
  tests: Record<string, Record<string, boolean>>;
  /** The versions that browsers report. */
  versions: Record<string, string>;
}

interface FileReport {
  path: string;
  project: string;
  tests: number;
  wallMs: number;
  /** The part of these milliseconds that imports took. */
  importMs: number;
  cpuMs: number;
  worker: number;
  /** The slowest tests, milliseconds by name. */
  slowest: Record<string, number>;
}

export interface ProjectReport {
  files: number;
  tests: number;
  /** The time from the first file's start to the last one's end. */
  wallMs: number;
  /** CPU time of the tests' processes; 0 in a browser, which is no child of this process. */
  cpuMs: number;
}

/** Prints one line for each file, with the total of all files so far. A failed file is shown as Vitest shows it. */
export default class SumsReporter extends DefaultReporter {
  readonly #report: Report = {
    passed: 0,
    failed: 0,
    skipped: 0,
    failures: [],
    projects: {},
    runnerCpuMs: 0,
    files: [],
    clients: { tests: {}, versions: {} },
  };
  readonly #spans = new Map<string, { from: number; to: number }>();

  override printTestModule(module: TestModule): void {
    const tests = [...module.children.allTests()];
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    this.#report.passed += count('passed');
    this.#report.failed += count('failed');
    this.#report.skipped += count('skipped');
    this.#count(module, tests);
    this.#keepClients(module, tests);
    if (module.state() === 'failed') {
      const failures = failuresOf(module, tests);
      this.#report.failures.push(...failures);
      super.printTestModule(module);
      for (const failure of failures) this.log(failure);
    } else {
      const seconds = (module.diagnostic().duration / 1000).toFixed(1);
      this.log(
        `✓ ${projectOf(module).padEnd(9)} ${module.relativeModuleId} ${tests.length} in ${seconds} s · ${this.#sum()}`,
      );
    }
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules as TestModule[], errors as SerializedError[], reason);
    const report = this.#report;
    // An error outside of a test fails the run and no test.
    for (const error of errors) report.failures.push(formatFailure('outside of a test', messageOf(error)));
    if (errors.length > 0 || (reason === 'failed' && report.failed === 0)) report.failed += 1;
    for (const [name, { from, to }] of this.#spans) report.projects[name]!.wallMs = to - from;
    const { user, system } = process.cpuUsage();
    report.runnerCpuMs = (user + system) / 1000;
    const file = process.env.PSA_TEST_REPORT;
    if (file) writeFileSync(file, JSON.stringify(report));
  }

  #count(module: TestModule, tests: readonly TestCase[]): void {
    const name = projectOf(module);
    const project = this.#report.projects[name] ?? { files: 0, tests: 0, wallMs: 0, cpuMs: 0 };
    this.#report.projects[name] = project;
    project.files += 1;
    project.tests += tests.length;
    const { cpuMs = 0, worker = 0 } = module.meta() as FileMeta;
    project.cpuMs += cpuMs;
    const now = performance.now();
    const { duration, collectDuration } = module.diagnostic();
    const wallMs = duration + collectDuration;
    this.#report.files.push({
      path: module.relativeModuleId,
      project: name,
      tests: tests.length,
      wallMs,
      importMs: collectDuration,
      cpuMs,
      worker,
      slowest: slowestOf(tests),
    });
    const span = this.#spans.get(name) ?? { from: Number.POSITIVE_INFINITY, to: 0 };
    this.#spans.set(name, { from: Math.min(span.from, now - wallMs), to: now });
  }

  #keepClients(module: TestModule, tests: readonly TestCase[]): void {
    const { clients } = this.#report;
    Object.assign(clients.versions, (module.meta() as FileMeta).versions);
    if (!CITED.includes(module.relativeModuleId)) return;
    const states = tests.map((test) => [test.fullName, test.result().state] as const);
    const ended = states.filter(([, state]) => state === 'passed' || state === 'failed');
    clients.tests[module.relativeModuleId] = {
      ...clients.tests[module.relativeModuleId],
      ...Object.fromEntries(ended.map(([name, state]) => [name, state === 'passed'])),
    };
  }

  #sum(): string {
    const { passed, failed } = this.#report;
    return failed > 0 ? `${passed} passed, ${failed} failed` : `${passed} passed`;
  }
}

const CITED = citedFiles();

/** Returns the project of a file. Vitest runs several of our projects as one of its own; `facade` runs files again. */
function projectOf({ project, relativeModuleId }: TestModule): string {
  return project.name === 'facade' ? project.name : projectOfFile(relativeModuleId);
}

function slowestOf(tests: readonly TestCase[]): Record<string, number> {
  const timed = tests.map((test) => [test.fullName, Math.round(test.diagnostic()?.duration ?? 0)] as const);
  return Object.fromEntries(timed.sort(([, left], [, right]) => right - left).slice(0, SLOWEST));
}

const SLOWEST = 5;

/** The lines of a message that explain a failure; the rest is the stack of the runner. */
const FAILURE_LINES = 12;

function failuresOf(module: TestModule, tests: readonly TestCase[]): string[] {
  const file = module.relativeModuleId;
  const failed = tests.filter((test) => test.result().state === 'failed');
  if (failed.length === 0) return [formatFailure(file, module.errors().map(messageOf).join('\n'))];
  return failed.map((test) =>
    formatFailure(`${file} > ${test.fullName}`, (test.result().errors ?? []).map(messageOf).join('\n')),
  );
}

/** Returns the message of a thrown value, which may be anything. */
function messageOf(thrown: Partial<SerializedError>): string {
  return thrown.message ?? JSON.stringify(thrown) ?? String(thrown);
}

function formatFailure(title: string, message: string): string {
  const lines = stripVTControlCharacters(message).split('\n').slice(0, FAILURE_LINES);
  return [`✗ ${title}`, ...lines.map((line) => `  ${line}`)].join('\n');
}
