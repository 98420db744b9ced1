// What plugins log becomes events of their run, so many and no more: a line in a hot loop must not bury the record. What is
// left out is counted and told.
import type { LogLevel } from '../../contracts/index.ts'
import { createRateBound, type RateBound } from '../../kernel/index.ts'
import type { RunReporter } from '../train/run-scope.ts'

export interface PluginLog {
  log(level: LogLevel, text: string): void
  /** Tells what was left out. */
  close(): void
}

const burst = 500
const perSecond = 20
const longestText = 10_000

export function createPluginLog(
  { tell }: RunReporter,
  bound: RateBound = createRateBound({ burst, perSecond }),
): PluginLog {
  let dropped = 0
  // A segment that cannot be written fails the run at the next event that it waits for.
  const write = (level: LogLevel, text: string) => void tell({ type: 'log', level, text }).catch(() => {})
  const tellDropped = () => {
    if (dropped === 0) return
    write('warn', `${dropped} more log ${dropped === 1 ? 'line was' : 'lines were'} left out: they came too fast`)
    dropped = 0
  }
  return {
    log(level, text) {
      if (!bound.take(1)) {
        dropped += 1
        return
      }
      tellDropped()
      write(levels.has(level) ? level : 'info', cut(String(text)))
    },
    close: tellDropped,
  }
}

const levels: ReadonlySet<unknown> = new Set<LogLevel>(['debug', 'info', 'warn', 'error'])

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}... (${text.length} characters)`
}
