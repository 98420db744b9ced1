// The CPU engine on the kernels: WebAssembly everywhere, native where there is a compiler.
import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.ts'
import { openRuntime, type RuntimeKind } from '../../src/engine/cpu/runtime/open-runtime.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { describeAdapters } from './adapters.contract.ts'
import { describeCpu } from './cpu.contract.ts'
import { type CreateEngine, float32 } from './engine-under-test.ts'
import { describeParity } from './parity.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeSampling } from './sampling.contract.ts'
import { describeTraining } from './training.contract.ts'

const compiler = needs(
  'a C compiler',
  () => ['cc', 'gcc', 'clang'].some((name) => spawnSync(name, ['--version']).status === 0) || 'none was found',
)

describe('the CPU engine on WebAssembly', () => describeOn('wasm'))

compiler.describe('the CPU engine on native kernels', () => describeOn('native'))

function describeOn(kind: RuntimeKind): void {
  const folder = temporaryFolders()
  const cacheFolder = folder()
  const runtime = () =>
    openRuntime({ kind, threads: 2, capacityBytes: 2 ** 28, cacheFolder, env: { PATH: process.env.PATH } })
  const create: CreateEngine = async (options) => createCpuEngine({ ...options, runtime: await runtime() })
  describeTraining(create, float32)
  describeAdapters(create)
  describeRefusals(create)
  describeSampling(create)
  describeParity(create, { longest: 300 })
  describeCpu(runtime)
}
