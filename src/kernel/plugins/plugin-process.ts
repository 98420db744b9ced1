// One child process that holds plugins. What it says is believed no further than the schema of a message goes.
import { extname } from 'node:path'
import { type GuardedProcess, startGuardedProcess } from '../processes/guarded-process.ts'
import { ChildMessage, type StartMessage } from './plugin-protocol.ts'

/** What plugins may print; more is a loop that nobody reads. */
export const printedMb = 1

/** Starts a process. Its event loop does not keep ours alive: whoever waits for an answer holds a timer. */
export function startPluginProcess(
  start: StartMessage,
  onMessage: (message: ChildMessage) => void,
): Pick<GuardedProcess, 'send' | 'stop' | 'ended'> {
  let printed = 0
  return startGuardedProcess({
    script: new URL(`./plugin-child${extname(import.meta.url)}`, import.meta.url),
    start,
    ...(start.projectDir === undefined ? {} : { cwd: start.projectDir }),
    heapMb: 512,
    memoryMb: 2048,
    onMessage: (message) => onMessage(ChildMessage.parse(message)),
    onPrinted(text) {
      printed += text.length
      return printed <= printedMb * 1024 * 1024
    },
  })
}
