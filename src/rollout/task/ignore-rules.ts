// Patterns of a .gitignore as Python's pathspec reads them, since Harbor's digests are made with it: the last pattern that
// matches decides, and a negated one also brings back files of an ignored folder.

/** Whether the lines of a .gitignore leave out the file at a path, relative and with forward slashes. */
export function ignoreRules(lines: readonly string[]): (path: string) => boolean {
  const rules = lines.flatMap((line) => compile(line) ?? [])
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.ignores ?? false
}

type Rule = { pattern: RegExp; ignores: boolean }

function compile(line: string): Rule | undefined {
  let text = line.endsWith('\\ ') ? line : line.trimEnd()
  if (text === '' || text.startsWith('#') || text === '/') return undefined
  const ignores = !text.startsWith('!')
  if (!ignores) text = text.slice(1)
  const parts = text.split('/')
  if (parts[0] === '') parts.shift()
  // A pattern without a slash, or with one at its end alone, matches at any depth.
  else if (parts.length === 1 || (parts.length === 2 && parts[1] === '')) parts.unshift('**')
  if (parts.at(-1) === '' && parts.length > 1) parts[parts.length - 1] = '**'
  const steps = parts.filter((part, index) => part !== '**' || parts[index - 1] !== '**')
  const pattern = join(steps)
  return pattern === undefined ? undefined : { pattern, ignores }
}

function join(parts: readonly string[]): RegExp | undefined {
  let source = '^'
  let needsSlash = false
  const last = parts.length - 1
  for (const [index, part] of parts.entries()) {
    if (part === '') return undefined
    if (part === '**') {
      if (index === 0 && index === last) source += '.+'
      else if (index === 0) source += '(?:.+/)?'
      else if (index === last) source += '/.*'
      else source += '(?:/.+)?'
      if (index === 0) continue
    } else {
      source += `${needsSlash ? '/' : ''}${part === '*' ? '[^/]+' : glob(part)}${index === last ? '(?:/.*)?' : ''}`
    }
    needsSlash = true
  }
  try {
    return new RegExp(`${source}$`, 'su')
  } catch {
    return undefined // a range such as [z-a]: a pattern that matches nothing
  }
}

function glob(part: string): string {
  let source = ''
  for (let index = 0; index < part.length; index++) {
    const letter = part[index] ?? ''
    if (letter === '\\') {
      index++
      source += literal(part[index] ?? '\\')
    } else if (letter === '*') source += '[^/]*'
    else if (letter === '?') source += '[^/]'
    else if (letter === '[') {
      const end = part.indexOf(']', index + (/[!^]/.test(part[index + 1] ?? '') ? 3 : 2))
      if (end === -1) source += literal(letter)
      else {
        source += set(part.slice(index + 1, end))
        index = end
      }
    } else source += literal(letter)
  }
  return source
}

function set(inner: string): string {
  const negated = /^[!^]/.test(inner)
  const body = (negated ? inner.slice(1) : inner).replace(/[\\[\]^]/g, '\\$&')
  return `[${negated ? '^' : ''}${body}]`
}

function literal(letter: string): string {
  return letter.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
}
