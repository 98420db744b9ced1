// The kernels compiled with the machine's own compiler, kept under a key of everything that decides the result: a home that several
// machines share holds one build for each of them.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { access, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { EvsysError, messageOf, sha256 } from '../../kernel/index.ts'
import { nativeFolder, sourceHash } from './native-folder.ts'

const execute = promisify(execFile)

/** A compiled addon. */
export type NativeBuild = {
  readonly file: string
  readonly sourceHash: string
  readonly cpuFeatures: readonly string[]
}

/** Where the addon for this machine is, or would be. */
type NativePlace = NativeBuild & {
  readonly isBuilt: boolean
  /** The first line of what the compiler says of itself. */
  readonly compilerVersion: string
}

export type NativeBuildOptions = {
  cacheFolder: string
  /** Called before a build starts, which takes some seconds, and when native kernels cannot be used. */
  onBuild?: ((text: string) => void) | undefined
  /** Compiles also where the cache has a build. */
  force?: boolean | undefined
  env?: NodeJS.ProcessEnv | undefined
  /** What is compiled for; default: this processor. */
  level?: CpuLevel | undefined
}

/** A compiler takes seconds; one that does not end is as good as none. */
const compileMs = 120_000

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
    if ((await describeCompiler(name, env)) !== undefined) return name
  }
  return undefined
}

/** Finds the addon of this machine, and builds nothing. */
export async function locateNative(
  compiler: string,
  { cacheFolder, env = process.env, level = cpuLevel() }: Pick<NativeBuildOptions, 'cacheFolder' | 'env' | 'level'>,
): Promise<NativePlace> {
  const hash = sourceHash()
  const description = await describeCompiler(compiler, env)
  const key = sha256([hash, description, process.platform, process.arch, ...flags, ...level.flags].join('\n'))
  const file = join(cacheFolder, 'native', key.slice(0, 24), 'kernels.node')
  return {
    file,
    sourceHash: hash,
    cpuFeatures: [level.name],
    isBuilt: await exists(file),
    compilerVersion: description?.split('\n')[0] ?? '',
  }
}

/** The addon for this machine, built when it is not in the cache. */
export async function buildNative(compiler: string, options: NativeBuildOptions): Promise<NativeBuild> {
  const { onBuild, force = false, env = process.env, level = cpuLevel() } = options
  const { isBuilt, compilerVersion: _, ...build } = await locateNative(compiler, options)
  if (isBuilt && !force) return build
  onBuild?.(`compiling the engine's kernels with ${compiler} for ${build.cpuFeatures}, once for this machine`)
  const folder = dirname(build.file)
  const draft = join(folder, `${process.pid}-${Date.now().toString(36)}.node`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const args = [...flags, ...level.flags, join(nativeFolder, 'addon.c'), '-o', draft]
    await execute(compiler, args, { env, timeout: compileMs, killSignal: 'SIGKILL' })
    await sync(draft)
    await rename(draft, build.file) // readers find nothing or all of it
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {}) // in a folder that cannot be written to
    throw new EvsysError('BACKEND_FAILED', `the engine's kernels cannot be compiled: ${complaintOf(cause)}`, {
      cause,
      fix: 'set EVSYS_ENGINE=wasm to use the kernels that need no compiler, or CC to another compiler.',
    })
  }
  return build
}

// A file that was cut by a crash of the machine would be loaded for ever.
async function sync(file: string): Promise<void> {
  await using handle = await open(file, 'r+')
  await handle.sync()
}

// The first error of the compiler; the command line before it is long and says nothing.
function complaintOf(cause: unknown): string {
  const isKilled = cause instanceof Error && 'killed' in cause && cause.killed === true
  if (isKilled) return `the compiler did not end within ${compileMs / 1000} s`
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : []
  return said.find((line) => /error/i.test(line))?.trim() ?? (said[0] || messageOf(cause))
}

async function describeCompiler(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    const ask = (flag: string) => execute(name, [flag], { env, timeout: compileMs, killSignal: 'SIGKILL' })
    const [version, machine] = await Promise.all([ask('--version'), ask('-dumpmachine')])
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

// What the kernels are compiled for on this machine.
/** A set of vector instructions: its name, and the flags of the compiler. */
type CpuLevel = { readonly name: string; readonly flags: readonly string[] }

const avx2 = ['-mavx2', '-mfma', '-mbmi', '-mbmi2', '-mf16c', '-mlzcnt', '-mmovbe']
const avx512Sets = ['avx512f', 'avx512bw', 'avx512dq', 'avx512vl', 'avx512cd']
const avx512 = [...avx2, ...avx512Sets.map((set) => `-m${set}`), '-mprefer-vector-width=512']

/** The best level for a processor, from /proc/cpuinfo. */
export function cpuLevel(arch: string = process.arch, cpuinfo: string = readCpuinfo()): CpuLevel {
  if (arch !== 'x64') return { name: arch, flags: [] }
  const features = new Set(/^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(' '))
  const has = (...names: string[]) => names.every((name) => features.has(name))
  if (!has('avx2', 'fma', 'bmi1', 'bmi2', 'f16c', 'abm', 'movbe')) return { name: 'sse2', flags: [] }
  // AMD's first processors with AVX-512 split its operations: AVX2 with smaller tiles is as fast or faster there.
  const isIntel = cpuinfo.includes('GenuineIntel')
  if (isIntel && has(...avx512Sets)) return { name: 'avx512', flags: avx512 }
  return { name: 'avx2', flags: avx2 }
}

function readCpuinfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8')
  } catch {
    return '' // not Linux: the instructions that every processor of its kind has
  }
}
