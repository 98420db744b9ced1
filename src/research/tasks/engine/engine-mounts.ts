// What a candidate sees of evsys: the embedded engine, its kernels and nothing else, read-only, where they are on this machine. So
// paths are the same inside and outside of a sandbox.
import { existsSync, realpathSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mount } from '../../../contracts/index.ts'
import { loadCpuEngine } from '../../../engine/index.ts'
import { cacheFolder } from '../../../models/index.ts'

interface EngineMountsOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly onNotice?: ((text: string) => void) | undefined
}

/** Builds native kernels where this machine can, and says where everything is; `module` is that of language models on the engine. */
export async function engineMounts({ env, onNotice }: EngineMountsOptions) {
  const module = fileURLToPath(new URL(`./language-model-engine-module${extname(import.meta.url)}`, import.meta.url))
  const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/[\\/]$/, '')
  const [compiled = 'dist'] = relative(root, module).split(sep)
  const cache = cacheFolder({ ...env })
  await buildKernels(cache, env, onNotice)
  const passed = Object.fromEntries(['EVSYS_ENGINE', 'CC'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
  const shown = ['package.json', compiled, 'chunks', 'native'].map((name) => join(root, name))
  return {
    module,
    mounts: [...shown, join(cache, 'native')].filter((path) => existsSync(path) && !isOfSystem(path)).map(mountOf),
    env: { EVSYS_ENGINE_MODULE: module, EVSYS_ENGINE_CACHE: cache, ...passed },
  }
}

const mountOf = (path: string): Mount => ({ source: realpathSync(path), target: path })

const isOfSystem = (path: string) => /^\/(?:usr|bin|sbin|lib\w*)\//.test(path)

/** Nothing is computed. */
const smallest = 2 ** 24

async function buildKernels(
  folder: string,
  env: EngineMountsOptions['env'],
  onNotice: ((text: string) => void) | undefined,
): Promise<void> {
  const { openCpuEngine } = await loadCpuEngine()
  await using _ = await openCpuEngine({
    resolve: async () => ({ folder }),
    cacheFolder: folder,
    env: { ...env },
    threads: 1,
    capacityBytes: smallest,
    measures: false,
    onBuild: onNotice,
  })
}
