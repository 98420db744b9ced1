// The trainer of a mock run: the same as behind `local` and `evsys serve`, in this process, reached without a socket.

import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CheckpointKind, Future, FwdBwd, Ref, RefOf, SaveOptions, TrainingService } from '../../contracts/index.ts'
import { formatTinkerPath, parseTinkerPath, type TinkerPath } from '../../contracts/tinker/index.ts'
import { loadMockEngine } from '../../engine/index.ts'
import {
  type Clock,
  EvsysError,
  fileError,
  messageOf,
  readForeignFile,
  sha256,
  systemCode,
  writeFileAtomic,
} from '../../kernel/index.ts'
import { createTinkerClient, type TinkerClient } from '../../tinker/index.ts'
import { type CheckpointEntry, type CheckpointFiles, createTrainer, type RunRecord } from '../../trainer/index.ts'
import { mockCatalog, mockVocabSize } from '../models/mock-models.ts'

/** Its one client lives as long as it does and polls at once, so nothing ends for silence and results need not be kept. */
const limits = { sessionMs: Number.MAX_SAFE_INTEGER, keepMs: 60_000, keepBytes: 1 << 28 }

export type MockTrainer = {
  readonly client: TinkerClient
  readonly checkpoints: MockCheckpoints
  close(): Promise<void>
}

