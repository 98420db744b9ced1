// The kernels as WebAssembly: one shared memory, one instance per thread. Runs wherever Node runs, without a compiler.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import v8 from 'node:v8'
import { Worker } from 'node:worker_threads'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { arenaRuntime } from './arena-runtime.ts'
import { nativeFolder, sourceHash } from './native-folder.ts'
import type { Runtime } from './runtime.ts'

type Exports = {
  __stack_pointer: WasmGlobal
  __heap_base: WasmGlobal
  scratch_bytes(): number
  open_team(threads: number, scratch: number, first: number, end: number): void
  run(program: number, words: number): number
  recover(): void
  stop(): void
}

const page = 65536
const stackBytes = page

type WasmOptions = {
  threads: number
  capacityBytes: number
  /** Fused multiply-add, where this Node has it: faster, other last bits. */
  relaxed?: boolean | undefined
}

/** Opens the WebAssembly kernels. */
export async function openWasmRuntime({ threads, capacityBytes, relaxed = true }: WasmOptions): Promise<Runtime> {
  const isRelaxed = relaxed && hasRelaxedSimd()
  const module = new WebAssembly.Module(moduleBytes(isRelaxed ? 'relaxed' : 'simd'))
  const memory = sharedMemory(capacityBytes)
  const { buffer } = memory
  const exports = instantiate(module, memory)
  const stack = exports.__stack_pointer.value
  const stacks = Math.ceil(exports.__heap_base.value / page) * page
  const scratch = stacks + stackBytes * threads
  const start = scratch + threads * exports.scratch_bytes()
  exports.open_team(threads, scratch, start / 4, buffer.byteLength / 4)
  const workers = await startWorkers(module, memory, stacks, threads)

  return arenaRuntime({
    id: { kind: 'cpu-wasm', sourceHash: sourceHash(), threads, cpuFeatures: [isRelaxed ? 'relaxed-simd' : 'simd'] },
    capacityBytes: buffer.byteLength,
    start,
    window: (offset) => ({ buffer, offset }),
    execute(offset, words) {
      try {
        return exports.run(offset, words)
      } catch (cause) {
        exports.__stack_pointer.value = stack
        exports.recover()
        throw new EvsysError('BACKEND_FAILED', `the engine's kernels failed: ${messageOf(cause)}`, { cause })
      }
    },
    async close() {
      exports.stop()
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  })
}

/** Node 20 has it behind a flag, which works after the start as well. */
function hasRelaxedSimd(): boolean {
  const bytes = moduleBytes('relaxed')
  if (WebAssembly.validate(bytes)) return true
  v8.setFlagsFromString('--experimental-wasm-relaxed-simd')
  return WebAssembly.validate(bytes)
}

function moduleBytes(kind: 'simd' | 'relaxed'): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(nativeFolder, 'wasm', `kernels-${kind}.wasm`)))
}

// All of it at once: the machine gives pages when they are written, and views stay valid for ever.
function sharedMemory(bytes: number): WasmMemory {
  const claim = (size: number) =>
    new WebAssembly.Memory({ initial: Math.min(65536, Math.ceil(size / page)), maximum: 65536, shared: true })
  try {
    return claimMemory(bytes, claim).claimed
  } catch (cause) {
    throw new EvsysError('BACKEND_REFUSED', `${bytes} bytes for the engine cannot be had: ${messageOf(cause)}`, {
      cause,
    })
  }
}

// A trap leaves the thread's program: it goes back to wait for the next one.
const workerProgram = `
const { parentPort, workerData: { module, memory, index, stack } } = require('node:worker_threads')
const { exports } = new WebAssembly.Instance(module, { env: { memory } })
parentPort.postMessage('ready')
for (let again = 0; ; again = 1) {
  exports.__stack_pointer.value = stack
  try {
    exports.work(index, again)
    break
  } catch {}
}`

// Its few lines of JavaScript need next to nothing, and newer versions of Node reserve half a gigabyte for the code of each thread,
// which is too much where memory is bounded.
const resourceLimits = { codeRangeSizeMb: 4, maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }

async function startWorkers(module: WasmModule, memory: WasmMemory, stacks: number, threads: number) {
  const workers = Array.from({ length: threads - 1 }, (_, i) => {
    const index = i + 1
    const workerData = { module, memory, index, stack: stacks + stackBytes * (index + 1) }
    return new Worker(workerProgram, { eval: true, execArgv: [], workerData, resourceLimits })
  })
  await Promise.all(
    workers.map(
      (worker) =>
        new Promise<void>((resolve, reject) => {
          worker.once('message', () => resolve())
          worker.once('error', reject)
        }),
    ),
  )
  for (const worker of workers) {
    worker.unref()
    worker.on('error', () => {}) // it is ended while it computes: its result is not awaited
  }
  return workers
}

function instantiate(module: WasmModule, memory: WasmMemory): Exports {
  return new WebAssembly.Instance(module, { env: { memory } }).exports as Exports // of native/wasm.c, which every module is made of
}

// The part of WebAssembly that is used, with types: TypeScript declares it for browsers only.
type WasmModule = object
type WasmMemory = { readonly buffer: SharedArrayBuffer }
type WasmGlobal = { value: number }

type WasmInstance = { readonly exports: unknown }

type Interface = {
  Module: new (bytes: Uint8Array) => WasmModule
  Instance: new (module: WasmModule, imports: { env: { memory: WasmMemory } }) => WasmInstance
  Memory: new (size: { initial: number; maximum: number; shared: true }) => WasmMemory
  validate(bytes: Uint8Array): boolean
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: Interface } // part of every Node

/** Not worth to start with less. */
const leastBytes = 2 ** 28

/**
 * Claims memory for an arena, or less of it where so much cannot be had: what a process may claim is bounded by more than can
 * be asked for. The error is that of the first try.
 */
export function claimMemory<T>(bytes: number, claim: (bytes: number) => T): { claimed: T; bytes: number } {
  try {
    return { claimed: claim(bytes), bytes }
  } catch (error) {
    for (let less = shrink(bytes); less >= leastBytes; less = shrink(less)) {
      try {
        return { claimed: claim(less), bytes: less }
      } catch {} // the first error is the one to report
    }
    throw error
  }
}

// In whole pages of WebAssembly, of which those of machines are parts.
function shrink(bytes: number): number {
  return Math.floor((bytes * 0.75) / 65536) * 65536
}
