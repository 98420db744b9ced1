// The sandbox of one phase of one run: what the candidate sees, under which names, and its command.
import { dirname } from 'node:path'
import type { ExecSpec, Level, Mount, TaskProgram } from '../../contracts/index.ts'
import type { LocalSandbox } from '../../sandbox/index.ts'
import type { ExecutorLimits } from './executor-options.ts'
import type { RunFolder } from './run-folder.ts'

export interface PhaseOptions {
  readonly program: TaskProgram
  readonly folder: RunFolder
  readonly phase: 'train' | 'answer'
  readonly seed: number
  readonly trainSeconds: number
  readonly dry: boolean
  /** Known to this run alone. */
  readonly nonce: string
  readonly limits: ExecutorLimits
  readonly level?: Level
  /** Told the most memory that the processes of the phase held together, where the machine tells. */
  onPeak?(bytes: number): void
}

export interface CandidateSandbox extends AsyncDisposable {
  readonly sandbox: LocalSandbox
  readonly level: Level
  /** The candidate's command. */
  spec(timeoutMs: number): ExecSpec
}

const bin = '/opt/evsys/bin'
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export async function openCandidateSandbox(options: PhaseOptions): Promise<CandidateSandbox> {
  const { program, folder, phase, limits } = options
  const { openSandbox } = await import('../../sandbox/index.ts')
  const others = [...program.mounts, ...(program.accelerator?.mounts ?? [])]
  const [work, data, out] = [freePlace('/work', others), freePlace('/data', others), freePlace('/out', others)]
  const mounts: Mount[] = [
    { source: folder.code, target: work },
    { source: program.trainData, target: data },
    { source: folder.out, target: out, writable: phase === 'train' },
    // Node itself may lie in a folder that a sandbox does not show.
    { source: process.execPath, target: `${bin}/node` },
    ...others,
  ]
  const sandbox = await openSandbox({
    stateDir: folder.state(phase),
    mounts,
    devices: program.accelerator?.devices ?? [],
    hidden: [program.sealedData, dirname(program.scorer)],
    ...(options.level === undefined ? {} : { level: options.level }),
  })
  // The level `process` shows no mounts: there a candidate is told where things really are.
  const placed = (target: string) =>
    sandbox.level === 'process' ? (mounts.find((each) => each.target === target)?.source ?? target) : target
  const env = {
    ...program.env,
    ...program.accelerator?.env,
    ...(program.accelerator === undefined ? {} : { EVSYS_ACCELERATOR: program.accelerator.name }),
    PATH: `${bin}:${program.env.PATH ?? systemPath}`,
    EVSYS_PHASE: phase,
    EVSYS_SEED: String(options.seed),
    AUTORESEARCH_SEED: String(options.seed),
    EVSYS_TRAIN_SECONDS: String(options.trainSeconds),
    EVSYS_DATA: placed(data),
    EVSYS_OUT: placed(out),
    EVSYS_NONCE: options.nonce,
    ...(options.dry ? { EVSYS_DRY: '1' } : {}),
    // Lines arrive when they are written, and nothing is written beside the code.
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONHASHSEED: '0',
  }
  return {
    sandbox,
    level: sandbox.level,
    spec: (timeoutMs) => ({
      argv: ['/bin/sh', '-c', program.command],
      cwd: placed(work),
      env,
      limits: {
        timeoutMs,
        memoryBytes: limits.memoryBytes,
        processes: limits.processes,
        diskBytes: limits.diskBytes,
        outputBytes: limits.outputBytes,
      },
    }),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]()
    },
  }
}

// A program that is shown where it lies on this machine may lie below one of these.
function freePlace(usual: string, others: readonly Mount[]): string {
  return others.some(({ target }) => target === usual || target.startsWith(`${usual}/`)) ? `/evsys${usual}` : usual
}
