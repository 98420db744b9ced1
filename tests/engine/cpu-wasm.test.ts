import { describe } from 'vitest'
import { describeOnKernels } from './cpu-on-kernels.contract.ts'

describe('the CPU engine on WebAssembly', () => describeOnKernels('wasm'))
