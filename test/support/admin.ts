import { createAdminProgram } from '../../src/admin/program';
import { parseConfig } from '../../src/config';
import { readVariables } from '../../src/stack/launch';
import { stack } from './stack';

/**
 * What a command of `npm run admin` prints, and whether it failed; on the stack of the run unless `data_dir` is that of
 * another. `env`: variables other than those of the stack.
 */
export async function runAdmin(
  args: string[],
  { env = {}, data_dir = stack().data_dir }: { env?: Record<string, string> | undefined; data_dir?: string } = {},
): Promise<{ text: string; failed: boolean }> {
  let [text, failed] = ['', false];
  const program = createAdminProgram({
    config: () => parseConfig({ ...readVariables(data_dir), ...env }),
    print: (printed) => void (text += printed),
    fail: () => void (failed = true),
  });
  await program.parseAsync(args, { from: 'user' });
  return { text, failed };
}

/** The answer of a command, a refusal included, as `--json` prints it. */
export async function answerOfAdmin<T = Record<string, string>>(
  args: string[],
  where: Parameters<typeof runAdmin>[1] = {},
): Promise<T> {
  return JSON.parse((await runAdmin(['--json', ...args], where)).text) as T;
}
