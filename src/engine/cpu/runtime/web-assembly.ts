// The part of WebAssembly that is used, with types: TypeScript declares it for browsers only.

export type WasmModule = object
export type WasmMemory = { readonly buffer: SharedArrayBuffer }
export type WasmGlobal = { value: number }

type WasmInstance = { readonly exports: unknown }

type Interface = {
  Module: new (bytes: Uint8Array) => WasmModule
  Instance: new (module: WasmModule, imports: { env: { memory: WasmMemory } }) => WasmInstance
  Memory: new (size: { initial: number; maximum: number; shared: true }) => WasmMemory
  validate(bytes: Uint8Array): boolean
}

export const { WebAssembly } = globalThis as unknown as { WebAssembly: Interface } // part of every Node
