// What only the CPU engine promises, on whatever runtime it computes: bounded memory, samples drawn together, bfloat16.
import { describe, expect, it } from 'vitest'
import type { Datum, Engine, Sample, SampleReq } from '../../src/contracts/index.ts'
import { type CpuEngineOptions, createCpuEngine } from '../../src/engine/cpu/cpu-engine.ts'
import type { Runtime } from '../../src/engine/cpu/runtime.ts'
import { decodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { scaled } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { tinyVocab, writeTinyModel } from '../tiny-model.ts'
import { relativeDistance } from '../torch-fixture.ts'
import { adam, bytesOf, ce, corpus, datum, lora, pass, rowsOf, run, sample, step } from './engine-under-test.ts'

/** A runtime that counts what it is asked for. */
function counting(inner: Runtime): Runtime & { runs: number; held: Set<number>; top: number } {
  return {
    ...inner,
    runs: 0,
    held: new Set(),
    top: 0,
    alloc(bytes) {
      const at = inner.alloc(bytes)
      this.held.add(at)
      this.top = Math.max(this.top, at + bytes)
      return at
    },
    free(at) {
      this.held.delete(at)
      inner.free(at)
    },
    run(program) {
      this.runs++
      inner.run(program)
    },
  }
}

/** `splitError`: what it may change that the kernels add a batch up in parts. */
export function describeCpu(openRuntime: () => Runtime | Promise<Runtime>, { splitError = 0 } = {}): void {
  const folder = temporaryFolders()
  const context = { max_position_embeddings: 300 }

  async function open(more: Partial<CpuEngineOptions> = {}, config = {}) {
    const runtime = counting(await openRuntime())
    const path = writeTinyModel(folder(), 'qwen3', { ...context, ...config })
    return { runtime, engine: createCpuEngine({ resolve: async () => ({ folder: path }), runtime, ...more }) }
  }
  const create = (engine: Engine, model: string, spec?: ReturnType<typeof lora>) =>
    run(engine, { op: 'create', model, baseModel: 'base', ...(spec === undefined ? {} : { lora: spec }) })
  const trainModel = async (engine: Engine, model: string, steps: number) => {
    for (let i = 0; i < steps; i++) {
      await run(engine, { op: 'forward_backward', model, data: corpus, loss: ce })
      await run(engine, { op: 'optim_step', model, adam })
    }
  }

  it('ends between two layers when the signal says so, and leaves no gradient behind (CPU-7)', async () => {
    const { runtime, engine } = await open()
    await using _ = engine
    await create(engine, 'm', lora(2))
    const controller = new AbortController()
    const inner = runtime.run.bind(runtime)
    let runs = 0
    runtime.run = (program) => {
      inner(program)
      if (++runs === 2) controller.abort(new Error('enough'))
    }
    const op = { op: 'forward_backward', model: 'm', data: corpus, loss: ce } as const
    await expect(engine.run(op, controller.signal)).rejects.toThrow('enough')
    expect(runs).toBe(2)
    expect(await step(engine)).toBe(0)
  })

  describe('memory', () => {
    it.each([
      ['all weights', undefined],
      ['an adapter', lora(3)],
    ])('bounds a pass: parts and layers computed twice give the same with %s (CPU-23)', async (_what, spec) => {
      const random = keyedRandom(4, 'texts')
      const texts = [3, 200, 17, 90, 1].map((length) =>
        datum(Array.from({ length: length + 1 }, () => random.int(tinyVocab))),
      )
      const { engine: first } = await open()
      await create(first, 'm', spec)
      await trainModel(first, 'm', 1)
      const bytes = await bytesOf(first)
      await first[Symbol.asyncDispose]()
      const results = []
      for (const passBytes of [2 ** 28, 2 ** 20, 2 ** 10]) {
        const { engine, runtime } = await open({ passBytes })
        await using _ = engine
        await run(engine, { op: 'import', model: 'm', bytes, optimizer: false })
        const before = runtime.runs
        const { outputs } = await pass(engine, texts)
        const runs = runtime.runs - before
        await step(engine, { beta1: 0 })
        const gradients = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam?.first ?? new Map()
        results.push({ outputs, gradients, runs })
      }
      const [whole, parts, least] = results
      expect(parts?.runs).toBeGreaterThan(whole?.runs ?? 0)
      // Embedding, two layers and the head; the head and two layers back.
      expect((least?.runs ?? 0) - (whole?.runs ?? 0)).toBe(7 * (texts.length - 1))
      for (const other of [parts, least]) {
        expect(other?.outputs).toEqual(whole?.outputs)
        for (const [name, { data }] of whole?.gradients ?? []) {
          expect(relativeDistance(other?.gradients.get(name)?.data ?? [], data), name).toBeLessThanOrEqual(splitError)
        }
      }
    })

    it('of the base becomes that of the one model that is trained whole; who wants the base again reads it again (CPU-28)', async () => {
      const { engine, runtime } = await open()
      await using _ = engine
      await create(engine, 'base')
      const untouched = await sample(engine, { numSamples: 2 }, 'base')
      await create(engine, 'm')
      await create(engine, 'adapter', lora(2))
      const [before, whole] = [runtime.held.size, 4] // weights, gradients, two moments
      await trainModel(engine, 'm', 1)
      expect(runtime.held.size).toBe(before + whole) // others compute with the base
      const shared = await bytesOf(engine, 'export_state')
      for (const model of ['base', 'adapter', 'm']) await run(engine, { op: 'unload', model })
      expect(runtime.held.size).toBe(0)

      await create(engine, 'm')
      await sample(engine)
      await trainModel(engine, 'm', 1)
      const rope = 1
      expect(runtime.held.size).toBe(whole + rope)
      expect(await bytesOf(engine, 'export_state')).toEqual(shared)
      await run(engine, { op: 'import', model: 'copy', bytes: shared, optimizer: false })
      expect(runtime.held.size).toBe(whole + rope + 1)
      await create(engine, 'base')
      expect(await sample(engine, { numSamples: 2 }, 'base')).toEqual(untouched)
      await create(engine, 'adapter', lora(2))
      await trainModel(engine, 'm', 1)
      expect(await sample(engine, { numSamples: 2 }, 'base')).toEqual(untouched)
      for (const model of ['m', 'base', 'copy', 'adapter']) await run(engine, { op: 'unload', model })
      expect(runtime.held.size).toBe(0)
    })

    it.each([
      ['all weights', undefined],
      ['an adapter', lora(3)],
    ])('does not grow with the second step: passes lie where the first did, with %s (CPU-28)', async (_what, spec) => {
      const { engine, runtime } = await open()
      await using _ = engine
      await create(engine, 'm', spec)
      await trainModel(engine, 'm', 1)
      const { top } = runtime
      await trainModel(engine, 'm', 3)
      expect(runtime.top).toBe(top)
    })

    it('that is full is told with what it was for and what to do; what is held stays usable (CPU-28)', async () => {
      const { engine, runtime } = await open()
      await using _ = engine
      await create(engine, 'm', lora(2))
      await trainModel(engine, 'm', 1)
      const texts = [40, 30, 20].map((length) => datum(Array.from({ length }, (_, i) => i % tinyVocab)))
      const expected = await pass(engine, texts, ce, 'forward')
      // Leaves room for a pass over some texts, then for none.
      const { alloc } = runtime
      let limit = 2 ** 19
      runtime.alloc = function (bytes) {
        return alloc.call(this, bytes > limit ? 2 ** 40 : bytes)
      }
      const before = runtime.runs
      expect(await pass(engine, texts, ce, 'forward')).toEqual(expected)
      expect(runtime.runs - before).toBeGreaterThan(1)
      limit = 2 ** 12
      await expect(pass(engine, texts)).rejects.toMatchObject({
        ...{ code: 'BACKEND_REFUSED', fix: expect.stringContaining('shorter texts') },
        message: expect.stringMatching(/^a pass over \d+ tokens takes [\d.]+ MiB, .* memory of [\d.]+ MiB/),
      })
      await expect(create(engine, 'whole')).resolves.toBeDefined()
      await expect(
        run(engine, { op: 'forward_backward', model: 'whole', data: texts, loss: ce }),
      ).rejects.toMatchObject({ code: 'BACKEND_REFUSED', fix: expect.stringContaining('train an adapter') })
      limit = 2 ** 28
      expect(await pass(engine, texts, ce, 'forward')).toEqual(expected)
    })

    it('is given back: after a request only weights are held, after the last model nothing (CPU-23)', async () => {
      const { engine, runtime } = await open()
      await using _ = engine
      await create(engine, 'm', lora(2))
      await create(engine, 'whole')
      for (const model of ['m', 'whole']) await trainModel(engine, model, 2)
      await sample(engine, { numSamples: 2 })
      const bytes = await bytesOf(engine, 'export_state')
      const held = runtime.held.size
      for (let i = 0; i < 3; i++) {
        for (const model of ['m', 'whole']) await trainModel(engine, model, 1)
        await sample(engine, { numSamples: 70, maxTokens: 3 })
        await expect(sample(engine, { temperature: -1 })).rejects.toThrow('temperature')
        const bad: Datum = { ...datum([1, 2]), lossInputs: {} }
        await expect(pass(engine, [bad])).rejects.toThrow('target_tokens')
        await run(engine, { op: 'import', model: 'm', bytes, optimizer: true })
        await pass(engine, corpus)
        await pass(engine, corpus)
        await step(engine)
      }
      expect(runtime.held.size).toBe(held)
      for (const model of ['m', 'whole']) await run(engine, { op: 'unload', model })
      expect(runtime.held.size).toBe(0)
    })
  })

  describe('a step that fails halfway', () => {
    it('loses the model alone, which a checkpoint brings back (CPU-27)', async () => {
      const { engine, runtime } = await open()
      await using _ = engine
      for (const model of ['m', 'other']) await create(engine, model, lora(2))
      await trainModel(engine, 'm', 1)
      const bytes = await bytesOf(engine, 'export_state')
      await pass(engine, corpus)
      const { run: original } = runtime
      let runs = 0
      runtime.run = (program) => {
        original.call(runtime, program)
        if (++runs === 2) throw new Error('a kernel was lost') // after the norm of the gradient, the step itself
      }
      await expect(step(engine)).rejects.toThrow('a kernel was lost')
      runtime.run = original
      for (const ask of [() => pass(engine, corpus), () => step(engine), () => sample(engine), () => bytesOf(engine)]) {
        await expect(ask()).rejects.toMatchObject({ code: 'BACKEND_FAILED', fix: 'load its last checkpoint.' })
      }
      await trainModel(engine, 'other', 1)
      await run(engine, { op: 'import', model: 'm', bytes, optimizer: true })
      expect(await bytesOf(engine, 'export_state')).toEqual(bytes)
    })
  })

  describe('a row of logits', () => {
    it.each([
      ['all weights', undefined],
      ['an adapter', lora(3)],
    ])('has the same bits alone and anywhere in any batch, cut in any way, with %s (CPU-26)', async (_what, spec) => {
      // Wider than a tile, and no multiple of one.
      const shape = { hidden_size: 52, intermediate_size: 75, vocab_size: 211, head_dim: 18 }
      const random = keyedRandom(6, 'batches')
      const texts = [1, 2, 3, 5, 9, 31, 64, 65, 130].map((length) => ({
        tokens: Int32Array.from({ length }, () => random.int(shape.vocab_size)),
      }))
      const { engine } = await open({}, shape)
      await using _ = engine
      await create(engine, 'm', spec)
      await trainModel(engine, 'm', 1)
      const alone: ArrayLike<number>[] = []
      for (const text of texts) alone.push(...(await rowsOf(engine, [text], shape.vocab_size)))
      const bytes = await bytesOf(engine)
      for (const passBytes of [2 ** 28, 2 ** 20]) {
        const { engine: other } = await open({ passBytes }, shape)
        await using _other = other
        await run(other, { op: 'import', model: 'm', bytes, optimizer: false })
        for (let i = 0; i < scaled(4); i++) {
          const batch = Array.from({ length: 1 + random.int(6) }, () => random.int(texts.length))
          const picked = batch.flatMap((at) => texts[at] ?? [])
          expect(await rowsOf(other, picked, shape.vocab_size)).toEqual(batch.map((at) => alone[at]))
        }
      }
    })
  })

  describe('samples drawn together', () => {
    const request = (more: Partial<SampleReq> = {}) => ({
      ...{ prompt: Int32Array.from([3, 1, 4]), numSamples: 3, maxTokens: 9, temperature: 1, seed: 7 },
      ...more,
    })
    const ask = async (engine: Engine, model: string, more: Partial<SampleReq> = {}): Promise<readonly Sample[]> => {
      const result = await run(engine, { op: 'sample', model, request: request(more) })
      return 'samples' in result ? result.samples : expect.fail('no samples')
    }

    it('are those of each request alone, from eight adapters and a whole model at once, in shared passes (CPU-24)', async () => {
      const { engine, runtime } = await open()
      await using _ = engine
      const names = Array.from({ length: 8 }, (_, i) => `adapter ${i}`)
      for (const [i, name] of names.entries()) {
        await create(engine, name, lora(1 + (i % 4), i))
        await trainModel(engine, name, 2)
      }
      await create(engine, 'whole')
      await trainModel(engine, 'whole', 1)
      const all = [...names, 'whole'].map((model, i) => ({
        model,
        more: { prompt: Int32Array.from({ length: 1 + 30 * i }, (_, t) => (t * 7 + i) % tinyVocab), maxTokens: 5 + i },
      }))
      const alone: (readonly Sample[])[] = []
      let before = runtime.runs
      for (const { model, more } of all.slice(0, -1)) alone.push(await ask(engine, model, more))
      const runsAlone = runtime.runs - before
      before = runtime.runs
      const shared = await Promise.all(all.slice(0, -1).map(({ model, more }) => ask(engine, model, more)))
      expect(shared).toEqual(alone)
      expect(runtime.runs - before).toBeLessThan(runsAlone / 3)
      for (const { model, more } of all.slice(-1)) alone.push(await ask(engine, model, more))
      expect(await Promise.all(all.map(({ model, more }) => ask(engine, model, more)))).toEqual(alone)
      expect(new Set(alone.flat().map(({ tokens }) => tokens.join())).size).toBeGreaterThan(20)
    })

    it.each([62, 63, 64, 65, 127, 128, 129])(
      'go on from a prompt of %i tokens with the bits of a full pass (CPU-24)',
      async (length) => {
        const { engine } = await open()
        await using _ = engine
        await create(engine, 'm', lora(2))
        await trainModel(engine, 'm', 2)
        const prompt = Int32Array.from({ length }, (_, t) => (t * t) % tinyVocab)
        const samples = await ask(engine, 'm', { prompt, maxTokens: 4, promptLogprobs: true })
        for (const { tokens, logprobs, promptLogprobs } of samples) {
          const [output] = (await pass(engine, [datum([...prompt, ...tokens])], ce, 'forward')).outputs
          expect([...(promptLogprobs ?? []).slice(1), ...logprobs]).toEqual([...(output?.logprobs?.data ?? [])])
        }
      },
    )

    it.each([
      [128, 1],
      [211, 1],
      [211, 0.7],
      [40, 3],
    ])('are what their random numbers stand for: %i tokens, temperature %d (CPU-24)', async (vocab, temperature) => {
      const { engine } = await open({}, { vocab_size: vocab })
      await using _ = engine
      await create(engine, 'm', lora(2))
      const prompt = Int32Array.from([3, 1, 4])
      const samples = await ask(engine, 'm', { prompt, numSamples: 5, maxTokens: 40, temperature })
      for (const [index, { tokens, logprobs }] of samples.entries()) {
        const random = keyedRandom(7, 'engine', 'sample', index)
        const [rows = []] = await rowsOf(engine, [{ tokens: Int32Array.from([...prompt, ...tokens]) }], vocab)
        for (const [t, token] of tokens.entries()) {
          const at = (prompt.length + t - 1) * vocab
          const powers = Array.from({ length: vocab }, (_, v) => Math.exp((rows[at + v] ?? Number.NaN) / temperature))
          const whole = powers.reduce((sum, power) => sum + power, 0)
          const below = powers.slice(0, token).reduce((sum, power) => sum + power, 0) / whole
          const share = (powers[token] ?? Number.NaN) / whole
          const uniform = random.float()
          expect(uniform).toBeGreaterThanOrEqual(below - 1e-6)
          expect(uniform).toBeLessThan(below + share + 1e-6)
          expect(Math.abs((logprobs[t] ?? Number.NaN) - Math.log(share))).toBeLessThan(1e-5)
        }
      }
    })

    it('take turns where the cache is small, and are refused where it could never hold one (CPU-24)', async () => {
      const pageBytes = 4 * 64 * 2 * 6 * 2 * 2
      const [{ engine: wide }, { engine: narrow }] = [await open(), await open({ cacheBytes: 4 * pageBytes })]
      await using _wide = wide
      await using _narrow = narrow
      for (const engine of [wide, narrow]) await create(engine, 'm', lora(2))
      const asks = (engine: Engine) =>
        Promise.all(
          [1, 2, 3].map((seed) =>
            ask(engine, 'm', { seed, numSamples: 4, prompt: new Int32Array(60 + seed).fill(seed) }),
          ),
        )
      expect(await asks(narrow)).toEqual(await asks(wide))
      await expect(ask(narrow, 'm', { maxTokens: 290 })).rejects.toMatchObject({
        code: 'BACKEND_REFUSED',
        message: expect.stringContaining('the cache holds 256'),
      })
      expect(await ask(wide, 'm', { maxTokens: 290, numSamples: 1 })).toHaveLength(1)
    })

    it('end for who aborts, and go on for the others (CPU-24)', async () => {
      const { engine } = await open()
      await using _ = engine
      await create(engine, 'm', lora(2))
      const expected = await ask(engine, 'm', { maxTokens: 20 })
      const controller = new AbortController()
      const op = { op: 'sample', model: 'm', request: request({ maxTokens: 250, numSamples: 50 }) } as const
      const impatient = engine.run(op, controller.signal)
      const patient = ask(engine, 'm', { maxTokens: 20 })
      setImmediate(() => controller.abort(new Error('enough')))
      await expect(impatient).rejects.toThrow('enough')
      expect(await patient).toEqual(expected)
    })

    it('read their prompt once where they differ in their draws alone, and end each for itself (CPU-24)', async () => {
      const { engine, runtime } = await open()
      await using _ = engine
      await create(engine, 'm', lora(2))
      const prompt = Int32Array.from({ length: 250 }, (_, t) => (t * t) % tinyVocab)
      const seeds = Array.from({ length: 8 }, (_, seed) => seed)
      const of = (seed: number) => ask(engine, 'm', { prompt, maxTokens: 4, seed, numSamples: 1 + (seed % 3) })
      const alone: (readonly Sample[])[] = []
      for (const seed of seeds) alone.push(await of(seed))
      let before = runtime.runs
      await ask(engine, 'm', { prompt, maxTokens: 4, numSamples: 15 })
      const runsOfOne = runtime.runs - before
      before = runtime.runs
      const controller = new AbortController()
      const impatient = engine.run(
        { op: 'sample', model: 'm', request: request({ prompt, maxTokens: 4 }) },
        controller.signal,
      )
      controller.abort(new Error('enough'))
      const together = Promise.all(seeds.map(of))
      await expect(impatient).rejects.toThrow('enough')
      expect(await together).toEqual(alone)
      expect(runtime.runs - before).toBeLessThanOrEqual(runsOfOne + 1)
      const scored = await Promise.all([
        of(1),
        ask(engine, 'm', { prompt, maxTokens: 4, seed: 1, promptLogprobs: true }),
      ])
      expect(scored.map(([sample]) => sample?.promptLogprobs?.length)).toEqual([undefined, 250])
    })

    it('see the weights of their turn: a step between two requests lies between them (CPU-24)', async () => {
      const { engine } = await open()
      await using _ = engine
      await create(engine, 'm', lora(2))
      await pass(engine, corpus)
      const [first, again] = [ask(engine, 'm'), ask(engine, 'm')]
      const stepped = step(engine)
      const after = ask(engine, 'm')
      expect(await first).toEqual(await again)
      expect(await stepped).toBeGreaterThan(0)
      expect(await after).not.toEqual(await first)
    })

    it('let what is asked of other models go between their passes, and are what they were alone (CPU-24, TRN-24)', async () => {
      const { engine } = await open()
      await using _ = engine
      for (const model of ['long', 'm']) await create(engine, model, lora(2))
      const long = () => ask(engine, 'long', { maxTokens: 290 })
      const alone = await long()
      const order: string[] = []
      const drawn = long().finally(() => order.push('drawn'))
      await pass(engine, corpus)
      expect(await step(engine)).toBeGreaterThan(0)
      order.push('trained')
      await create(engine, 'another', lora(1))
      await ask(engine, 'another', { maxTokens: 2 })
      order.push('opened')
      const unloaded = run(engine, { op: 'unload', model: 'long' }).finally(() => order.push('unloaded'))
      expect(await drawn).toEqual(alone)
      await unloaded
      expect(order).toEqual(['trained', 'opened', 'drawn', 'unloaded'])
    })

    it.each([
      ['another prompt', [9, 2]],
      ['the same prompt', [3, 1, 4]],
    ])(
      'of a request for a thousand leave room for one that comes later, with %s (CPU-24, TRN-24)',
      async (_what, prompt) => {
        const { engine } = await open()
        await using _ = engine
        await create(engine, 'm', lora(2))
        const order: string[] = []
        const many = ask(engine, 'm', { numSamples: 1000, maxTokens: 9 }).finally(() => order.push('many'))
        await new Promise((resolve) => setImmediate(resolve))
        const later = { prompt: Int32Array.from(prompt), numSamples: 1, seed: 3, maxTokens: 9 }
        const few = await ask(engine, 'm', later)
        order.push('few')
        expect(await many).toHaveLength(1000)
        expect(order).toEqual(['few', 'many'])
        expect(await ask(engine, 'm', later)).toEqual(few)
      },
    )
  })

  describe('bfloat16', () => {
    it('is computed with as it is stored, frozen and trained (CPU-25)', async () => {
      const path = writeTinyModel(folder(), 'llama', context, { dtype: 'BF16' })
      for (const spec of [undefined, lora(2)]) {
        const results = []
        for (const make of [
          createReferenceEngine,
          async (options: Pick<CpuEngineOptions, 'resolve'>) =>
            createCpuEngine({ ...options, runtime: await openRuntime() }),
        ]) {
          await using engine = await make({ resolve: async () => ({ folder: path }) })
          await create(engine, 'm', spec)
          const weights = decodeCheckpoint(await bytesOf(engine)).weights
          const { outputs } = await pass(engine, corpus)
          await step(engine, { beta1: 0 })
          const gradients = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam?.first ?? new Map()
          results.push({ weights, outputs, gradients })
        }
        const [expected, found] = results
        if (spec === undefined) expect(found?.weights).toEqual(expected?.weights)
        for (const [name, { data }] of expected?.gradients ?? []) {
          if (data.every((value: number) => value === 0)) continue
          expect(relativeDistance(found?.gradients.get(name)?.data ?? [], data), name).toBeLessThan(1e-5)
        }
      }
    })
  })
}
