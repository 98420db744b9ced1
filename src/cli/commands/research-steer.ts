// `evsys research steer`: a word to a session, running or not, kept with its author.
import { Idea, Steering } from '../../contracts/index.ts'
import { EvsysError, messageOf, suggest, systemClock, visibleText } from '../../kernel/index.ts'
import { loadResearchLoop } from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { authorOf } from './conclude.ts'

type ResearchSteerOptions = {
  readonly task?: string | undefined
  readonly session?: string | undefined
  readonly idea?: string | undefined
  readonly author?: string | undefined
}

export async function researchSteer(
  context: CommandContext,
  verb: string,
  word: string | undefined,
  options: ResearchSteerOptions,
): Promise<ExitCode> {
  const { output, env } = context
  const steering = steeringOf(verb, word, options.idea)
  const author = authorOf((options.author ?? env.EVSYS_AUTHOR) || undefined)
  return await withRecord(context, {}, async ({ store }) => {
    const { findResearchSession, steerSession } = await loadResearchLoop()
    const { id, name } = await findResearchSession(store, options)
    await steerSession(store, id, { author, steering, clock: systemClock })
    const holder = await store.leases.holder(`research:${id}`)
    output.result({ experiment_id: id, task: name, author, steering, controller: holder?.note ?? null }, () => {
      const when =
        holder === undefined ? 'it counts when the session is resumed' : `${holder.note} acts on it at its next step`
      const what = 'text' in steering ? steering.text : word
      return `${output.colors.green('noted')} ${verb}${what === undefined ? '' : ` ${visibleText(what)}`} for ${name} (${id}); ${when}`
    })
    return exitCodes.done
  })
}

const verbs: Record<string, (word: string, idea: Idea | undefined) => Steering> = {
  'add-idea': (word, idea) => ({ action: 'add_idea', text: word === '' ? (idea?.title ?? '') : word, idea }),
  ban: (family) => ({ action: 'ban_family', family }),
  allow: (family) => ({ action: 'allow_family', family }),
  pin: (attempt) => ({ action: 'pin', attempt }),
  unpin: () => ({ action: 'unpin' }),
  veto: (attempt) => ({ action: 'veto', attempt }),
  keep: (attempt) => ({ action: 'override', attempt, verdict: 'keep' }),
  discard: (attempt) => ({ action: 'override', attempt, verdict: 'discard' }),
  confirm: () => ({ action: 'confirm' }),
  pause: () => ({ action: 'pause' }),
  resume: () => ({ action: 'resume' }),
}

/** What may be said. */
export const steeringVerbs: readonly string[] = Object.keys(verbs)

function steeringOf(verb: string, word: string | undefined, written: string | undefined): Steering {
  const make = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (make === undefined) {
    throw new EvsysError('CLI_USAGE', `there is no verb "${verb}"`, { fix: suggest(verb, steeringVerbs) })
  }
  const parsed = Steering.safeParse(make(word?.trim() ?? '', ideaOf(written)))
  if (parsed.success) return parsed.data
  const [what, example] =
    verb === 'add-idea'
      ? ['an idea of up to 4000 characters', '"try a cosine schedule"']
      : verb === 'ban' || verb === 'allow'
        ? ['a family of ideas', 'optimizer']
        : ['the id of an experiment', 'a3']
  throw new EvsysError('CLI_USAGE', `${verb} needs ${what}`, {
    fix: `such as \`evsys research steer ${verb} ${example}\`.`,
  })
}

function ideaOf(written: string | undefined): Idea | undefined {
  if (written === undefined) return undefined
  try {
    return Idea.parse(JSON.parse(written))
  } catch (cause) {
    throw new EvsysError('CLI_USAGE', `--idea is no idea: ${messageOf(cause)}`, {
      cause,
      fix: 'write {"title": "...", "hypothesis": "...", "family": "...", "category": "optimizer", "change": {"kind": "knobs", "knobs": {"RATE": 0.1}}}.',
    })
  }
}
