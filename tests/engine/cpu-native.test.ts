import { findCompiler } from '../../src/engine/cpu/native-build.ts'
import { needs } from '../needs.ts'
import { describeOnKernels } from './cpu-on-kernels.contract.ts'

const found = await findCompiler()

needs('a C compiler', () => found !== undefined || 'none was found').describe('the CPU engine on native kernels', () =>
  describeOnKernels('native'),
)
