// From a file to documents: lists of paragraphs as they stand, before cleaning. Each format keeps prose and drops the rest;
// what slips through (tables, code, lists of names) falls to the cleaning.
import { roffParagraphs } from './roff-paragraphs.ts'

/** A document is its paragraphs, in order. */
export type Paragraphs = string[]

export const formats = {
  plain: (text) => [blocks(text)],
  html: (text) => [htmlParagraphs(text)],
  markup: (text) => [markupParagraphs(text)],
  roff: (text) => [roffParagraphs(text)],
  // Short pieces between lines of percent signs; the first line of a piece of Crawl's is its key.
  fortunes: (text) =>
    grouped(
      text.split(/^%+\s*$/m).map((piece) => blocks(piece.replace(/^\s*[^\s.!?]+(?: [^\s.!?]+){0,4}\n\n/, ''))),
      20,
    ),
  dictionary: (text) => grouped(text.split(/\n(?=\S)/).map(entryParagraphs), 40),
  wordnet: (text) => grouped(text.split('\n').map(glossParagraphs), 60),
  verses: versesByChapter,
  wesnoth: (text) => [
    Array.from(text.matchAll(/(?:message|story|description)\s*=\s*_\s*"((?:[^"]|"")*)"/g), ([, said = '']) =>
      said.replaceAll('""', '"').replace(/<[^>]*>/g, ''),
    ),
  ],
} as const satisfies Record<string, (text: string) => Paragraphs[]>
export type FormatName = keyof typeof formats

function blocks(text: string): Paragraphs {
  return text.split(/\n[ \t]*\n/)
}

function grouped(pieces: Paragraphs[], size: number): Paragraphs[] {
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, at) =>
    pieces.slice(at * size, (at + 1) * size).flat(),
  )
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '-',
  mdash: '--',
  hellip: '...',
  lsquo: "'",
  rsquo: "'",
  ldquo: '"',
  rdquo: '"',
}

function htmlParagraphs(html: string): Paragraphs {
  const body = html
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/<(script|style|pre|nav|header|footer|table|code-block|screen|listing)\b[\s\S]*?<\/\1>/gi, '\n\n')
    .replace(
      /<\/?(p|li|dd|dt|h\d|div|br|tr|td|th|ul|ol|dl|section|title|item|note|blockquote|body|head|html|page|info|steps|terms|list)\b[^>]*>/gi,
      '\n\n',
    )
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (_, dec, hex, name) => {
      if (name !== undefined) return entities[name] ?? ' '
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
      return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : ' '
    })
  return blocks(body)
}

// reStructuredText, AsciiDoc, POD and plain text of the same kind: roles and emphasis become plain words; directives, literal
// blocks (indented) and underlines go.
function markupParagraphs(text: string): Paragraphs {
  const plain = text
    .replace(/^\.\. .*(?:\n(?:[ \t]+.*)?(?=\n))*/gm, '')
    .replace(/^=(?:head\d|over|back|begin|end|for|encoding|cut|pod).*$/gm, '')
    .replace(/^=item\s+/gm, '')
    .replace(/\b[A-Z]<<? ?([^<>]*?) ?>>?/g, '$1')
    .replace(/:[\w:+-]+:`~?([^`<]*?)(?:\s*<[^`]*>)?`/g, '$1')
    .replace(/`([^`<]*?)\s*<[^`]*>`__?/g, '$1')
    .replace(/``([^`]*)``|`([^`]*)`/g, '$1$2')
    .replace(/\*\*([^*\n]+)\*\*/g, '$1')
    .replace(/(^|\s)\*([^*\n]+)\*/g, '$1$2')
    .replace(/^[ \t]*[-*+o][ \t]+/gm, '')
    .replace(/^([=\-~^"'`#*+.:_])\1{2,}\s*$/gm, '\n')
  return blocks(plain).map((block) => block.replace(/::\s*$/, ':'))
}

function entryParagraphs(entry: string): Paragraphs {
  const [head = '', ...lines] = entry.split('\n')
  const word = head.replace(/\s*\\.*$/, '').trim()
  const body = lines
    .join('\n')
    .replace(
      /\[(?:1913 Webster|PJC|WordNet 1\.5|Webster Suppl\.|Century Dict\. 1906|Webster 1913 Suppl\.)[^\]]*\]|^\s*\(\d{4}-\d\d-\d\d\)\s*$/gm,
      '',
    )
    .replace(/[{}]/g, '')
    .replace(/\s--[A-Z][\w. ']+\.?(?=\s*$)/gm, '')
  return body.split(/\n\s*\n|\n(?=\s+\d+\. )/).map((block, index) => {
    const text = block.replace(/^\s*(?:\d+\.|\([a-z]\)|<[^>]*>)\s*/, '')
    return index === 0 && /^[A-Za-z' -]{2,30}$/.test(word) ? `${word}: ${text.trim()}` : text
  })
}

function glossParagraphs(line: string): Paragraphs {
  const [, word = '', gloss = ''] = /^\d{8} \d\d \w [\da-f]{2} (\S+) .*? \| (.*)$/.exec(line) ?? []
  const [meaning = '', ...examples] = gloss.split(/;\s*(?=")/)
  if (meaning === '') return []
  const said = examples
    .map((example) => example.replaceAll('"', '').trim())
    .map((example) => example.charAt(0).toUpperCase() + example.slice(1) + (/[.!?]$/.test(example) ? '' : '.'))
  return [`${word.replaceAll('_', ' ').replace(/\(.*\)$/, '')}: ${meaning.trim()}. ${said.join(' ')}`]
}

function versesByChapter(json: string): Paragraphs[] {
  const verses: unknown = JSON.parse(json)
  const chapters = new Map<string, string[]>()
  if (typeof verses !== 'object' || verses === null) return []
  for (const [place, verse] of Object.entries(verses)) {
    const chapter = place.replace(/:\d+$/, '')
    chapters.set(chapter, [
      ...(chapters.get(chapter) ?? []),
      String(verse)
        .replace(/[[\]#]/g, '')
        .trim(),
    ])
  }
  return [...chapters.values()].map((lines) =>
    Array.from({ length: Math.ceil(lines.length / 6) }, (_, at) => lines.slice(at * 6, at * 6 + 6).join(' ')),
  )
}
