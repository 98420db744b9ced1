import { describe } from 'vitest'
import { describeKernels } from './kernels/describe-kernels.ts'
import { compiler, openNative, openWasm } from './kernels/kernel-runtimes.ts'

// Three threads: work is split unevenly.
describe('kernels as plain WebAssembly', () => describeKernels(() => openWasm(3, false)))
describe('kernels as WebAssembly with relaxed SIMD', () => describeKernels(() => openWasm(3, true)))
compiler.describe('kernels compiled here', () => describeKernels(() => openNative(3)))
