// Builds the native kernels in the folder that it is told, with the `cc` of the PATH, and opens them.
import { buildNative } from '../../src/engine/cpu/native-build.ts'
import { openNativeRuntime } from '../../src/engine/cpu/open-runtime.ts'

const build = await buildNative('cc', { cacheFolder: process.argv[2] ?? '' })
await using runtime = openNativeRuntime(build, { threads: 1, capacityBytes: 2 ** 24 })
console.log(runtime.id.kind)
