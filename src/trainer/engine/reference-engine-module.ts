// The reference engine as a module for a thread. Names were resolved before: it is told the folder of each.
import * as z from 'zod'
import type { Engine } from '../../contracts/index.ts'
import { createReferenceEngine } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { openTokenizer } from '../../models/index.ts'

const Options = z.strictObject({ folders: z.record(z.string(), z.string()) })

export function openEngine(options: unknown): Engine {
  const { folders } = Options.parse(options)
  return createReferenceEngine({
    async resolve(name) {
      const folder = Object.hasOwn(folders, name) ? folders[name] : undefined
      if (folder === undefined) throw new EvsysError('MODEL_MISSING', `no base model is called "${name}" here`)
      const tokenizer = await openTokenizer(folder)
      return { folder, decode: (tokens) => tokenizer.decode(Int32Array.from(tokens)) }
    },
  })
}
