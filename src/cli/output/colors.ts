// Whether a stream gets colours. Only what a person looks at is coloured: a pipe, a file and --json are not, unless asked.
import pc from 'picocolors'
import type { CliIo, TextSink } from './io.ts'

export type Colors = ReturnType<typeof pc.createColors>

/** Colours that change nothing. */
export const plainColors: Colors = pc.createColors(false)

/** Colours for one stream; plain ones where colour is not wanted. */
export function colorsFor(stream: TextSink, env: CliIo['env']): Colors {
  return wantsColor(stream, env) ? pc.createColors(true) : plainColors
}

/** Order of wishes: NO_COLOR, FORCE_COLOR, then whether a terminal is there to show colours. */
export function wantsColor(stream: TextSink, env: CliIo['env']): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false // no-color.org: set and not empty
  const force = env.FORCE_COLOR
  if (force !== undefined) return force !== '0' && force !== 'false'
  return stream.isTTY === true && env.TERM !== 'dumb'
}
