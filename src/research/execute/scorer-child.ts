// The process of a sealed scorer. It alone reads the labels of val and test; the candidate runs in a sandbox elsewhere and
// hears questions, and nothing that it says is run here.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { messageOf, type Parent, serve } from '../../kernel/index.ts'
import { readCheckpoint } from './run-folder.ts'
import { AnyItems, AnyNumber, type ScorerStart, scorerProtocol } from './scorer-protocol.ts'

type Score = (context: Readonly<Record<string, unknown>>) => unknown

// The function is checked apart: a schema would wrap it.
const Scorer = z.looseObject({
  metric: z.string().optional(),
  score: z.custom<Score>((it) => typeof it === 'function'),
})
const Scored = z.looseObject({
  value: AnyNumber,
  secondary: z.record(z.string(), z.unknown()).optional(),
  items: AnyItems.optional(),
})

await serve(scorerProtocol, (parent) => ({ score: (start) => scoreCandidate(start, parent) }))

async function scoreCandidate(
  { scorer, hash, metric, split, data_dir, out_dir, checkpoint_bytes, engine, seed }: ScorerStart,
  parent: Parent<typeof scorerProtocol>,
) {
  let hasSeen = false // something of the candidate
  const ask = async (question: unknown): Promise<unknown> => {
    hasSeen = true
    return JSON.parse(await parent.call('ask', question))
  }
  const checkpoint = async (path: string) => {
    hasSeen = true
    parent.notify('read', null)
    return await readCheckpoint(out_dir, path, checkpoint_bytes)
  }
  const score = async () => {
    if (createHash('sha256').update(readFileSync(scorer)).digest('hex') !== hash)
      throw new Error(`${scorer} is not the file that the task was opened with`)
    const loaded: unknown = await import(pathToFileURL(scorer).href)
    const { default: exported } = z.looseObject({ default: Scorer }).parse(loaded)
    if (exported.metric !== undefined && exported.metric !== metric)
      throw new Error(`${scorer} scores ${exported.metric}, the task asks for ${metric}`)
    const load = engine === undefined ? undefined : async () => await import(pathToFileURL(engine).href)
    return Scored.parse(await exported.score({ split, dataDir: data_dir, ask, checkpoint, seed, engine: load }))
  }
  try {
    const { value, secondary = {}, items } = await score()
    const numbers = Object.entries(secondary).filter((each): each is [string, number] => typeof each[1] === 'number')
    return { value, secondary: Object.fromEntries(numbers), ...(items === undefined ? {} : { items }) }
  } catch (cause) {
    const whose: 'candidate' | 'scorer' = hasSeen || isFault(cause) ? 'candidate' : 'scorer'
    return { whose, message: messageOf(cause) }
  }
}

/** A scorer says by the name of an error that the candidate is to blame. */
function isFault(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'CandidateError'
}
