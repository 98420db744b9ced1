// How a person follows a session: a line for every experiment as it is decided, and, on a terminal, what is going on below.
import type { ResearchAttempt, ResearchEntry, ResearchState, ResearchTask } from '../../contracts/index.ts'
import { announceWait, type Clock, visibleText } from '../../kernel/index.ts'
import { forecastOf } from '../../research/index.ts'
import type { Colors } from './colors.ts'
import type { LiveSink } from './output.ts'
import { verdictColor } from './research-text.ts'
import { countText, durationText, numberText, shorten, signedText, usdText } from './text.ts'

interface ResearchWatch extends Disposable {
  begin(session: { experimentId: string; state: ResearchState; isResumed: boolean; task: ResearchTask }): void
  follow(entry: ResearchEntry, state: ResearchState): void
}

const drawEveryMs = 250

export function createResearchWatch(options: {
  readonly live: LiveSink
  readonly quiet: boolean
  readonly colors: Colors
  readonly clock: Pick<Clock, 'now'>
}): ResearchWatch {
  const { live, quiet, colors, clock } = options
  if (quiet) return { begin() {}, follow() {}, [Symbol.dispose]() {} }
  let known: ResearchState | undefined
  const draw = () => {
    if (known !== undefined) live.show(liveLines(known, clock.now(), live.columns, colors))
  }
  const timer = live.isTTY ? setInterval(draw, drawEveryMs) : undefined
  const say = (line: string) => live.write(`${line}\n`)
  // On a terminal the lines below say it all the time.
  const waiting = announceWait((seconds) => {
    const busy = known === undefined || live.isTTY ? '' : busyText(known)
    if (busy !== '') say(colors.dim(`      ${visibleText(busy)}: ${durationText(seconds)} so far`))
  })
  return {
    begin({ experimentId, state, isResumed, task }) {
      known = state
      const { settings } = state
      const kind = isResumed ? 'resumes' : 'begins'
      const parts = [settings?.proposer.kind, settings?.strategy.kind, countText(settings?.workers ?? 1, 'worker')]
      say(
        `${colors.bold(visibleText(task.name))} ${kind} (${experimentId}): ${parts.join(', ')}${task.table === undefined && settings?.catalog === undefined ? `, at most ${durationText(task.trainSeconds)} of training a run` : ''}`,
      )
    },
    follow(entry, state) {
      known = state
      for (const line of linesOf(entry, state, colors)) say(line)
      waiting.restart()
      if (live.isTTY) draw()
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      waiting[Symbol.dispose]()
      live.show([])
    },
  }
}

function linesOf(entry: ResearchEntry, state: ResearchState, colors: Colors): string[] {
  switch (entry.type) {
    case 'verdict':
      return [verdictLine(entry.attempt, state, colors)]
    case 'ideas.rejected': {
      const repeats = entry.ideas.filter(({ duplicate_of }) => duplicate_of !== undefined)
      return repeats.map(({ title, duplicate_of }) =>
        colors.dim(`      = ${visibleText(title)}: known as ${duplicate_of}`),
      )
    }
    case 'run.finished': {
      const from = entry.outcome.status === 'scored' ? entry.outcome.reused_from : undefined
      return from === undefined
        ? []
        : [colors.dim(`      = ${entry.run}: as ${visibleText(from)}, nothing was trained`)]
    }
    case 'confirmation':
      return [`      ${(entry.better ?? entry.confirmed) ? colors.green(entry.reason) : colors.yellow(entry.reason)}`]
    case 'look.planned':
      return [colors.dim(`      test evaluation: ${entry.champion} and the baseline on fresh seeds`)]
    case 'ablation':
      return [`      ${entry.attempt} ${visibleText(entry.reason)}`]
    case 'control.finished':
      return entry.drifted ? [colors.yellow(`      ${entry.reason}`)] : []
    case 'steered':
      return [colors.cyan(`      ${visibleText(entry.author)}: ${steeringText(entry.steering)}`)]
    case 'call.lost':
      return [
        colors.yellow(`      call ${entry.call} was never answered; charged ${usdText(entry.charged.usd)}, sent again`),
      ]
    case 'call.failed':
      return [colors.yellow(`      the proposer failed: ${visibleText(entry.reason)}`)]
    default:
      return []
  }
}

function verdictLine(id: string, state: ResearchState, colors: Colors): string {
  const attempt = state.attempts.find((each) => each.id === id)
  if (attempt === undefined) return ''
  const { number, title, verdict, gain, reason } = attempt
  const paint = verdictColor(verdict ?? null, colors)
  const mean = meanOf(attempt)
  const score = mean === undefined ? 'no score' : numberText(mean)
  const change = gain === undefined || number === 0 ? '' : ` ${signedText(gain.mean)}`
  const place = String(number).padStart(4)
  return `${place}  ${visibleText(shorten(title, 60))}  ${score}${change}  ${paint(verdict ?? '')}  ${colors.dim(visibleText(shorten(reason ?? '', 120)))}`
}

function meanOf({ scores }: ResearchAttempt): number | undefined {
  return scores.length === 0 ? undefined : scores.reduce((sum, { value }) => sum + value / scores.length, 0)
}

function steeringText(steering: Extract<ResearchEntry, { type: 'steered' }>['steering']): string {
  const { action, ...rest } = steering
  const words = Object.values(rest).filter((value) => typeof value === 'string')
  return visibleText([action.replace('_', ' '), ...words].join(' '))
}

/** What is in progress; empty: nothing, or it is paused. */
function busyText({ attempts, calls, begun }: ResearchState): string {
  const running = attempts.flatMap((attempt) =>
    attempt.runs
      .filter(({ status }) => status === 'running')
      .map(({ seed, purpose }) => `${attempt.id} seed ${seed} (${purpose})`),
  )
  const asking = calls.filter(({ status }) => status === 'open').map(({ proposer }) => `asking ${proposer}`)
  const checked = begun.flatMap((work) => (work.kind === 'check' ? [`checking ${work.attempt}`] : []))
  return [...running, ...checked, ...asking].join(', ')
}

function liveLines(state: ResearchState, nowMs: number, columns: number, colors: Colors): string[] {
  const { settings, spend, attempts } = state
  const best = attempts.find(({ id }) => id === state.incumbent)
  const mean = best === undefined ? undefined : meanOf(best)
  const { experimentsLeft, rest } = forecastOf(state, spend.tokens > 0)
  const worked = spend.wallS + (state.lastAt === undefined ? 0 : Math.max(0, (nowMs - Date.parse(state.lastAt)) / 1000))
  const cap = settings?.budget.experiments
  const left =
    rest === undefined || experimentsLeft === undefined
      ? ''
      : `, about ${durationText(rest.seconds)}${rest.usd > 0 ? ` and ${usdText(rest.usd)}` : ''} for ${experimentsLeft} more`
  const bill = spend.usd > 0 ? `, ${usdText(spend.usd)}` : ''
  const lines = [
    state.paused ? 'paused' : busyText(state),
    `${spend.experiments}${cap === undefined ? '' : ` of ${cap}`} experiments, best ${best?.id ?? '-'}${mean === undefined ? '' : ` ${numberText(mean)}`}, ${durationText(worked)}${bill}${left}`,
  ]
  return lines.map((line) => colors.dim(visibleText(shorten(line, Math.max(20, columns - 1)))))
}
