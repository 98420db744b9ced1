import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { type Brief, Idea } from '../../../contracts/index.ts'
import { checkValue, defineProposer, EvsysError, fileError } from '../../../kernel/index.ts'

/** An idea whose outcome is known. */
const BankedIdea = z.strictObject({
  idea: Idea,
  outcome: z.number().optional().describe('Gain that it had when it was run; for reading, it decides nothing.'),
})
type BankedIdea = z.infer<typeof BankedIdea>

const params = z.strictObject({
  file: z.string().min(1).describe('Lines of {idea, outcome}.'),
  families: z
    .array(z.string().min(1))
    .optional()
    .describe('Families to answer from, in this order; absent: all, as the file has them.'),
})

/** Ideas that are kept for later, in the order they were put down: the next that was not tried, of a family that is wanted. */
export const bank = defineProposer({
  kind: 'bank',
  summary:
    'Answers with the next untried idea of a file, of the families that are asked for: real ideas with no model.',
  params,
  async propose(brief, { params: { file, families } }) {
    const banked = await readBank(file)
    const order = (family: string) => (families === undefined ? 0 : families.indexOf(family))
    const wanted = untried(banked, brief)
      .filter(({ family }) => order(family) >= 0)
      .sort((a, b) => order(a.family) - order(b.family))
    return { ideas: brief.repair === undefined ? wanted.slice(0, Math.max(1, brief.request.ideas)) : [] }
  },
})

/** Ideas of the bank that are neither tried nor unwanted. An idea is known by its title and family. */
function untried(banked: readonly BankedIdea[], { state, request }: Brief): Idea[] {
  const tried = new Set(state.attempts.map(({ title, family }) => `${family}\n${title}`))
  const unwanted = new Set([...state.banned, ...request.avoidFamilies])
  return banked
    .map(({ idea }) => idea)
    .filter(({ title, family }) => !tried.has(`${family}\n${title}`) && !unwanted.has(family))
}

async function readBank(file: string): Promise<BankedIdea[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw fileError('read', file, cause)
  })
  return text.split('\n').flatMap((line, place) => {
    if (line.trim() === '') return []
    const checked = checkValue(BankedIdea, parsed(line))
    if (checked.ok) return [checked.value]
    const [issue] = checked.issues
    const why = `${issue?.path.join('.')}: ${issue?.message}`
    throw new EvsysError('DATA_INVALID', `line ${place + 1} of ${file} is no idea: ${why}`, {
      fix: 'write every line as {"idea": {...}, "outcome": number}.',
    })
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
