// Text that others wrote, made fit to stand in a prompt: what it says can be read, and none of it can pass for an instruction of ours.
import { type Redact, visibleText } from '../../../kernel/index.ts'

// Marks of chat formats: a model that knows them would take what follows for another speaker.
const marks =
  /<\|(?=[\w/])|\|>|<\/?(?=(?:system|user|assistant|human|s|think|tool_call|function_call)\b)|\[(?=\/?INST\])/gi

/** One line between quotation marks, at most so long. */
export function quoteLine(text: string, most: number, redact: Redact): string {
  return `"${clip(oneLine(text, redact).replaceAll('"', "'"), most)}"`
}

/** One line that stands by itself. */
export function plainLine(text: string, most: number, redact: Redact): string {
  return clip(oneLine(text, redact), most)
}

/**
 * The end of a log between fences. Every line begins with a bar, so that none can close the fence or look like a heading. Empty text
 * gives no lines.
 */
export function quoteLog(
  text: string,
  most: { readonly lines: number; readonly characters: number },
  redact: Redact,
): string[] {
  const clean = harmless(redact(visibleText(redact(text.slice(-most.characters * 4)), { newlines: true })))
  const lines = clean
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-most.lines)
    .map((line) => `| ${clip(line, 200)}`)
  let size = 0
  const kept: string[] = []
  for (const line of lines.reverse()) {
    size += line.length + 1
    if (size > most.characters) break
    kept.unshift(line)
  }
  return kept.length === 0 ? [] : ['```text', ...kept, '```']
}

/** At most so many characters; what was cut is shown. Never half of a surrogate pair. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.slice(0, Math.max(0, most - 1)).replace(/[\uD800-\uDBFF]$/, '')
  return `${cut}…`.slice(0, Math.max(0, most))
}

function oneLine(text: string, redact: Redact): string {
  const flat = visibleText(redact(text).replace(/\s+/g, ' ')).trim()
  return harmless(redact(flat))
}

function harmless(text: string): string {
  return text.replace(marks, (mark) => `${mark[0]} ${mark.slice(1)}`).replaceAll('```', "'''")
}
