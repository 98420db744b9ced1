// A unified diff as data. Models count badly: the numbers of a hunk are hints, its lines are what counts.

export interface Hunk {
  /** First line in the old file, as stated; undefined: not stated. */
  readonly at: number | undefined
  readonly lines: readonly { readonly kind: ' ' | '-' | '+'; readonly text: string }[]
}

export interface FilePatch {
  /** undefined: the file is new. */
  readonly from: string | undefined
  /** undefined: the file is removed. */
  readonly to: string | undefined
  readonly hunks: readonly Hunk[]
  /** The last line of the new file has no line end. */
  readonly openEnd: boolean
}

/** The files of a diff, or why it is none. */
export function parsePatch(patch: string): { files: FilePatch[] } | { problem: string } {
  const lines = patch.replace(/\n+$/, '').split('\n')
  const files: FilePatch[] = []
  let at = 0
  while (at < lines.length) {
    if (!isHeader(lines, at)) {
      if (/^(?:rename|copy) (?:from|to) |^(?:GIT binary patch|Binary files )/.test(lines[at] ?? ''))
        return { problem: `line ${at + 1} of the patch: files are neither renamed nor binary` }
      at++
      continue
    }
    const from = pathOf(lines[at] ?? '')
    const to = pathOf(lines[at + 1] ?? '')
    at += 2
    const hunks: Hunk[] = []
    let openEnd = false
    while (at < lines.length && lines[at]?.startsWith('@@')) {
      const read = readHunk(lines, at)
      if ('problem' in read) return read
      hunks.push(read.hunk)
      openEnd ||= read.openEnd
      at = read.next
    }
    if (hunks.length === 0) return { problem: `the patch of ${to ?? from} has no hunk` }
    files.push({ from, to, hunks, openEnd })
  }
  return files.length === 0
    ? { problem: 'the patch has no line that starts with "--- " followed by "+++ "' }
    : { files }
}

function isHeader(lines: readonly string[], at: number): boolean {
  return (
    /^--- \S/.test(lines[at] ?? '') &&
    /^\+\+\+ \S/.test(lines[at + 1] ?? '') &&
    (lines[at + 2] ?? '@@').startsWith('@@')
  )
}

function pathOf(header: string): string | undefined {
  const path = header.slice(4).split('\t')[0]?.trim() ?? ''
  if (path === '/dev/null') return undefined
  return /^".*"$/.test(path) ? unquoted(path.slice(1, -1)) : path
}

// Git writes names with other than plain characters as C strings of bytes.
function unquoted(text: string): string {
  const parts = text.match(/\\(?:[0-7]{3}|.)|[^\\]+/g) ?? []
  const bytes = parts.map((part) => {
    if (/^\\[0-7]{3}$/.test(part)) return Buffer.from([Number.parseInt(part.slice(1), 8) & 0xff])
    return Buffer.from(part.startsWith('\\') ? part.slice(1) : part)
  })
  return Buffer.concat(bytes).toString()
}

function readHunk(
  lines: readonly string[],
  start: number,
): { hunk: Hunk; next: number; openEnd: boolean } | { problem: string } {
  const [, stated, oldCount = '1', newCount = '1'] =
    /^@@+ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? '') ?? []
  const body: { kind: ' ' | '-' | '+'; text: string }[] = []
  let openEnd = false
  let left = stated === undefined ? 0 : Number(oldCount) + Number(newCount)
  let at = start + 1
  for (; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (left <= 0 && (isHeader(lines, at) || line.startsWith('diff --git '))) break
    if (line.startsWith('@@')) break
    const kind = line === '' || line === '\r' ? ' ' : line[0]
    if (kind === '\\') {
      openEnd = body.at(-1)?.kind !== '-'
      continue
    }
    if (kind !== ' ' && kind !== '-' && kind !== '+') {
      if (left <= 0) break // words after the patch
      return { problem: `line ${at + 1} of the patch starts with none of " ", "-", "+"` }
    }
    body.push({ kind, text: line === '' || line === '\r' ? line : line.slice(1) })
    left -= kind === ' ' ? 2 : 1
  }
  // Empty lines after the last one that counts stand between hunks, not in them.
  while (left < 0 && body.at(-1)?.kind === ' ' && (body.at(-1)?.text ?? '').trim() === '') {
    body.pop()
    left += 2
  }
  if (!body.some(({ kind }) => kind !== ' '))
    return { problem: `the hunk in line ${start + 1} of the patch changes nothing` }
  return { hunk: { at: stated === undefined ? undefined : Number(stated), lines: body }, next: at, openEnd }
}
