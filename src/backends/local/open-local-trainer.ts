// A trainer with all its parts: engine in a thread or process, base models, text. The one place where they are put together.
import { cacheFolder } from '../../models/index.ts'
import {
  createTrainer,
  type EngineChoice,
  engineModule,
  openEngineHost,
  openFolderCatalog,
  peftFiles,
  type Trainer,
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
  const { engine, models, project, dir, keys, onNotice } = options
  const parts = engine === 'mock' ? mockParts(models) : await folderParts(engine, models, project)
  const host = await openEngineHost(engineModule(parts.engine), onNotice === undefined ? {} : { onNotice })
  try {
    const trainer = await createTrainer({ ...parts.options, dir, keys, engine: host })
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

function mockParts(models: readonly string[]) {
  return { engine: { kind: 'mock', vocabSize: mockVocabSize } as const, options: { models: mockCatalog(models) } }
}

async function folderParts(kind: Exclude<EngineKind, 'mock'>, names: readonly string[], project: string) {
  const models = await openFolderCatalog(names, project)
  const { folders } = models
  const engine: EngineChoice = kind === 'cpu' ? { kind, folders, cacheFolder: cacheFolder() } : { kind, folders }
  return { engine, options: { models, archiveFiles: peftFiles(folders) } }
}
