import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { describeKernels } from '../engine/kernels/describe-kernels.ts'
import { buildSanitized, openSanitized } from '../engine/kernels/sanitized-runtime.ts'
import { needs } from '../needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sanitizers = needs('a C compiler with sanitizers', () => buildSanitized(folder))

sanitizers.describe('kernels under the address and undefined-behaviour sanitizers', () =>
  describeKernels(() => openSanitized(folder, 3)),
)
