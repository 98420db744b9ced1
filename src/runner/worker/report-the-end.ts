// Tells the controller why a worker's process ends, where that can be told: foreign code called process.exit, or threw where
// nobody catches.
import type { workerProtocol } from '../../contracts/index.ts'
import { messageOf, type Parent, placeInStack } from '../../kernel/index.ts'

/** Installs it, and returns what reports an error and ends the process. `files` are the author's, to find the line in; `clean` removes secrets. */
export function reportTheEnd({
  parent,
  files,
  clean,
}: {
  parent: Parent<typeof workerProtocol>
  files: () => readonly string[]
  clean: (text: string) => string
}): (cause: unknown) => void {
  const end = (message: string, fix: string, cause: unknown) => {
    const where = placeInStack(cause, files())?.where
    parent.notify('failing', { code: 'WORKER_DIED', message: clean(message), fix, where })
    parent.leave()
  }
  const exit = (code?: unknown): never => {
    const cause = new Error('process.exit')
    end(
      `the recipe ended its process with process.exit(${code === undefined ? '' : String(code)})`,
      'throw an error instead: the run fails with its message.',
      cause,
    )
    throw cause // the process is being killed; nothing after the call may run
  }
  process.exit = exit
  const crash = (cause: unknown) =>
    end(
      `an error was thrown where nothing catches it: ${messageOf(cause)}`,
      'await every promise, and catch errors in timers and event handlers.',
      cause,
    )
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  return crash
}
