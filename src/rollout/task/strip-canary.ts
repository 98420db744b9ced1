// Benchmarks mark their files by canary comments, so that they can be found in training data. They are not for the agent.

const canary = /^(<!--.*canary.*-->|#.*canary.*)$/i

/** A text without its leading canary lines and the blank lines right after them. */
export function stripCanary(text: string): string {
  const lines = text.split('\n')
  let start = 0
  while (start < lines.length && canary.test((lines[start] ?? '').trim())) start++
  while (start < lines.length && (lines[start] ?? '').trim() === '') start++
  return lines.slice(start).join('\n')
}
