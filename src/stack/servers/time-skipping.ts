import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from '../files';
import { callGrpc } from '../grpc';
import { freePort } from '../ports';
import { onPath, runCommand } from '../tools/command';
import { downloadOfficial } from '../tools/download';
import type { Tool } from '../tools/find-tool';

/** Of the Java SDK, whose releases the server comes with; the same in time-skipping-server/pom.xml. */
const VERSION = '1.38.0';
const NAME = `temporal-test-server-${VERSION}`;

/** Temporal's test server, in which five days pass in milliseconds. Only tests need it. */
export function timeSkippingTool(given: string | undefined): Tool {
  return {
    title: 'Test server',
    file: NAME,
    variable: 'TEMPORAL_TEST_SERVER_PATH',
    given,
    name_on_path: 'temporal-test-server',
    serves,
    isOurs: serves,
    sources: [
      {
        text: 'downloading it',
        make: (draft, signal) =>
          downloadOfficial({ artifact: 'temporal-test-server', version: `v${VERSION}` }, draft, signal),
      },
      { text: 'bringing its jars from Maven (about 10 seconds, once)', make: bringJars },
    ],
    remedy: 'Or put temporal-test-server on PATH, or set TEMPORAL_TEST_SERVER_PATH to it. Only the tests need it.',
  };
}

/** Runs the program without arguments: it prints its usage and exits. With any other arguments it starts a server. */
async function serves(program: string): Promise<boolean> {
  return (await runCommand(program, [], { timeout_ms: 20_000 })).includes('--enable-time-skipping');
}

async function bringJars(draft: string, signal: AbortSignal): Promise<void> {
  for (const [program, remedy] of Object.entries({ java: 'install a JDK, 17 or newer', mvn: 'install Maven' })) {
    if (onPath(program) === undefined) throw new Error(`${program} is not on PATH: ${remedy}`);
  }
  const project = `${draft}-project`;
  const jars = path.join(path.dirname(draft), `${NAME}-jars`);
  try {
    mkdirSync(project, { recursive: true });
    // A copy: Maven may write beside the file it is given.
    cpSync(
      path.join(repositoryRoot(), 'src', 'stack', 'servers', 'time-skipping-server', 'pom.xml'),
      path.join(project, 'pom.xml'),
    );
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    await runCommand(
      'mvn',
      ['-q', '-B', '-f', path.join(project, 'pom.xml'), goal, '-DincludeScope=runtime', '-DoutputDirectory=jars'],
      { signal },
    );
    rmSync(jars, { recursive: true, force: true });
    renameSync(path.join(project, 'jars'), jars);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
  // The archive is read only where the classes come from the same paths.
  await archiveClasses(realpathSync(jars), signal);
  // `exec`: the SDK ends the process it has started, which must then be the server and not a shell.
  const java = `java ${FLAGS.join(' ')} -XX:SharedArchiveFile="$jars/${ARCHIVE}" -cp "$jars/*" ${MAIN_CLASS}`;
  writeFileSync(draft, `#!/bin/sh\njars="$(cd "$(dirname "$0")" && pwd -P)/${NAME}-jars"\nexec ${java} "$@"\n`, {
    mode: 0o755,
  });
}

/** With `-Xshare:auto` a JVM also starts without the archive, or with one of another version. */
const FLAGS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xmx256m'];
const MAIN_CLASS = 'io.temporal.testserver.TestServer';
const ARCHIVE = 'classes.jsa';
const SYSTEM_INFO = 'temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
/** Between two calls of a server that is starting. Milliseconds. */
const RETRY_MS = 100;

/**
 * Has the server start and answer once, and keeps the classes it loaded as the JVM needs them (class data sharing):
 * later starts take a third of the processor's time.
 */
async function archiveClasses(jars: string, signal: AbortSignal): Promise<void> {
  const port = await freePort();
  const args = [
    ...FLAGS,
    `-XX:ArchiveClassesAtExit=${path.join(jars, ARCHIVE)}`,
    '-cp',
    path.join(jars, '*'),
    MAIN_CLASS,
  ];
  const server = spawn('java', [...args, String(port), '--enable-time-skipping'], { stdio: 'ignore', signal });
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    for (const event of ['error', 'close']) server.once(event, () => resolve());
  }).then(() => {
    isRunning = false;
  });
  while (isRunning && (await callGrpc(port!, SYSTEM_INFO)) === undefined) await sleep(RETRY_MS);
  server.kill('SIGTERM');
  await ended;
}
