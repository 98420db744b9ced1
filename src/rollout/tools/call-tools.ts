// The calls of one answer, made and answered: every call has a result, and what goes wrong is a result too.
import type { ToolCall } from '../../contracts/index.ts'
import { mapConcurrent, messageOf, onAbort, suggest } from '../../kernel/index.ts'
import type { OfferedTool } from './tool.ts'

export interface CallOptions {
  readonly tools: ReadonlyMap<string, OfferedTool>
  /** Calls of one answer at a time. */
  readonly limit: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface CallResult {
  readonly name: string
  readonly text: string
  readonly isError: boolean
}

/** Results in the order of the calls. Rejects only when cancelled. */
export function callTools(calls: readonly ToolCall[], options: CallOptions): Promise<CallResult[]> {
  return mapConcurrent(calls, { limit: options.limit, signal: options.signal }, (call) => called(call, options))
}

async function called({ function: { name, arguments: args } }: ToolCall, options: CallOptions): Promise<CallResult> {
  const failed = (text: string) => ({ name, text: `error: ${text}`, isError: true })
  const tool = options.tools.get(name)
  if (tool === undefined)
    return failed(`there is no tool called "${name}"; ${suggest(name, [...options.tools.keys()])}`)
  const given = typeof args === 'string' ? parsed(args) : { value: args }
  if ('fault' in given) return failed(given.fault)
  try {
    return { name, text: await inTime(tool, given.value, options), isError: false }
  } catch (error) {
    options.signal.throwIfAborted()
    return failed(messageOf(error))
  }
}

function parsed(text: string): { value: Record<string, unknown> } | { fault: string } {
  if (text.trim() === '') return { value: {} }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { fault: `the arguments are no JSON: ${messageOf(error)}` }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: { ...value } }
  return { fault: 'the arguments are no JSON object' }
}

// A tool may hang and take no notice of its signal: the model gets an answer all the same.
function inTime(tool: OfferedTool, args: Record<string, unknown>, { timeoutMs, signal }: CallOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const stopping = new AbortController()
    const stop = (reason: unknown) => {
      stopping.abort(reason)
      reject(reason)
    }
    const timer = setTimeout(() => stop(new Error(`it took longer than ${timeoutMs / 1000} s`)), timeoutMs)
    const stopListening = onAbort(signal, () => stop(signal.reason))
    Promise.resolve()
      .then(() => tool.call(args, stopping.signal))
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer)
        stopListening()
      })
  })
}
