// Why a coding agent gave nothing, as an error that says what to do.
import type { Usage } from '../../../contracts/index.ts'
import { EvsysError, messageOf } from '../../../kernel/index.ts'
import { proposalError } from '../ledger/proposal-usage.ts'
import type { AgentPreset } from './agent-presets.ts'
import type { AgentReport } from './agent-report.ts'

/** It could not be started. */
export function startError(program: string, preset: AgentPreset | undefined, cause: unknown): EvsysError {
  const isMissing = typeof cause === 'object' && cause !== null && Reflect.get(cause, 'code') === 'ENOENT'
  if (preset === undefined || !isMissing)
    return new EvsysError('AGENT_FAILED', `${program} cannot be started: ${messageOf(cause)}`, {
      cause,
      fix: 'install the program, or write `command` with the path that it has on this machine.',
    })
  return new EvsysError('AGENT_FAILED', `${preset.title} is not installed: there is no ${program} on the PATH`, {
    cause,
    fix: `${installed(preset)}, or write \`command\` with the path that it has on this machine.`,
  })
}

interface AgentEnding {
  readonly preset: AgentPreset | undefined
  /** `ended with 1`. */
  readonly how: string
  readonly report: AgentReport
  readonly stderr: string
  /** The end of its output, quoted. */
  readonly said: string
  readonly usage: Usage | undefined
}

/** It ended badly. */
export function endError({ preset, how, report, stderr, said, usage }: AgentEnding): EvsysError {
  const byHand = 'start its command by hand in an empty folder: it must work without a person.'
  if (preset === undefined) return proposalError('AGENT_FAILED', `the agent ${how}:\n${said}`, usage, { fix: byHand })
  const { title, since } = preset
  const option = /unknown option '?(-[\w-]+)|unexpected argument '(-[\w-]+)'/.exec(stderr)
  if (option !== null)
    return proposalError('AGENT_FAILED', `${title} does not know ${option[1] ?? option[2]}: it is too old`, usage, {
      fix: `${installed(preset)}; ${since} or newer is needed.`,
    })
  if (report.failure === undefined)
    return proposalError('AGENT_FAILED', `${title} ${how}:\n${said}`, usage, { fix: byHand })
  const { text, status } = report.failure
  const { code, fix } = kindOf(text, status, preset)
  return proposalError(code, `${title} gave up: ${text}`, usage, { fix })
}

function kindOf(text: string, status: number | undefined, preset: AgentPreset) {
  const refused = (fix: string) => ({ code: 'INFERENCE_REFUSED' as const, fix })
  if (/credit balance|insufficient_quota|usage limit/i.test(text)) return refused('add credit to the account.')
  if (status === 401 || status === 403 || /not logged in|invalid api key|missing environment variable/i.test(text))
    return refused(
      `set ${preset.secret} to a key that is valid, or log in by hand (${preset.login}) and write use_home: true.`,
    )
  if (status === 429 || (status ?? 0) >= 500 || /connection|disconnected|network|timed? ?out/i.test(text))
    return { code: 'INFERENCE_FAILED' as const, fix: 'check the network and base_url, or try again later.' }
  if (/maximum (?:budget|number of turns)/i.test(text))
    return { code: 'AGENT_FAILED' as const, fix: 'raise the cap of the session (--budget usd=...) or its option.' }
  if (status !== undefined) return refused('check `model` and `base_url`.')
  return {
    code: 'AGENT_FAILED' as const,
    fix: 'start its command by hand in an empty folder: it must work without a person.',
  }
}

function installed({ package: name }: AgentPreset): string {
  return `install it with \`npm install -g ${name}\``
}
