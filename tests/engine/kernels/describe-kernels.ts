// All suites of the kernels, on one way to run them.
import { afterAll, beforeAll } from 'vitest'
import type { Runtime } from '../../../src/engine/cpu/runtime.ts'
import { describeAttention } from './attention.contract.ts'
import { Bench } from './bench.ts'
import { describeElementwise } from './elementwise.contract.ts'
import { describeHead } from './head.contract.ts'
import { describeProducts } from './products.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeRows } from './rows.contract.ts'

export function describeKernels(open: () => Runtime | Promise<Runtime>): void {
  let runtime: Runtime
  beforeAll(async () => {
    runtime = await open()
  }, 240_000)
  afterAll(() => runtime[Symbol.asyncDispose]())
  const bench = () => new Bench(runtime)
  describeProducts(bench)
  describeAttention(bench)
  describeRows(bench)
  describeElementwise(bench)
  describeHead(bench)
  describeRefusals(bench)
}
