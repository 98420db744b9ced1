// The process of a sealed scorer. It alone reads the labels of val and test; the candidate runs in a sandbox elsewhere and
// hears questions, and nothing that it says is run here.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { messageOf, openParentLink } from '../../kernel/index.ts'
import { readCheckpoint } from './read-checkpoint.ts'
import { AnyNumber, type FromScorer, ScorerStart, ToScorer } from './scorer-protocol.ts'

type Score = (context: Readonly<Record<string, unknown>>) => unknown

// The function is looked at apart: a schema would wrap it.
const Scorer = z.looseObject({
  metric: z.string().optional(),
  score: z.custom<Score>((it) => typeof it === 'function'),
})
const Scored = z.looseObject({
  value: AnyNumber,
  secondary: z.record(z.string(), z.unknown()).optional(),
})

async function main(): Promise<void> {
  const link = await openParentLink()
  const say = (message: FromScorer) => link.say(message)
  const { scorer, hash, metric, split, data_dir, out_dir, checkpoint_bytes, engine, seed } = ScorerStart.parse(
    link.start,
  )
  const waiting = new Map<number, (answer: unknown) => void>()
  let asked = 0
  let hasRead = false
  const ask = (question: unknown) =>
    new Promise((resolve) => {
      asked += 1
      waiting.set(asked, resolve)
      say({ type: 'ask', ask: asked, question })
    })
  const score = async () => {
    if (createHash('sha256').update(readFileSync(scorer)).digest('hex') !== hash)
      throw new Error(`${scorer} is not the file that the task was opened with`)
    const loaded: unknown = await import(pathToFileURL(scorer).href)
    const { default: exported } = z.looseObject({ default: Scorer }).parse(loaded)
    if (exported.metric !== undefined && exported.metric !== metric)
      throw new Error(`${scorer} scores ${exported.metric}, the task asks for ${metric}`)
    const checkpoint = async (path: string) => {
      hasRead = true
      say({ type: 'read' })
      return await readCheckpoint(out_dir, path, checkpoint_bytes)
    }
    const load = { engine: async () => await import(pathToFileURL(engine ?? '').href) }
    const context = { split, dataDir: data_dir, ask, checkpoint, seed, ...(engine === undefined ? {} : load) }
    return Scored.parse(await exported.score(context))
  }
  const answers = async () => {
    for await (const message of link.messages) {
      const told = ToScorer.parse(message)
      waiting.get(told.ask)?.(JSON.parse(told.answer))
      waiting.delete(told.ask)
    }
  }
  answers().catch(() => link.leave())
  try {
    const { value, secondary = {} } = await score()
    const numbers = Object.entries(secondary).filter((each): each is [string, number] => typeof each[1] === 'number')
    say({ type: 'scored', value, secondary: Object.fromEntries(numbers) })
  } catch (cause) {
    // Before it reads or asks it has seen nothing of the candidate.
    const whose = asked > 0 || hasRead || isFault(cause) ? 'candidate' : 'scorer'
    say({ type: 'failed', whose, message: messageOf(cause) })
  }
}

/** A scorer says by the name of an error that the candidate is to blame. */
function isFault(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'CandidateError'
}

await main()
