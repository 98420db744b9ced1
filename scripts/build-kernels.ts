// Builds what is committed of the kernels: native/ops.h from the table of operations, and the WebAssembly modules. Needs clang 16 or
// later with lld (Debian packages clang-16, lld-16). A test builds again where that compiler is and compares.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ArgKind, headChunk, massBlock, ops, pageSize } from '../src/engine/cpu/ops.ts'

const native = fileURLToPath(new URL('../native', import.meta.url))

/** The compiler that makes the committed modules: others give other bytes. */
export const wasmCompiler = 'clang-16'

// Contraction stays within an expression's rounding; -ffast-math would fold the range reduction of exp away.
const flags = ['-std=c11', '-O3', '-ffp-contract=fast', '-fno-math-errno', '-fno-trapping-math', '-Wall', '-Wextra']
const wasmFlags = [
  ...['--target=wasm32', '-nostdlib', '-ffreestanding', '-msimd128', '-matomics', '-mbulk-memory', '-mmutable-globals'],
  ...['-fno-builtin-memset', '-fno-builtin-memcpy', '-fuse-ld=/usr/bin/wasm-ld-16', '-Wl,--no-entry,--strip-all'],
  ...['-Wl,--import-memory,--shared-memory,--max-memory=4294967296', '-Wl,-z,stack-size=65536'],
  ...['-Wl,--export=__stack_pointer,--export=__heap_base'],
]

/** The modules by file name, with the flags that make them differ. */
export const wasmModules: Record<string, string[]> = {
  'kernels-simd.wasm': [],
  'kernels-relaxed.wasm': ['-mrelaxed-simd'],
}

/** Compiles one module. */
export function buildWasm(name: string, target: string): void {
  const args = [...flags, ...wasmFlags, ...(wasmModules[name] ?? []), join(native, 'wasm.c'), '-o', target]
  execFileSync(wasmCompiler, args, { stdio: ['ignore', 'inherit', 'inherit'] })
}

const types: Record<ArgKind, string> = {
  tensor: 'uint32_t',
  optional: 'uint32_t',
  int: 'int32_t',
  float: 'float',
  flag: 'int32_t',
  type: 'int32_t',
}

/** The table of operations in C. */
export function opsHeader(): string {
  const upper = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
  const codes = Object.entries(ops).map(([name, { code }]) => `  OP_${upper(name)} = ${code},`)
  const structs = Object.entries(ops).map(([name, { args }]) => {
    const fields = Object.entries(args).map(([arg, kind]) => `  ${types[kind]} ${arg};`)
    return `typedef struct {\n${fields.join('\n')}\n} Op${name.slice(0, 1).toUpperCase()}${name.slice(1)};\n`
  })
  return `// Generated from src/engine/cpu/ops.ts by scripts/build-kernels.ts. Tensors are offsets into the arena, in words of 4 bytes.
#ifndef EVSYS_OPS_H
#define EVSYS_OPS_H
#include <stdint.h>

#define PAGE_SIZE ${pageSize}
#define HEAD_CHUNK ${headChunk}
#define MASS_BLOCK ${massBlock}

enum {
${codes.join('\n')}
};

${structs.join('\n')}#endif
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(native, 'ops.h'), opsHeader())
  mkdirSync(join(native, 'wasm'), { recursive: true })
  for (const name of Object.keys(wasmModules)) buildWasm(name, join(native, 'wasm', name))
}
