import { NativeConnection, Worker } from '@temporalio/worker';
import type { BareReady } from '../bench/bare-floor';
import { BARE_TASK_QUEUE, serveBareFloor, type TemporalPlace } from '../bench/floor-route';

/**
 * One of the bare floor's processes: `bench-floor worker|api <address of Temporal> <namespace>`. It uses the SDK with
 * the options that it comes with: no encryption, no interceptors, no bundle made ahead, no modules loaded ahead. It
 * ends with the process that started it.
 */
async function main([role, address = '', namespace = '']: readonly string[]): Promise<void> {
  process.once('disconnect', () => process.exit());
  const temporal = { address, namespace };
  const ready: BareReady = role === 'worker' ? await startWorker(temporal) : { url: await serveBareFloor(temporal) };
  process.send?.(ready);
}

async function startWorker({ address, namespace }: TemporalPlace): Promise<BareReady> {
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    namespace,
    taskQueue: BARE_TASK_QUEUE,
    workflowsPath: require.resolve('../bench/floor'),
  });
  worker.run().catch(fail);
  return { url: null };
}

function fail(error: unknown): never {
  process.stderr.write(`bench-floor: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}

main(process.argv.slice(2)).catch(fail);
