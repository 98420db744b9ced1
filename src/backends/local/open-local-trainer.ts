// A trainer with all its parts: engine in a thread, base models, text. The one place where they are put together.
import {
  createTrainer,
  engineModule,
  openEngineThread,
  openFolderCatalog,
  peftFiles,
  type Trainer,
} from '../../trainer/index.ts'
import { mockCatalog } from '../mock/mock-catalog.ts'
import { mockVocabSize } from '../mock/special-tokens.ts'

export type EngineKind = 'reference' | 'mock'

export type LocalTrainerOptions = {
  engine: EngineKind
  /** Names or folders of base models. */
  models: readonly string[]
  /** Where relative folders start from. */
  project: string
  dir: string
  keys: readonly string[]
}

/** Opens a trainer and its engine; disposing of it closes both. */
export async function openLocalTrainer({ engine, models, project, dir, keys }: LocalTrainerOptions): Promise<Trainer> {
  const parts = engine === 'mock' ? mockParts(models) : await referenceParts(models, project)
  const thread = await openEngineThread(engineModule(parts.engine))
  try {
    const trainer = await createTrainer({ ...parts.options, dir, keys, engine: thread })
    return {
      fetch: trainer.fetch,
      async [Symbol.asyncDispose]() {
        await trainer[Symbol.asyncDispose]()
        await thread[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await thread[Symbol.asyncDispose]()
    throw error
  }
}

function mockParts(models: readonly string[]) {
  return { engine: { kind: 'mock', vocabSize: mockVocabSize } as const, options: { models: mockCatalog(models) } }
}

async function referenceParts(names: readonly string[], project: string) {
  const models = await openFolderCatalog(names, project)
  const { folders } = models
  return { engine: { kind: 'reference', folders } as const, options: { models, archiveFiles: peftFiles(folders) } }
}
