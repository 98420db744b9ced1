import { readdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { localBackend } from '../../src/backends/local/local-backend.ts'
import { ModelConfig } from '../../src/contracts/index.ts'
import { pluginContext } from '../plugin-context.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

describe('the temporary directory', () => {
  it('is as empty after a local trainer and its engine as before (USE-85)', async () => {
    const [tmp, runDir] = [folder(), folder()]
    vi.stubEnv('TMPDIR', tmp)
    onTestFinished(() => void vi.unstubAllEnvs())
    const backend = await localBackend.open({
      ...pluginContext(localBackend),
      model: ModelConfig.parse({ name: 'evsys/nano' }),
      loraRank: 4,
      seed: 1,
      runDir,
    })
    expect(readdirSync(tmp)).toEqual([expect.stringMatching(/^evsys-bytes-/)])
    await backend[Symbol.asyncDispose]()
    await vi.waitFor(() => expect(readdirSync(tmp)).toEqual([]), 5000)
  }, 120_000)
})
