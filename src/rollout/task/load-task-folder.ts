// Reads a task folder in Harbor's layout: task.toml, texts, where its files are. All problems are reported at once.
import { readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { EvsysError, fileError, type Problem } from '../../kernel/index.ts'
import type { LoadedStep, LoadedTask, LoadTaskOptions, TaskPart, Verification } from './loaded-task.ts'
import { networkPolicy } from './network-policy.ts'
import { readTaskConfig } from './read-task-config.ts'
import type { AgentConfig, EnvironmentConfig, StepConfig, TaskConfig, VerifierConfig } from './task-config.ts'
import { taskDigest } from './task-digest.ts'

/** Longest task.toml or instruction that is read: a larger one is a mistake, and would only fill the memory. */
const longestTextBytes = 4 * 2 ** 20

export async function loadTaskFolder(path: string, options: LoadTaskOptions = {}): Promise<LoadedTask> {
  const folder = resolve(path)
  const file = join(folder, 'task.toml')
  const text = await readText(file)
  if (text === undefined) {
    throw new EvsysError('CONFIG_READ', `${folder} is not a task folder: it has no task.toml`, {
      fix: 'name a folder with task.toml, instruction.md, environment/ and tests/; docs/concepts/task-folders.md shows one.',
    })
  }
  const { config, notices } = readTaskConfig(text, file)
  const problems: Problem[] = []
  const missing = (what: string, fix: string) =>
    problems.push({ code: 'CONFIG_READ', message: `the task ${folder} has no ${what}`, fix })
  if ((await folderAt(join(folder, 'environment'))) === undefined) {
    missing('folder environment/', 'make it; it may hold no more than a .gitkeep.')
  }
  const whole = await readPart({ folder, config })
  const steps = await Promise.all(config.steps.map((step) => readStep({ folder, config, step })))
  for (const part of steps.length === 0 ? [whole] : steps) {
    const prefix = 'name' in part ? `steps/${String(part.name)}/` : ''
    if (part.instruction === undefined) missing(`${prefix}instruction.md`, 'write what the agent shall do there.')
    const verifies = options.withoutVerification !== true && part.verification.mode === 'shared'
    const script = scriptName('test', config)
    if (verifies && part.testScript === undefined && whole.testScript === undefined) {
      missing(`${prefix}tests/${script}`, 'write a script that puts a number into /logs/verifier/reward.txt.')
    }
  }
  if (problems.length > 0) throw EvsysError.many(problems)

  return {
    ...whole,
    instruction: whole.instruction ?? '',
    path: folder,
    name: config.task?.name ?? basename(folder),
    digest: await taskDigest(folder),
    config,
    environmentDir: join(folder, 'environment'),
    network: networkPolicy(config.environment),
    steps: steps.map((step) => ({ ...step, instruction: step.instruction ?? '' })),
    notices,
  }
}

type PartSource = { folder: string; config: TaskConfig; step?: StepConfig | undefined }
type Unfinished<P extends TaskPart> = Omit<P, 'instruction'> & { instruction: string | undefined }

async function readPart({ folder, config, step }: PartSource): Promise<Unfinished<TaskPart>> {
  const root = step === undefined ? folder : join(folder, 'steps', step.name)
  const written = step === undefined && config.steps.length > 0 ? '' : await readText(join(root, 'instruction.md'))
  const [testsDir, solutionDir] = await Promise.all(['tests', 'solution'].map((name) => folderAt(join(root, name))))
  const testScript = await fileAt(join(root, 'tests', scriptName('test', config)))
  const solveScript = await fileAt(join(root, 'solution', scriptName('solve', config)))
  const trajectoryPath = await fileAt(join(root, 'trajectory.json'))
  const agent = effectiveAgent(config, step)
  return {
    instruction: written === undefined ? undefined : stripCanary(written),
    agent,
    agentNetwork: networkPolicy(agent, networkPolicy(config.environment)),
    verification: effectiveVerification(config, step),
    artifacts: [...config.artifacts, ...(step?.artifacts ?? [])],
    testsDir,
    testScript,
    solutionDir,
    solveScript,
    trajectoryPath,
  }
}

async function readStep(source: PartSource & { step: StepConfig }): Promise<Unfinished<LoadedStep>> {
  const { folder, step } = source
  const path = join(folder, 'steps', step.name)
  const workdirDir = await folderAt(join(path, 'workdir'))
  const setupScript = await fileAt(join(path, 'workdir', 'setup.sh'))
  return {
    ...(await readPart(source)),
    name: step.name,
    path,
    workdirDir,
    setupScript,
    minReward: step.min_reward,
    healthcheck: step.healthcheck,
  }
}

function scriptName(name: 'test' | 'solve', config: TaskConfig): string {
  return `${name}.${config.environment.os === 'windows' ? 'bat' : 'sh'}`
}

async function readText(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return undefined
  if (found.size > longestTextBytes) {
    throw new EvsysError('CONFIG_READ', `${path} has ${found.size} bytes: too many for a text of a task`, {
      fix: `keep it below ${longestTextBytes} bytes; put data into environment/.`,
    })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw fileError('read', path, cause)
    const fix = 'save it as UTF-8.'
    throw new EvsysError('CONFIG_READ', `${path} is not UTF-8 text`, { cause, fix })
  }
}

async function fileAt(path: string): Promise<string | undefined> {
  return (await stat(path).catch(() => undefined))?.isFile() ? path : undefined
}

async function folderAt(path: string): Promise<string | undefined> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ? path : undefined
}

