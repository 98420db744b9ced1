// What a model types: one JSON object, or the same as XML. Small slips are forgiven, with a warning; what cannot be understood is reported
// to the model.
import * as z from 'zod'
import { messageOf } from '../../kernel/index.ts'

interface TerminalCommand {
  /** Sent as they are; a name such as `C-c` alone stands for that key. */
  readonly keystrokes: string
  readonly durationS: number
}

interface TerminalReply {
  readonly commands: readonly TerminalCommand[]
  readonly isComplete: boolean
  readonly warnings: readonly string[]
}

export type TerminalFormat = 'json' | 'xml'

/** Longest that is waited after one command, whatever the model asks for. */
const maxDurationS = 60

const Command = z.looseObject({ keystrokes: z.string(), duration: z.coerce.number().min(0).catch(1).default(1) })
const Reply = z.looseObject({
  commands: z.array(Command).default([]),
  task_complete: z.union([z.boolean(), z.stringbool()]).default(false),
})

const longestReply = 1_000_000

export function readTerminalReply(text: string, format: TerminalFormat): TerminalReply | { fault: string } {
  if (text.length > longestReply) return { fault: `it has more than ${longestReply} characters` }
  return format === 'json' ? readJson(text) : readXml(text)
}

function readJson(text: string): TerminalReply | { fault: string } {
  const found = jsonObjectIn(text)
  if (found === undefined) return { fault: 'there is no JSON object in it' }
  let value: unknown
  try {
    value = JSON.parse(found.json)
  } catch (error) {
    // A newline within a text is the slip that models make most.
    try {
      value = JSON.parse(escapedNewlines(found.json))
    } catch {
      return { fault: `its JSON is not well formed: ${messageOf(error)}` }
    }
  }
  const parsed = Reply.safeParse(value)
  if (!parsed.success) return { fault: z.prettifyError(parsed.error) }
  const keys = Object.keys(Object(value))
  const warnings = [
    ...['analysis', 'plan', 'commands'].filter((key) => !keys.includes(key)).map((key) => `"${key}" is missing`),
    ...(found.hasMore ? ['there is text around the JSON object'] : []),
  ]
  if (!keys.includes('commands') && !keys.includes('task_complete')) return { fault: '"commands" is missing' }
  const { commands, task_complete } = parsed.data
  return replyOf(
    commands.map(({ keystrokes, duration }) => ({ keystrokes, duration })),
    task_complete,
    warnings,
  )
}

function readXml(text: string): TerminalReply | { fault: string } {
  const from = text.indexOf('<response>')
  if (from < 0) return { fault: 'there is no <response> in it' }
  const body = between(text, '<response>', '</response>') ?? text.slice(from)
  const list = between(body, '<commands>', '</commands>')
  const isComplete = /<task_complete>\s*true\s*<\/task_complete>/i.test(body)
  if (list === undefined && !isComplete) return { fault: 'there are no <commands> in it' }
  // Up to the last one that is closed: beyond it, each start would be followed to the end.
  const closed = list?.slice(0, list.lastIndexOf('</keystrokes>') + '</keystrokes>'.length) ?? ''
  const commands = [...closed.matchAll(/<keystrokes([^>]{0,200})>([\s\S]*?)<\/keystrokes>/g)].map(
    ([, attributes = '', keys = '']) => ({
      keystrokes: keys
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&'),
      duration: Number(/duration="([\d.]+)"/.exec(attributes)?.[1] ?? 1),
    }),
  )
  return replyOf(commands, isComplete, [])
}

function between(text: string, open: string, close: string): string | undefined {
  const start = text.indexOf(open)
  const end = start < 0 ? -1 : text.indexOf(close, start)
  return end < 0 ? undefined : text.slice(start + open.length, end)
}

function replyOf(
  commands: readonly { keystrokes: string; duration: number }[],
  isComplete: boolean,
  warnings: readonly string[],
): TerminalReply {
  return {
    commands: commands.map(({ keystrokes, duration }) => ({
      keystrokes,
      durationS: Number.isFinite(duration) ? Math.min(duration, maxDurationS) : 1,
    })),
    isComplete,
    warnings,
  }
}

/** The first object in a text, by its braces; those within texts do not count. */
function jsonObjectIn(text: string): { json: string; hasMore: boolean } | undefined {
  const start = text.indexOf('{')
  if (start === -1) return undefined
  let depth = 0
  let isText = false
  for (let i = start; i < text.length; i++) {
    const char = text[i]
    if (isText) {
      if (char === '\\') i++
      else if (char === '"') isText = false
    } else if (char === '"') isText = true
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) {
      const around = text.slice(0, start) + text.slice(i + 1)
      return { json: text.slice(start, i + 1), hasMore: around.replace(/```(?:json)?/g, '').trim() !== '' }
    }
  }
  return { json: text.slice(start), hasMore: false }
}

function escapedNewlines(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\[\s\S])*"/g, (text) =>
    text.replaceAll('\r', '').replaceAll('\n', '\\n').replaceAll('\t', '\\t'),
  )
}
