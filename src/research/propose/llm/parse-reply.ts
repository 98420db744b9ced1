// Ideas in what a model answered. Lenient in form, strict in meaning: an idea that is not understood is a problem in words, never a guess.
import * as z from 'zod'
import { Change, Idea, type IdeaCategory } from '../../../contracts/index.ts'
import { checkValue, isMapping } from '../../../kernel/index.ts'
import { clip } from '../brief/quote.ts'

const longestReply = 1_000_000
/** Fenced parts of a reply that are read. */
const mostFences = 50

/**
 * At most `most` ideas, and what was wrong with the rest, or with all of it. `files`: paths of the base, for answers that give code
 * without saying where it belongs.
 */
export function parseReply(
  text: string,
  { most, files }: { readonly most: number; readonly files: readonly string[] },
): { readonly ideas: readonly Idea[]; readonly problems: readonly string[] } {
  if (text.length > longestReply) return { ideas: [], problems: [`it has more than ${longestReply} characters`] }
  const parts = readJson(text)
  if (parts.length === 0) return { ideas: [], problems: [text.trim() === '' ? 'it is empty' : 'it holds no JSON'] }
  let problems: string[] = []
  for (const values of parts) {
    const read = ideasIn(values, files)
    if (read.ideas.length > 0)
      return { ideas: read.ideas.slice(0, Math.max(1, most)), problems: read.problems.slice(0, 5) }
    if (problems.length === 0) problems = read.problems
  }
  return { ideas: [], problems: problems.length === 0 ? ['it holds no ideas'] : problems.slice(0, 5) }
}

function ideasIn(values: readonly unknown[], files: readonly string[]): { ideas: Idea[]; problems: string[] } {
  const listed = values.find(hasIdeas)
  const ideas: Idea[] = []
  const problems: string[] = []
  for (const [place, each] of (listed?.ideas ?? values.flat()).slice(0, 50).entries()) {
    const read = readIdea(each, files)
    if (typeof read === 'string') problems.push(`idea ${place + 1}: ${read}`)
    else ideas.push(read)
  }
  return { ideas, problems }
}

function hasIdeas(value: unknown): value is { ideas: unknown[] } {
  return isMapping(value) && Array.isArray(value.ideas)
}

function readIdea(value: unknown, files: readonly string[]): Idea | string {
  if (!isMapping(value)) return 'it is no object'
  const change = changeOf(value, files)
  if (typeof change === 'string') return change
  const title = textOf(value.title ?? value.name)
  if (title === '') return 'it has no title'
  const isStated = value.expected_effect !== null && value.expected_effect !== ''
  const effect = Number(value.expected_effect)
  const checked = checkValue(Idea, {
    title: clip(title, 200),
    hypothesis: clip(textOf(value.hypothesis ?? value.reason ?? value.rationale), 4000),
    family: clip(textOf(value.family).toLowerCase() || 'unnamed', 60),
    category: categoryOf(textOf(value.category)),
    expected_effect: isStated && Number.isFinite(effect) ? effect : undefined,
    cost: z.enum(['cheaper', 'same', 'dearer']).catch('same').parse(value.cost),
    parents: [],
    change,
  })
  return checked.ok ? checked.value : issuesOf(checked.issues)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : ''
}

function categoryOf(text: string): IdeaCategory {
  if (/^arch|model|structur/i.test(text)) return 'architectural'
  if (/^optim/i.test(text)) return 'optimizer'
  if (/^regul/i.test(text)) return 'regularization'
  return 'hyperparameter'
}

/** The change of an idea, also where it is written flat or without its kind. */
function changeOf(idea: Record<string, unknown>, files: readonly string[]): Change | string {
  const change = isMapping(idea.change) ? idea.change : idea
  const { knobs, patch = change.diff, code, edits } = change
  const whole = isMapping(change.files) ? change.files : listed(change.files)
  const [only] = files
  const candidates: unknown[] = [
    ...(isMapping(knobs) && Object.keys(knobs).length > 0 ? [{ kind: 'knobs', knobs }] : []),
    ...(typeof patch === 'string' && patch.trim() !== '' ? [{ kind: 'patch', patch: withoutFence(patch) }] : []),
    ...(whole !== undefined && Object.keys(whole).length > 0 ? [{ kind: 'files', files: whole }] : []),
    ...(Array.isArray(edits) && edits.length > 0 ? [{ kind: 'edits', edits }] : []),
    ...(typeof code === 'string' && code.trim() !== '' && files.length === 1 && only !== undefined
      ? [{ kind: 'files', files: { [only]: withoutFence(code) } }]
      : []),
  ]
  if (candidates.length === 0) return 'it has no change: neither knobs, nor edits, nor a patch, nor files'
  if (candidates.length > 1) return 'it has several changes: give either knobs, or edits, or a patch, or files'
  const checked = checkValue(Change, candidates[0])
  return checked.ok ? checked.value : `change: ${issuesOf(checked.issues)}`
}

