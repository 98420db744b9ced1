// Numbers what a run has to tell. Events count from the assignment's cursors on, so that every attempt continues the stream.
import type { Item, RunEvent } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

export interface RunReporter {
  tell(event: Body<RunEvent>): Promise<void>
}

/** `write` stores an item under its number and resolves when it may be forgotten here. */
export function createRunReporter(options: {
  runId: string
  nextItem: number
  nextEvent: number
  clock: Clock
  write(number: number, item: Item): Promise<void>
}): RunReporter {
  let item = options.nextItem
  let event = options.nextEvent
  return {
    tell(body) {
      const at = new Date(options.clock.now()).toISOString()
      const whole = { ...body, seq: event, at, run_id: options.runId } as RunEvent // the three fields that Body leaves out
      event += 1
      item += 1
      return options.write(item - 1, whole)
    },
  }
}
