// The CPU engine on its kernels: everything that every engine promises, and what only this one does.
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.ts'
import { openRuntime } from '../../src/engine/cpu/open-runtime.ts'
import { describeAdapters } from './adapters.contract.ts'
import { describeCpu } from './cpu.contract.ts'
import { type CreateEngine, float32 } from './engine-under-test.ts'
import { builtKernels } from './kernels/kernel-runtimes.ts'
import { describeParity } from './parity.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeSampling } from './sampling.contract.ts'
import { describeTraining } from './training.contract.ts'

export function describeOnKernels(kind: 'wasm' | 'native'): void {
  const env = { PATH: process.env.PATH, CC: process.env.CC }
  const runtime = () => openRuntime({ kind, threads: 2, capacityBytes: 2 ** 28, cacheFolder: builtKernels, env })
  const create: CreateEngine = async (options) => createCpuEngine({ ...options, runtime: await runtime() })
  describeTraining(create, float32)
  describeAdapters(create)
  describeRefusals(create)
  describeSampling(create)
  describeParity(create)
  describeCpu(runtime)
}
