// A unified diff applied to files. Every line that it keeps or removes must be there as it says; only where it says it is may be wrong.
import type { CandidateFiles } from '../../../contracts/index.ts'

/** The patched files, or everything that does not fit. */
export function applyPatch(files: CandidateFiles, patch: string): { files: CandidateFiles } | { problems: string[] } {
  const parsed = parsePatch(patch)
  if ('problem' in parsed) return { problems: [parsed.problem] }
  const changed: Record<string, string> = { ...files }
  const problems: string[] = []
  for (const each of parsed.files) {
    const problem = applyTo(changed, each)
    if (problem !== undefined) problems.push(problem)
  }
  return problems.length > 0 ? { problems } : { files: changed }
}

function applyTo(files: Record<string, string>, patch: FilePatch): string | undefined {
  const path = knownPath(files, patch)
  if (patch.from === undefined) {
    if (Object.hasOwn(files, path)) return `${path} is there already: it cannot be made anew`
    const added = patch.hunks.flatMap(({ lines }) => lines)
    if (added.some(({ kind }) => kind !== '+'))
      return `the patch makes ${path} anew, and yet removes or keeps lines of it`
    files[path] = added.map(({ text }) => text).join('\n') + (patch.openEnd ? '' : '\n')
    return undefined
  }
  const text = Object.hasOwn(files, path) ? files[path] : undefined
  if (text === undefined)
    return `the patch changes ${path}, which is not among the files: ${Object.keys(files).join(', ')}`
  const result = patchText(text, patch, path)
  if ('problem' in result) return result.problem
  if (patch.to !== undefined) files[path] = result.text
  else if (result.text.trim() !== '') return `the patch removes ${path} without all of its lines`
  else delete files[path]
  return undefined
}

// `a/train.py` is train.py, unless there is a folder called a.
function knownPath(files: CandidateFiles, { from, to }: FilePatch): string {
  const path = to ?? from ?? ''
  if (Object.hasOwn(files, path)) return path
  return path.replace(/^[ab]\//, '').replace(/^\.\//, '')
}

function patchText(text: string, { hunks, openEnd }: FilePatch, path: string): { text: string } | { problem: string } {
  const ending = text.includes('\r\n') ? '\r\n' : '\n'
  const isClosed = text === '' || text.endsWith('\n')
  const old = (isClosed ? text.slice(0, -1) : text).split('\n').map(bare)
  if (text === '') old.length = 0
  const out: string[] = []
  let done = 0
  for (const [number, hunk] of hunks.entries()) {
    const found = placeOf(old, hunk, done)
    if (typeof found === 'string') return { problem: `hunk ${number + 1} of ${path} ${found}` }
    out.push(...old.slice(done, found))
    for (const { kind, text: line } of hunk.lines) if (kind !== '-') out.push(bare(line))
    done = found + hunk.lines.filter(({ kind }) => kind !== '+').length
  }
  const touchesEnd = done === old.length
  out.push(...old.slice(done))
  const closes = touchesEnd ? !openEnd : isClosed
  return { text: out.join(ending) + (closes && out.length > 0 ? ending : '') }
}

function bare(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** Where the lines of a hunk stand: at the stated line, or at the only place where they do. */
function placeOf(old: readonly string[], { at, lines }: Hunk, from: number): number | string {
  const wanted = lines.filter(({ kind }) => kind !== '+').map(({ text }) => bare(text))
  const fits = (place: number) => wanted.every((line, offset) => old[place + offset] === line)
  if (wanted.length === 0) {
    // Nothing to hold on to: lines added after the stated one.
    if (at !== undefined && at >= from && at <= old.length) return at
    return 'has no line of the file to find its place by'
  }
  if (at !== undefined && at - 1 >= from && fits(at - 1)) return at - 1
  const places: number[] = []
  for (let place = from; place + wanted.length <= old.length; place++) if (fits(place)) places.push(place)
  const [only] = places
  if (only !== undefined && places.length === 1) return only
  if (places.length > 1) return `fits in ${places.length} places: give it more lines around the change`
  return `fits nowhere: "${nearMiss(old, wanted, from)}" is not in the file there`
}

// The first line that keeps the hunk from fitting where most of it fits.
function nearMiss(old: readonly string[], wanted: readonly string[], from: number): string {
  let best = -1
  for (let place = from; place < old.length; place++) {
    let fitting = 0
    while (fitting < wanted.length && old[place + fitting] === wanted[fitting]) fitting++
    best = Math.max(best, fitting)
  }
  return (wanted[Math.max(0, best)] ?? '').slice(0, 120)
}

// A unified diff as data. Models count badly: the numbers of a hunk are hints, its lines are what counts.
interface Hunk {
  /** First line in the old file, as stated; undefined: not stated. */
  readonly at: number | undefined
  readonly lines: readonly { readonly kind: ' ' | '-' | '+'; readonly text: string }[]
}

interface FilePatch {
  /** undefined: the file is new. */
  readonly from: string | undefined
  /** undefined: the file is removed. */
  readonly to: string | undefined
  readonly hunks: readonly Hunk[]
  /** The last line of the new file has no line end. */
  readonly openEnd: boolean
}

/** The files of a diff, or why it is none. */
function parsePatch(patch: string): { files: FilePatch[] } | { problem: string } {
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
