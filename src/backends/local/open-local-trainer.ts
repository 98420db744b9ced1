// A trainer with all its parts: engine in a thread or process, base models, text. The one place where they are put together.

import { messageOf } from '../../kernel/index.ts'
import { cacheFolder, resolveModelFolder } from '../../models/index.ts'
import {
  createTrainer,
  type EngineChoice,
  type EngineHost,
  engineModule,
  loadTrainer,
  openEngineHost,
  openFolderCatalog,
  peftFiles,
  type Trainer,
  type TrainerOptions,
} from '../../trainer/index.ts'
import { mockCatalog, mockVocabSize } from '../models/mock-models.ts'
import type { EngineKind } from './engine-kinds.ts'

export type LocalTrainerOptions = {
  engine: EngineKind
  /** Names or folders of base models. */
  models: readonly string[]
  /** Where relative folders start from. */
  project: string
  dir: string
  keys: readonly string[]
  quota?: TrainerOptions['quota']
  /** Other names of sampler checkpoints. */
  aliases?: TrainerOptions['aliases']
  /** Hears what the engine has to say while it is opened. */
  onNotice?: ((text: string) => void) | undefined
}

/** An engine with its models, before there is a trainer around it. */
export interface LocalEngine {
  readonly host: EngineHost
  readonly parts: Promise<ModelParts>
}

/** Starts the engine of a trainer and finds its models. */
export async function openLocalEngine(
  options: Omit<LocalTrainerOptions, 'dir' | 'keys' | 'quota' | 'aliases'>,
): Promise<LocalEngine> {
  const { onNotice } = options
  const { choice, parts: find } = await (options.engine === 'mock' ? mockParts(options) : folderParts(options))
  const starting = openEngineHost(engineModule(choice), onNotice === undefined ? {} : { onNotice })
  // While the engine starts, what stands before it is loaded.
  const parts = loadTrainer().then(find)
  parts.catch(() => {}) // thrown again where a trainer is made of it
  return { host: await starting, parts }
}

/** Opens a trainer and its engine, unless that is on its way; disposing of it closes both. */
export async function openLocalTrainer(
  options: LocalTrainerOptions,
  opening: Promise<LocalEngine> = openLocalEngine(options),
): Promise<Trainer> {
  const { dir, keys, quota, aliases, onNotice } = options
  const { host, parts } = await opening
  const onFault = (error: unknown) => onNotice?.(`the trainer failed: ${messageOf(error)}`)
  try {
    const trainer = await createTrainer({ ...(await parts), dir, keys, quota, aliases, engine: host, onFault })
    return {
      fetch: trainer.fetch,
      fetchInProcess: trainer.fetchInProcess,
      async [Symbol.asyncDispose]() {
        await trainer[Symbol.asyncDispose]()
        await host[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await host[Symbol.asyncDispose]()
    throw error
  }
}

/** What a trainer knows of its models. */
type ModelParts = Pick<TrainerOptions, 'models' | 'archiveFiles'>

type Parts = { readonly choice: EngineChoice; parts(): Promise<ModelParts> }

async function mockParts({ models }: Pick<LocalTrainerOptions, 'models'>): Promise<Parts> {
  return {
    choice: { kind: 'mock', vocabSize: mockVocabSize },
    parts: async () => ({ models: mockCatalog(models) }),
  }
}

async function folderParts({
  engine,
  models,
  project,
}: Pick<LocalTrainerOptions, 'engine' | 'models' | 'project'>): Promise<Parts> {
  const folders: Record<string, string> = {}
  for (const name of models) folders[name] = (await resolveModelFolder(name, { project })).folder
  return {
    choice: engine === 'cpu' ? { kind: 'cpu', folders, cacheFolder: cacheFolder() } : { kind: 'reference', folders },
    parts: async () => ({ models: await openFolderCatalog(models, project), archiveFiles: peftFiles(folders) }),
  }
}