// [{ path, content }] instead of { path: content }.
function listed(value: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(value)) return undefined
  return Object.fromEntries(
    value
      .filter(isMapping)
      .map((each) => [String(each.path ?? each.name ?? each.file), each.content ?? each.text ?? each.code]),
  )
}

function withoutFence(text: string): string {
  const [, , inside] = /^\s*(`{3,})[^\n]*\n([\s\S]*?)\n?\1\s*$/.exec(text) ?? []
  return inside === undefined ? text : `${inside}\n`
}

function issuesOf(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): string {
  return issues
    .slice(0, 3)
    .map(({ path, message }) => [path.map(String).join('.'), message].filter((each) => each !== '').join(': '))
    .join('; ')
}

// The JSON in what a model wrote: between words, in a fence, cut off in the middle, with the mistakes that models make.
/**
 * The values in every part of a text that may be the answer, the likeliest part first: each fence, then all of it. Of a part that is
 * cut off, the objects that are whole.
 */
export function readJson(text: string): unknown[][] {
  return [...fenced(text).slice(0, mostFences), text.trim()].flatMap((part) => {
    const start = part.search(/[{[]/)
    if (start === -1) return []
    const body = part.slice(start)
    const whole = parseLoosely(body) ?? parseLoosely(balanced(body))
    const values = whole === undefined ? wholeObjects(body) : [whole]
    return values.length === 0 ? [] : [values]
  })
}

function fenced(text: string): string[] {
  return [...text.matchAll(/(`{3,}|~{3,})[ \t]*(?:json5?|JSON)?[ \t]*\n([\s\S]*?)(?:\n[ \t]*\1|$)/g)].map(
    ([, , body = '']) => body.trim(),
  )
}

/** As JSON, or as JSON with commas too many and line ends inside texts. */
function parseLoosely(text: string): unknown {
  for (const attempt of [(each: string) => each, mended]) {
    try {
      return JSON.parse(attempt(text))
    } catch {
      // the next way
    }
  }
  return undefined
}

function mended(text: string): string {
  let out = ''
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (inText && char === '\\') {
      const next = text[at + 1] ?? ''
      // An escape that JSON does not know stands for itself.
      out += /["\\/bfnrtu]/.test(next) ? char + next : `\\\\${next}`
      at++
    } else if (char === '"') {
      inText = !inText
      out += char
    } else if (inText && char < ' ') out += char === '\n' ? '\\n' : char === '\t' ? '\\t' : ''
    else if (!inText && char === ',' && /^\s*[}\]]/.test(text.slice(at + 1, at + 200))) continue
    else out += char
  }
  return out
}

/** Characters outside of texts, with their places. */
function* structure(text: string): Generator<readonly [number, string | undefined]> {
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inText) {
      if (char === '\\') at++
      else if (char === '"') inText = false
    } else if (char === '"') inText = true
    else yield [at, char]
  }
}

/** From an opening bracket to the one that closes it; all, where none does. */
function balanced(text: string): string {
  let depth = 0
  for (const [at, char] of structure(text)) {
    if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return text.slice(0, at + 1)
  }
  return text
}

// Outermost objects that are closed, inside those that are not.
function wholeObjects(text: string): unknown[] {
  const opened: number[] = []
  const spans: [number, number][] = []
  for (const [at, char] of structure(text)) {
    const start = char === '}' ? opened.pop() : undefined
    if (char === '{') opened.push(at)
    if (start !== undefined) spans.push([start, at + 1])
  }
  const outer = spans.filter(([start, end]) => !spans.some(([s, e]) => s < start && e >= end))
  return outer.sort(([a], [b]) => a - b).flatMap(([start, end]) => parseLoosely(text.slice(start, end)) ?? [])
}
