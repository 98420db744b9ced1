// The kernels compiled with the machine's own compiler, kept under a key of everything that decides the result: a home that several
// machines share holds one build for each of them.
import { execFile } from 'node:child_process'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EvsysError, messageOf, sha256 } from '../../../kernel/index.ts'
import { cpuLevel } from './cpu-features.ts'
import { nativeFolder, sourceHash } from './native-folder.ts'

const execute = promisify(execFile)

/** A compiled addon. */
export type NativeBuild = {
  readonly file: string
  readonly sourceHash: string
  readonly cpuFeatures: readonly string[]
}

export type NativeBuildOptions = {
  cacheFolder: string
  /** Told before a build starts, which takes some seconds. */
  onBuild?: (text: string) => void
}

// Never -ffast-math: it folds the range reduction of exp away.
const flags = [
  ...['-std=gnu11', '-O3', '-ffp-contract=fast', '-fno-math-errno', '-fno-trapping-math'],
  ...['-fPIC', '-shared', '-fvisibility=hidden', '-pthread'],
  // Stays loaded on Linux: its handler of faults must not vanish with the thread that opened it.
  ...(process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : ['-Wl,-z,nodelete']),
]

/** Finds a compiler; undefined where there is none. */
export async function findCompiler(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  for (const name of env.CC ? [env.CC] : ['cc', 'gcc', 'clang']) {
    if ((await describeCompiler(name)) !== undefined) return name
  }
  return undefined
}

/** The addon for this machine, built when it is not in the cache. */
export async function buildNative(compiler: string, options: NativeBuildOptions): Promise<NativeBuild> {
  const { cacheFolder, onBuild } = options
  const hash = sourceHash()
  const level = cpuLevel()
  const allFlags = [...flags, ...level.flags]
  const key = sha256([hash, await describeCompiler(compiler), process.platform, process.arch, ...allFlags].join('\n'))
  const folder = join(cacheFolder, 'native', key.slice(0, 24))
  const build = { file: join(folder, 'kernels.node'), sourceHash: hash, cpuFeatures: [level.name] }
  if (await exists(build.file)) return build
  onBuild?.(`compiling the engine's kernels with ${compiler} for ${level.name}, once for this machine`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `${process.pid}-${Date.now().toString(36)}.node`)
  try {
    await execute(compiler, [...allFlags, join(nativeFolder, 'addon.c'), '-o', draft])
    await rename(draft, build.file) // whoever looks finds nothing or all of it
  } catch (cause) {
    await rm(draft, { force: true })
    throw new EvsysError('BACKEND_FAILED', `the engine's kernels cannot be compiled: ${messageOf(cause)}`, {
      cause,
      fix: 'set EVSYS_ENGINE=wasm to use the kernels that need no compiler, or CC to another compiler.',
    })
  }
  return build
}

async function describeCompiler(name: string): Promise<string | undefined> {
  try {
    const [version, machine] = await Promise.all([execute(name, ['--version']), execute(name, ['-dumpmachine'])])
    return `${version.stdout}\n${machine.stdout}`
  } catch {
    return undefined
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
