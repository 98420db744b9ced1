import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { createTinkerClient, dpoLoss, isServiceError, type TinkerClient } from '../../src/tinker/index.ts'
import { needs } from '../needs.ts'

// TuFT is a server of the training protocol that others wrote. Its CPU mode answers with made-up numbers, by its true routes,
// futures and messages: what is shown here is that both sides understand each other.
const clients = process.env.EVSYS_PYTHON_CLIENTS ?? fileURLToPath(new URL('../../.tmp/python-clients', import.meta.url))
const python = join(clients, 'tuft/bin/python')
const tuft = needs('TuFT 0.2.2 (scripts/python-clients.sh)', () => {
  if (!existsSync(python)) return `no ${python}`
  // Found, not imported: that takes seconds, and the server does it.
  const find = `import importlib.util, sys; sys.exit(importlib.util.find_spec('tuft') is None)`
  execFileSync(python, ['-c', find], { stdio: 'pipe' })
  return true
})

const model = 'Qwen/Qwen3-0.6B'
const tensor = <T>(data: T) => ({ data, shape: [3] })
const targets = tensor(Int32Array.of(2, 3, 4))
const supervised = {
  tokens: Int32Array.of(1, 2, 3),
  lossInputs: { target_tokens: targets, weights: tensor(Float32Array.of(1, 1, 1)) },
}
const sampled = {
  tokens: supervised.tokens,
  lossInputs: {
    target_tokens: targets,
    logprobs: tensor(Float32Array.of(-1, -1, -1)),
    advantages: tensor(Float32Array.of(1, 0, -1)),
  },
}
const preferred = {
  tokens: supervised.tokens,
  lossInputs: { ...supervised.lossInputs, reference_logprobs: tensor(Float32Array.of(-1, -1, -1)) },
}
const adam = { learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
const patience = { deadlineMs: 60_000 }
const request = { prompt: Int32Array.of(1, 2, 3), numSamples: 2, maxTokens: 3, temperature: 1, seed: 4 }

tuft.describe('our client against TuFT', () => {
  const dir = mkdtempSync(join(tmpdir(), 'evsys-tuft-'))
  let server: ChildProcess
  let client: TinkerClient

  beforeAll(async () => {
    const port = await freePort()
    const folder = join(dir, 'Qwen3-0.6B') // empty; the server tells the architecture by its name
    mkdirSync(folder)
    writeFileSync(
      join(dir, 'config.yaml'),
      JSON.stringify({
        checkpoint_dir: join(dir, 'checkpoints'),
        supported_models: [
          { model_name: model, model_path: folder, max_model_len: 64, max_lora_rank: 16, max_loras: 4 },
        ],
        authorized_users: { 'tml-test': 'test' },
      }),
    )
    server = spawn(
      python,
      [
        '-m',
        'tuft.cli',
        'launch',
        '--config',
        join(dir, 'config.yaml'),
        '--port',
        String(port),
        '--log-level',
        'warning',
      ],
      { env: { ...process.env, TUFT_CPU_TEST: '1', TUFT_HOME: dir, HF_HUB_OFFLINE: '1' }, stdio: 'inherit' },
    )
    const baseUrl = `http://127.0.0.1:${port}`
    await vi.waitFor(() => fetch(`${baseUrl}/api/v1/healthz`), { timeout: 120_000, interval: 500 })
    client = await createTinkerClient({ baseUrl, apiKey: 'tml-test', preset: 'tuft' })
  })

  afterAll(async () => {
    await client.close('success')
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
    rmSync(dir, { recursive: true, force: true })
  })

  tuft.it('trains with every loss, also one of the caller, and steps (TNK-28)', async () => {
    const training = await client.createModel({ baseModel: model, rank: 4, seed: 1 }, patience)
    for (let step = 0; step < 3; step++) {
      const pass = training.forwardBackward([supervised, supervised], { name: 'cross_entropy' }, patience)
      const stepped = training.optimStep(adam, patience)
      expect((await pass).outputs).toHaveLength(2)
      await stepped
    }
    for (const name of ['importance_sampling', 'ppo', 'cispo', 'dro'])
      expect((await training.forwardBackward([sampled], { name }, patience)).outputs).toHaveLength(1)
    expect((await training.forward([supervised], { name: 'cross_entropy' }, patience)).outputs).toHaveLength(1)
    expect((await training.forwardBackward([preferred, preferred], dpoLoss(), patience)).outputs).toHaveLength(2)
    await training.optimStep(adam, patience)
    expect(training.brokenAt).toBeUndefined()
  })

  tuft.it('saves, loads, resumes, samples, looks up and deletes (TNK-28)', async () => {
    const training = await client.createModel({ baseModel: model, rank: 4, seed: 1 }, patience)
    await training.forwardBackward([supervised], { name: 'cross_entropy' }, patience)
    await training.optimStep(adam, patience)
    const state = await training.saveState('state', patience)
    const weights = await training.saveForSampler('weights', patience)
    await training.load(state, { optimizer: true, ...patience })
    const resumed = await client.createModelFrom(state, { optimizer: true, ...patience })
    expect((await resumed.forward([supervised], { name: 'cross_entropy' }, patience)).outputs).toHaveLength(1)

    for (const from of [
      { path: weights },
      { samplingSessionId: await training.snapshot(patience) },
      { baseModel: model },
    ])
      expect(await (await client.sampler(from)).sample(request, patience)).toHaveLength(2)

    expect(await client.rest.weightsInfo(state)).toMatchObject({ base_model: model })
    expect((await client.rest.checkpointsOf(training.modelId)).map(({ tinker_path }) => tinker_path)).toContain(state)
    await client.rest.deleteCheckpoint(state)
    expect((await client.rest.checkpointsOf(training.modelId)).map(({ tinker_path }) => tinker_path)).not.toContain(
      state,
    )
    const refused = await client.rest.setTtl(weights, 3600).catch((error: unknown) => error)
    expect(isServiceError(refused) && refused.status).toBe(405)
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