// What holds in a phase: a step's own fields win over the task's, then come the defaults.
const defaultVerifierSec = 600

/** What the agent's phase of the task, or of one of its steps, may take. */
function effectiveAgent(config: TaskConfig, step?: StepConfig): AgentConfig {
  if (step === undefined) return config.agent
  // Hosts belong to the mode beside them.
  const allowed_hosts = step.agent.network_mode === undefined ? config.agent.allowed_hosts : undefined
  return { ...config.agent, allowed_hosts, ...step.agent }
}

function effectiveVerification(config: TaskConfig, step?: StepConfig): Verification {
  const own = step?.verifier
  const environment = separateEnvironment(config, own)
  const user = own?.user ?? config.verifier.user
  const baseline = networkPolicy(environment ?? config.environment)
  const phase = own?.network_mode === undefined ? config.verifier : own
  return {
    mode: environment === undefined ? 'shared' : 'separate',
    environment,
    timeoutSec: own?.timeout_sec ?? config.verifier.timeout_sec ?? defaultVerifierSec,
    env: { ...config.verifier.env, ...own?.env },
    user,
    network: networkPolicy(phase, baseline),
    collect: own !== undefined && own.collect.length > 0 ? own.collect : config.verifier.collect,
  }
}

// Shared: undefined. Separate: its own definition, else that of the agent's environment.
function separateEnvironment(config: TaskConfig, own: VerifierConfig | undefined): EnvironmentConfig | undefined {
  for (const level of [own, config.verifier]) {
    if (level?.environment !== undefined) return level.environment
    if (level?.environment_mode === 'shared') return undefined
    if (level?.environment_mode === 'separate') return config.verifier.environment ?? config.environment
  }
  return undefined
}

// Benchmarks mark their files by canary comments, so that they can be found in training data. They are not for the agent.
const canary = /^(<!--.*canary.*-->|#.*canary.*)$/i

/** A text without its leading canary lines and the blank lines right after them. */
function stripCanary(text: string): string {
  const lines = text.split('\n')
  let start = 0
  while (start < lines.length && canary.test((lines[start] ?? '').trim())) start++
  while (start < lines.length && (lines[start] ?? '').trim() === '') start++
  return lines.slice(start).join('\n')
}
