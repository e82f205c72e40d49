import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../files';
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

/** Without arguments it explains itself: the only question it answers without becoming a server. */
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
  // `exec`: the SDK ends the process it has started, which must then be the server and not a shell.
  const flags = '-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx256m';
  const script = `#!/bin/sh\nexec java ${flags} -cp "$(dirname "$0")/${NAME}-jars/*" io.temporal.testserver.TestServer "$@"\n`;
  writeFileSync(draft, script, { mode: 0o755 });
}
