import { describe } from 'vitest'
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.ts'
import { createInterpreter } from '../cpu-interpreter.ts'
import { inFullLane } from '../scale.ts'
import { describeAdapters } from './adapters.contract.ts'
import { describeCpu } from './cpu.contract.ts'
import { type CreateEngine, float32 } from './engine-under-test.ts'
import { describeParity } from './parity.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeSampling } from './sampling.contract.ts'
import { describeTraining } from './training.contract.ts'

const runtime = () => createInterpreter({ capacityBytes: 1 << 27 })
const create: CreateEngine = (options) => createCpuEngine({ ...options, runtime: runtime() })

describe('the CPU engine on the interpreter', () => {
  // What the kernels are held to as well (cpu-wasm.test.ts, cpu-native.test.ts): here only where time does not matter.
  if (inFullLane) {
    describeTraining(create, float32)
    describeAdapters(create)
    describeRefusals(create)
    describeSampling(create)
    describeParity(create, { longest: 300 })
  }
  describeCpu(runtime, { splitError: 2e-6 }) // every operation rounds its sum once
})
