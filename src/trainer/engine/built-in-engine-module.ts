// The built-in engines as a module for a thread or process.
import { isMainThread } from 'node:worker_threads'
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { loadCpuEngine, loadMockEngine, loadReferenceEngine, type ResolvedModel } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { EngineContext } from './engine-module.ts'

// Of a process, which only the CPU engine has: its kernels load with this module, before an engine is opened.
const cpuEngine = isMainThread ? loadCpuEngine() : undefined
cpuEngine?.catch(() => {}) // reported when one is opened

const folders = z.record(z.string(), z.string())
const Choice = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('mock'), vocabSize: z.int().min(1) }),
  z.strictObject({ kind: z.literal('reference'), folders }),
  z.strictObject({ kind: z.literal('cpu'), folders, cacheFolder: z.string() }),
])

export async function openEngine(options: unknown, { notice }: EngineContext): Promise<Engine> {
  const choice = Choice.parse(options)
  if (choice.kind === 'mock') return (await loadMockEngine()).createMockEngine(choice)
  const resolve = folderModels(choice.folders)
  if (choice.kind === 'reference') return (await loadReferenceEngine()).createReferenceEngine({ resolve })
  const { openCpuEngine } = await (cpuEngine ?? loadCpuEngine())
  const [only, ...others] = Object.keys(choice.folders)
  const preload = others.length > 0 ? undefined : only
  return openCpuEngine({ resolve, cacheFolder: choice.cacheFolder, onBuild: notice, preload })
}

type Decode = Awaited<ReturnType<NonNullable<ResolvedModel['openDecode']>>>

/** How an engine finds base models. Names were resolved before: the folder of each is known. */
function folderModels(known: Readonly<Record<string, string>>): (name: string) => Promise<ResolvedModel> {
  const decodes = new Map<string, Promise<Decode>>()
  return async (name) => {
    const folder = Object.hasOwn(known, name) ? known[name] : undefined
    if (folder === undefined) {
      throw new EvsysError('MODEL_MISSING', `no base model is called "${name}" here`, {
        fix: `name one that this trainer serves: ${Object.keys(known).join(', ')}.`,
      })
    }
    return {
      folder,
      openDecode() {
        const opening = decodes.get(folder) ?? openDecode(folder)
        decodes.set(folder, opening)
        opening.catch(() => decodes.delete(folder)) // files can be mended
        return opening
      },
    }
  }
}

async function openDecode(folder: string): Promise<Decode> {
  const { openTokenizer } = await import('../../models/index.ts') // most requests stop at tokens
  const tokenizer = await openTokenizer(folder)
  return (tokens) => tokenizer.decode(Int32Array.from(tokens))
}
