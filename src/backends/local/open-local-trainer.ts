// A trainer with all its parts: engine in a thread or process, base models, text. The one place where they are put together.
import { cacheFolder, resolveModelFolder } from '../../models/index.ts'
import {
  createTrainer,
  type EngineChoice,
  engineModule,
  loadTrainer,
  openEngineHost,
  openFolderCatalog,
  peftFiles,
  type Trainer,
  type TrainerOptions,
} from '../../trainer/index.ts'
import { mockCatalog } from '../mock/mock-catalog.ts'
import { mockVocabSize } from '../mock/special-tokens.ts'
import type { EngineKind } from './engine-kinds.ts'

export type LocalTrainerOptions = {
  engine: EngineKind
  /** Names or folders of base models. */
  models: readonly string[]
  /** Where relative folders start from. */
  project: string
  dir: string
  keys: readonly string[]
  /** Hears what the engine has to say while it is opened. */
  onNotice?: (text: string) => void
}

/** Opens a trainer and its engine; disposing of it closes both. */
export async function openLocalTrainer(options: LocalTrainerOptions): Promise<Trainer> {
  const { dir, keys, onNotice } = options
  const { choice, parts } = await (options.engine === 'mock' ? mockParts(options) : folderParts(options))
  const starting = openEngineHost(engineModule(choice), onNotice === undefined ? {} : { onNotice })
  // While the engine starts, what stands before it is loaded.
  const trainerParts = loadTrainer().then(parts)
  trainerParts.catch(() => {}) // told below
  const host = await starting
  try {
    const trainer = await createTrainer({ ...(await trainerParts), dir, keys, engine: host })
    return {
      fetch: trainer.fetch,
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

type Parts = {
  readonly choice: EngineChoice
  /** What the trainer knows of its models. */
  parts(): Promise<Pick<TrainerOptions, 'models' | 'archiveFiles'>>
}

async function mockParts({ models }: LocalTrainerOptions): Promise<Parts> {
  return {
    choice: { kind: 'mock', vocabSize: mockVocabSize },
    parts: async () => ({ models: mockCatalog(models) }),
  }
}

async function folderParts({ engine, models, project }: LocalTrainerOptions): Promise<Parts> {
  const folders: Record<string, string> = {}
  for (const name of models) folders[name] = (await resolveModelFolder(name, { project })).folder
  return {
    choice: engine === 'cpu' ? { kind: 'cpu', folders, cacheFolder: cacheFolder() } : { kind: 'reference', folders },
    parts: async () => ({ models: await openFolderCatalog(models, project), archiveFiles: peftFiles(folders) }),
  }
}
