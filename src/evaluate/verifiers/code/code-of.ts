// The code in an answer: models put it between fences, with words around it.

const names: Readonly<Record<string, readonly string[]>> = {
  python: ['python', 'py', 'python3'],
  javascript: ['javascript', 'js', 'node', 'mjs', 'cjs'],
  sh: ['sh', 'bash', 'shell', 'console'],
}

/** The last block of the language, else the last block, else the whole answer. */
export function codeOf(output: string, language?: string): string {
  const blocks: { name: string; text: string }[] = []
  let open: { fence: string; name: string; lines: string[] } | undefined
  for (const line of output.split('\n')) {
    const [, fence = '', name = ''] = /^\s*(`{3,}|~{3,})\s*([^\s`]*)/.exec(line) ?? []
    if (open === undefined && fence !== '') open = { fence, name: name.toLowerCase(), lines: [] }
    else if (open !== undefined && fence.startsWith(open.fence) && name === '') {
      blocks.push({ name: open.name, text: open.lines.join('\n') })
      open = undefined
    } else open?.lines.push(line)
  }
  // An answer that was cut short ends inside its block.
  if (open !== undefined) blocks.push({ name: open.name, text: open.lines.join('\n') })
  const fitting = blocks.filter(({ name }) => language !== undefined && names[language]?.includes(name) === true)
  return (fitting.at(-1) ?? blocks.at(-1))?.text ?? output
}
