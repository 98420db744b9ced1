// What a Dockerfile asks for, as steps over the programs of this machine; what cannot be done over them is a reason for an image.
import { closeSync, constants, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { join, posix } from 'node:path'
import {
  composeFile,
  contextFiles,
  type DockerInstruction,
  envPairs,
  longestDockerfile,
  parseDockerfile,
} from './dockerfile.ts'
import type { EnvironmentDefinition } from './environment-definition.ts'
import { type HasCommand, planRun } from './run-subset.ts'

/** One thing that is done before the agent starts. Paths of `target` and `cwd` are those inside. */
export type BuildStep =
  | { readonly kind: 'folder'; readonly target: string }
  | {
      readonly kind: 'copy'
      readonly line: number
      readonly sources: readonly string[]
      readonly target: string
      readonly intoFolder: boolean
      readonly mode?: number | undefined
    }
  | {
      readonly kind: 'run'
      readonly line: number
      readonly argv: readonly string[]
      readonly cwd: string
      readonly env: Readonly<Record<string, string>>
    }

interface DockerfilePlan {
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
  readonly steps: readonly BuildStep[]
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
}

/** Plans the image of a definition: its Dockerfile, or the image that it names. */
export function planDockerfile(definition: EnvironmentDefinition, hasCommand: HasCommand): DockerfilePlan {
  const planner = new Planner(definition, hasCommand)
  planner.plan()
  return planner
}

/** Whether an account is the one that commands of the local sandbox run as. */
export function isRoot(user: string | number): boolean {
  return ['root', '0', 'root:root', '0:0'].includes(String(user))
}

/** Images whose programs are those of a common system, and what else they promise. */
const bases: Record<string, readonly string[]> = {
  ubuntu: [],
  debian: [],
  alpine: [],
  busybox: [],
  bash: ['bash'],
  'buildpack-deps': ['gcc', 'make'],
  python: ['python3'],
  node: ['node'],
}

// Folders that show the machine's own, read-only: nothing of the image can be put there.
const readOnly = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/proc', '/sys', '/dev']

/** Says nothing of how a task behaves: every engine puts its own command and healthcheck in their place. */
const without = new Set(['LABEL', 'EXPOSE', 'CMD', 'STOPSIGNAL', 'MAINTAINER', 'HEALTHCHECK'])

class Planner implements DockerfilePlan {
  readonly reasons: string[] = []
  readonly warnings: string[] = []
  readonly steps: BuildStep[] = []
  env: Record<string, string> = {}
  workdir = '/'
  readonly #definition: EnvironmentDefinition
  readonly #hasCommand: HasCommand
  #arguments: Record<string, string> = {}

  constructor(definition: EnvironmentDefinition, hasCommand: HasCommand) {
    this.#definition = definition
    this.#hasCommand = hasCommand
  }

  plan(): void {
    const { config, contextDir, role } = this.#definition
    const file = join(contextDir, 'Dockerfile')
    if (config.docker_image !== undefined) this.#base(config.docker_image)
    else if (existsSync(file)) this.#stages(file)
    else if (role === 'verifier') this.reasons.push('its separate verifier has no Dockerfile in tests/')
    else if (readdirSync(contextDir).some((name) => !name.startsWith('.')) && composeFile(contextDir) === undefined) {
      this.warnings.push('environment/ has files but no Dockerfile that copies them')
    }
  }

  #stages(file: string): void {
    // One byte more than is read says that there are too many, whatever it is a file of.
    const stages = parseDockerfile(startOf(file, longestDockerfile + 1), file)
    const last = stages.at(-1)
    if (last === undefined) return
    const isBuilt = stages.slice(0, -1).some(({ name }) => name !== undefined && name === last.base)
    if (isBuilt) this.reasons.push(`its image is built in stages (FROM ${last.base})`)
    else this.#base(last.base)
    if (existsSync(join(this.#definition.contextDir, '.dockerignore')))
      this.warnings.push('.dockerignore is not applied')
    for (const instruction of last.instructions) {
      const unfit = this.#unfit(instruction)
      const line = `(line ${instruction.line})`
      if (unfit !== undefined)
        this.reasons.push(`its Dockerfile has ${unfit.replace(/\s+/g, ' ').slice(0, 100)} ${line}`)
    }
  }

  #base(image: string): void {
    const name = image
      .replace(/^(?:docker\.io\/)?(?:library\/)?/, '')
      .replace(/@sha256:.*$/, '')
      .replace(/:[^/:]*$/, '')
    const promised = Object.hasOwn(bases, name) ? bases[name] : undefined
    const missing = promised?.filter((command) => !this.#hasCommand(command))
    if (missing === undefined) this.reasons.push(`it starts from the image ${image}`)
    else if (missing.length > 0) {
      this.reasons.push(`it starts from the image ${image}, and this machine has no ${missing.join(', ')}`)
    } else this.warnings.push(`the programs of this machine stand in for those of ${image}`)
  }

  // Adds what the instruction asks for; else reports what does not fit.
  #unfit(instruction: DockerInstruction): string | undefined {
    const { name, words, text } = instruction
    const whole = `${name} ${text}`
    if (without.has(name)) return undefined
    switch (name) {
      case 'WORKDIR':
        this.workdir = posix.resolve(this.workdir, words[0] ?? '.')
        this.steps.push({ kind: 'folder', target: this.workdir })
        return undefined
      case 'ENV':
        this.env = { ...this.env, ...Object.fromEntries(envPairs(text)) }
        return undefined
      case 'ARG':
        this.#arguments = { ...this.#arguments, ...Object.fromEntries(text.includes('=') ? envPairs(text) : []) }
        return undefined
      case 'VOLUME':
        for (const target of words) this.steps.push({ kind: 'folder', target: posix.resolve('/', target) })
        return undefined
      case 'USER':
        return isRoot(words[0] ?? '') ? undefined : whole
      case 'ENTRYPOINT':
        return words.length === 0 ? undefined : whole
      case 'SHELL':
        return /(?:^|\/)(?:ba)?sh$/.test(words[0] ?? '') ? undefined : whole
      case 'COPY':
      case 'ADD':
        return this.#unfitCopy(instruction)
      case 'RUN':
        return this.#unfitRun(instruction)
      default:
        return name
    }
  }

  #unfitCopy({ name, flags, words, line, text }: DockerInstruction): string | undefined {
    const known = /^--(?:chown=(?:root|0)(?::(?:root|0))?$|chmod=[0-7]{3,4}$|link\b)/
    const written = words.slice(0, -1)
    const destination = words.at(-1) ?? ''
    if (!flags.every((flag) => known.test(flag)) || text.startsWith('<<') || written.length === 0) {
      return `${name} ${[...flags, text].join(' ')}`
    }
    const target = posix.resolve(this.workdir, destination)
    if (readOnly.some((folder) => target === folder || target.startsWith(`${folder}/`))) return `${name} to ${target}`
    const sources: string[] = []
    for (const pattern of written) {
      const found = /^[a-z]+:\/\//.test(pattern) ? undefined : contextFiles(this.#definition.contextDir, pattern)
      const isArchive = name === 'ADD' && /\.(?:tar|tgz|tbz2?|txz|tar\.\w+)$/.test(pattern)
      if (found === undefined || isArchive) return `${name} of ${pattern}`
      if (found.length === 0) return `${name} of ${pattern}, which is not there,`
      sources.push(...found)
    }
    const mode = flags.map((flag) => /^--chmod=([0-7]+)$/.exec(flag)?.[1]).find((each) => each !== undefined)
    this.steps.push({
      kind: 'copy',
      line,
      sources,
      target,
      intoFolder: sources.length > 1 || /(?:^|\/)\.{0,2}$/.test(destination),
      mode: mode === undefined ? undefined : Number.parseInt(mode, 8),
    })
    return undefined
  }

  #unfitRun({ line, text, words, isList, flags }: DockerInstruction): string | undefined {
    if (flags.length > 0) return `RUN ${flags.join(' ')}`
    const script = isList ? words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ') : text
    const planned = planRun(script, this.#hasCommand)
    if ('unfit' in planned) return `RUN with ${planned.unfit}`
    for (const command of planned.skipped)
      this.warnings.push(`not run, its commands are here: ${command} (line ${line})`)
    const env = { ...this.#arguments, ...this.env }
    this.steps.push({ kind: 'run', line, argv: ['sh', '-c', planned.script], cwd: this.workdir, env })
    return undefined
  }
}

/** The start of a file that may have any size, or be a pipe that no one writes to. */
function startOf(file: string, mostBytes: number): string {
  const handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const bytes = Buffer.alloc(mostBytes)
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, mostBytes, 0))
  } finally {
    closeSync(handle)
  }
}
