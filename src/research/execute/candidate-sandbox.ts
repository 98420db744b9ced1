// How candidates are held: the sandbox of one phase of one run with what the candidate sees in it and its command, what the caller of an
// executor may set, and the limits where it does not.
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import type { ExecSpec, Level, Mount, TaskProgram } from '../../contracts/index.ts'
import type { LocalSandbox } from '../../sandbox/index.ts'
import type { RunFolder } from './run-folder.ts'

export interface PhaseOptions {
  readonly program: TaskProgram
  readonly folder: RunFolder
  readonly phase: 'train' | 'answer'
  readonly seed: number
  readonly trainSeconds: number
  readonly dry: boolean
  readonly limits: ExecutorLimits
  readonly level?: Level | undefined
  /** Called with the most memory that the processes of the phase held together, where the machine reports it. */
  onPeak?: ((bytes: number) => void) | undefined
}

export interface CandidateSandbox extends AsyncDisposable {
  readonly sandbox: LocalSandbox
  readonly level: Level
  /** Who keeps the limit of memory. */
  readonly memoryBy: string
  /** Known to this phase of this run alone: reports carry it. */
  readonly nonce: string
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
  const { devices = [] } = program.accelerator ?? {}
  const hidden = [program.sealedData, dirname(program.scorer)]
  const sandbox = await openSandbox({ stateDir: folder.state(phase), mounts, devices, hidden, level: options.level })
  // The level `process` shows no mounts: there a candidate gets the real paths.
  const placed = (target: string) =>
    sandbox.level === 'process' ? (mounts.find((each) => each.target === target)?.source ?? target) : target
  const nonce = randomBytes(16).toString('hex')
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
    EVSYS_NONCE: nonce,
    ...(options.dry ? { EVSYS_DRY: '1' } : {}),
    // Lines arrive when they are written, and nothing is written beside the code.
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONHASHSEED: '0',
  }
  const { memoryBytes, processes, diskBytes, outputBytes } = limits
  const command = { argv: ['/bin/sh', '-c', program.command], cwd: placed(work), env }
  return {
    sandbox,
    level: sandbox.level,
    memoryBy: sandbox.limits.memory,
    nonce,
    spec: (timeoutMs) => ({ ...command, limits: { timeoutMs, memoryBytes, processes, diskBytes, outputBytes } }),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  }
}

// A program that is shown where it lies on this machine may lie below one of these.
function freePlace(usual: string, others: readonly Mount[]): string {
  return others.some(({ target }) => target === usual || target.startsWith(`${usual}/`)) ? `/evsys${usual}` : usual
}

/** What the caller of an executor may set. */
export interface ExecutorOptions {
  /** Folder for the files of running candidates; absent: one below the temporary folder of the system. */
  readonly workDir?: string | undefined
  /** Absent: the strongest level that works here. `process` holds nothing: for candidates that are trusted. */
  readonly level?: Level | undefined
  readonly limits?: Partial<ExecutorLimits> | undefined
  /** Called with what the sandbox of this machine does not hold. */
  onNotice?: ((text: string) => void) | undefined
  /** Called with what a dry run took. */
  onDryRun?: ((estimate: DryRunEstimate) => void) | undefined
}

/** What one candidate may take. */
export interface ExecutorLimits {
  /**
   * Beside the training time: start of the interpreter, reading of data, saving. Past it a run has failed by `timeout`. Absent: what
   * the baseline was measured to need, several times, and at most what the task allows.
   */
  readonly graceSeconds: number
  /** All answers of one run together. */
  readonly answerSeconds: number
  /** The scorer's own time, candidates apart. */
  readonly scorerSeconds: number
  readonly dryRunSeconds: number
  readonly memoryBytes: number
  readonly processes: number
  /** All that a candidate leaves in EVSYS_OUT and elsewhere. */
  readonly diskBytes: number
  /** What it may print. */
  readonly outputBytes: number
  /** One answer. */
  readonly answerBytes: number
}

export interface DryRunEstimate {
  readonly wallS: number
  /** Most memory that its processes held together; absent where the machine does not report it. */
  readonly peakMemoryBytes?: number | undefined
  /** The same of each phase; answering is absent where the scorer asks nothing, or training was still busy. */
  readonly trainingBytes?: number | undefined
  readonly answeringBytes?: number | undefined
  readonly memoryLimitBytes: number
}

const MB = 2 ** 20

/** Limits of the task, with what the caller set in their place. */
export function limitsFor(program: TaskProgram, given: Partial<ExecutorLimits> = {}): ExecutorLimits {
  return {
    graceSeconds: program.startSeconds,
    answerSeconds: program.answerSeconds,
    scorerSeconds: program.scorerSeconds,
    dryRunSeconds: 2,
    memoryBytes: program.memoryBytes,
    processes: program.processes,
    diskBytes: program.diskBytes,
    outputBytes: 32 * MB,
    answerBytes: 32 * MB,
    ...given,
  }
}