/** Opens a trainer whose checkpoints lie in the folder of a run, and a client of it. */
export async function openMockTrainer(runDir: string, signal: AbortSignal): Promise<MockTrainer> {
  const { createMockEngine } = await loadMockEngine()
  const engine = createMockEngine({ vocabSize: mockVocabSize })
  const checkpoints = new MockCheckpoints(runDir)
  const trainer = await createTrainer({ engine, checkpoints, models: mockCatalog([]), limits })
  const client = await createTinkerClient({
    preset: 'evsys',
    baseUrl: 'http://mock',
    fetch: trainer.fetchInProcess,
    isInProcess: true,
    heartbeatMs: 0,
    signal,
  })
  return {
    client,
    checkpoints,
    async close() {
      await trainer[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
    },
  }
}

// Checkpoints of mock runs: one file each in the run's folder, under a `mock://` address that holds its path, so that a later run
// can start from it. Nothing else is kept of them; whether the bytes are a checkpoint is checked by the engine.
const folders = { state: 'weights', sampler: 'sampler_weights' } as const

/** The checkpoint files of one run, and those of earlier runs that it is given the addresses of. */
export class MockCheckpoints implements CheckpointFiles {
  readonly #runDir: string
  /** Files by the path under which the trainer knows them. */
  readonly #files = new Map<string, string>()
  /** Paths of the trainer by kind and address. */
  readonly #paths = new Map<string, string>()
  #run: RunRecord | undefined

  constructor(runDir: string) {
    this.#runDir = runDir
  }

  /** The address of what the trainer saved under a path. */
  addressOf<K extends Ref['kind']>(kind: K, path: string): { kind: K; uri: string } {
    const uri = `mock:${pathToFileURL(this.#fileOf(path)).href.slice('file:'.length)}`
    this.#paths.set(`${kind} ${uri}`, path)
    return { kind, uri }
  }

  /** The path under which the trainer knows what is at an address; undefined where no file is. */
  pathOf({ kind, uri }: Ref): string | undefined {
    const file = fileAt(uri)
    if (!existsSync(file)) return undefined
    const key = `${kind} ${uri}`
    const known = this.#paths.get(key)
    if (known !== undefined) return known
    const path = formatTinkerPath({ runId: 'saved', folder: folders[kind], name: String(this.#paths.size) })
    this.#paths.set(key, path)
    this.#files.set(path, file)
    return path
  }

  /** What earlier runs saved is found by its address. */
  async readAll() {
    return { runs: [], entries: [] }
  }

  async addRun(run: RunRecord): Promise<void> {
    this.#run = run
  }

  async removeRun(): Promise<void> {} // no file was made for it

  /** Taken for a checkpoint of the model in training: the engine compares the two. */
  async find(path: TinkerPath): Promise<CheckpointEntry | undefined> {
    const { runId, folder, name } = path
    const file = this.#files.get(formatTinkerPath(path))
    if (file === undefined || this.#run === undefined || folder === 'external_weights') return undefined
    const bytes = await readCheckpoint(file)
    return {
      version: 1,
      folder,
      name,
      created_ms: 0,
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      expires_ms: null,
      public: false,
      user_metadata: {},
      run: { ...this.#run, run_id: runId },
    }
  }

  async save(entry: CheckpointEntry, bytes: Uint8Array): Promise<void> {
    const file = this.#fileOf(entryPath(entry))
    await mkdir(dirname(file), { recursive: true }).catch((cause) =>
      Promise.reject(fileError('make', dirname(file), cause)),
    )
    await writeFileAtomic(file, bytes)
  }

  read(entry: CheckpointEntry): Promise<Uint8Array> {
    return readCheckpoint(this.#fileOf(entryPath(entry)))
  }

  async remove(entry: CheckpointEntry): Promise<void> {
    const file = this.#fileOf(entryPath(entry))
    await rm(file, { force: true }).catch((cause) => Promise.reject(fileError('delete', file, cause)))
  }

  async update(): Promise<void> {}

  async removeBytes(): Promise<void> {}

  #fileOf(path: string): string {
    const parsed = parseTinkerPath(path)
    const kind = parsed?.folder === 'weights' ? 'state' : 'sampler'
    return this.#files.get(path) ?? join(this.#runDir, 'checkpoints', kind, `${parsed?.name}.mock`)
  }
}

function entryPath({ run, folder, name }: CheckpointEntry): string {
  return formatTinkerPath({ runId: run.run_id, folder, name })
}

function fileAt(uri: string): string {
  try {
    if (uri.startsWith('mock:///')) return fileURLToPath(`file:${uri.slice('mock:'.length)}`)
  } catch {
    // Not a path of this platform: refused below.
  }
  throw new EvsysError('BACKEND_FAILED', `mock backend: ${uri} is no address of a mock checkpoint`, {
    fix: 'use one that a run on the mock backend printed: mock:///...',
  })
}

/** Of a model of two words, many times over. */
const mostBytes = 1 << 28

// It lies in a folder that recipe code writes.
async function readCheckpoint(file: string): Promise<Uint8Array> {
  try {
    return await readForeignFile(file, mostBytes)
  } catch (cause) {
    // Refused, and not tried again: a pipe or a link in its place will be no checkpoint later.
    if (systemCode(cause) !== 'ENOENT') throw new EvsysError('BACKEND_REFUSED', messageOf(cause), { cause })
    throw noCheckpoint(`mock:${pathToFileURL(file).href.slice('file:'.length)}`)
  }
}

function noCheckpoint(uri: string): EvsysError {
  return new EvsysError('BACKEND_FAILED', `mock backend: there is no checkpoint at ${uri}`, {
    fix: 'check the address; the run’s folder may have been moved or deleted.',
  })
}

export type MockServiceOptions = {
  checkpoints: MockCheckpoints
  signal: AbortSignal
  clock: Clock
  /** How long an answer is on its way. Work is not delayed by it: requests sent together arrive together. */
  latencyMs?: number | undefined
  /** The optimiser step that fails, counted from 0. */
  failAtStep?: number | undefined
}

/** What `mock` adds to the service of its trainer: addresses that name files, latency, and failures on demand. */
export function mockService(trainer: TrainingService, options: MockServiceOptions): TrainingService {
  const { checkpoints, signal, clock, latencyMs = 0, failAtStep } = options
  let steps = 0

  const arriving = <T>(work: Promise<T>): Future<T> => {
    const future =
      latencyMs === 0 ? work : Promise.all([work, clock.sleep(latencyMs, signal)]).then(([result]) => result)
    future.catch(() => {}) // the caller may still await an earlier request when this one fails
    return future
  }

  const located = async <R extends Ref, T>(ref: R, send: (known: R) => Promise<T>): Promise<T> => {
    const uri = checkpoints.pathOf(ref)
    if (uri === undefined) throw noCheckpoint(ref.uri)
    return send({ ...ref, uri })
  }

  return {
    forward: (model, data, loss) => arriving(trainer.forward(model, data, loss).then(lossLast)),
    forwardBackward: (model, data, loss) => arriving(trainer.forwardBackward(model, data, loss).then(lossLast)),
    optimStep: (model, adam) =>
      arriving(steps++ === failAtStep ? failedStep(failAtStep) : trainer.optimStep(model, adam)),
    save: <K extends CheckpointKind>(model: string, name: string, how: SaveOptions<K>): Future<RefOf<K>> =>
      arriving(trainer.save(model, name, how).then(({ kind, uri }) => checkpoints.addressOf(kind, uri))),
    snapshot: (model) => arriving(trainer.snapshot(model)),
    load: (model, ref, how) => arriving(located(ref, (known) => trainer.load(model, known, how))),
    sample: ({ model, ...request }, signal) =>
      arriving(
        'uri' in model && model.uri.startsWith('mock:')
          ? located(model, (known) => trainer.sample({ ...request, model: known }, signal))
          : trainer.sample({ ...request, model }, signal),
      ),
    /** One that is gone already is no error. */
    remove: (ref) => {
      const remove = async () => {
        const uri = ref.uri.startsWith('mock:') ? checkpoints.pathOf(ref) : ref.uri
        if (uri !== undefined) await trainer.remove?.({ ...ref, uri })
      }
      return arriving(remove())
    },
  }
}

// Records of mock runs name the loss after the metrics of a custom loss, and are compared byte by byte.
function lossLast({ outputs, metrics: { 'loss:sum': loss = Number.NaN, ...rest } }: FwdBwd): FwdBwd {
  return { outputs, metrics: { ...rest, 'loss:sum': loss } }
}

async function failedStep(step: number): Promise<never> {
  throw new EvsysError('BACKEND_FAILED', `mock backend: step ${step} fails, as asked`, {
    fix: 'leave out fail_at_step.',
  })
}
