// Mathematical notation, plain or LaTeX, as a list of tokens. Whatever only shapes the page is dropped.

export type Token =
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'name'; readonly text: string }
  | { readonly type: 'symbol'; readonly text: string }

/** Longer notation than this is not read. */
const longestRead = 2_000

const functions = [
  'sqrt',
  'sin',
  'cos',
  'tan',
  'ln',
  'log',
  'exp',
  'abs',
  'arcsin',
  'arccos',
  'arctan',
  'pi',
  'infty',
  'inf',
]
const symbols: Readonly<Record<string, string>> = {
  '\\cdot': '*', '\\times': '*', '\\ast': '*', '×': '*', '·': '*', '⋅': '*', '\\div': '/', '÷': '/', '−': '-', '–': '-',
  '\\pm': '±', '\\cup': '∪', '\\leq': '≤', '\\le': '≤', '\\geq': '≥', '\\ge': '≥', '\\{': '⟨', '\\}': '⟩',
  '\\lbrace': '⟨', '\\rbrace': '⟩', '\\%': '%', '\\infty': 'infty', '∞': 'infty', 'π': 'pi', '√': 'sqrt', '**': '^',
  '\\lvert': '|', '\\rvert': '|', '\\vert': '|', '\\emptyset': '∅', '\\varnothing': '∅', '\\in': '∈',
} // biome-ignore format: a table of pairs
const dropped = /^\\(?:left|right|big|Big|bigg|Bigg|displaystyle|textstyle|,|;|:|!|quad|qquad|limits)(?![A-Za-z])/
const degrees = /^(?:\^\s?\{?\s?\\circ\s?\}?|°|\\degree)/
const wrapper = /^\\(?:text|mathrm|mathbf|textbf|operatorname|mbox)\s?\{([^{}]*)\}/

/** Tokens, or undefined where the text is no mathematics that is known here. */
export function tokensOf(notation: string): Token[] | undefined {
  let rest = notation
    .trim()
    .replace(/^\$+|\$+$/g, '')
    .replace(/^\\[([]|\\[)\]]$/g, '')
    .replace(/[.。]$/, '')
  if (rest.length > longestRead) return undefined
  const tokens: Token[] = []
  while (rest !== '') {
    const found = (tokens.at(-1)?.text === 'frac' ? twoDigits(rest) : undefined) ?? nextToken(rest)
    if (found === undefined) return undefined
    tokens.push(...found.tokens)
    rest = rest.slice(found.length)
  }
  return tokens
}

function nextToken(rest: string): { tokens: Token[]; length: number } | undefined {
  const skip = /^(?:\s|~|\\ )+/.exec(rest) ?? dropped.exec(rest) ?? degrees.exec(rest)
  if (skip !== null) return { tokens: [], length: skip[0].length }
  const wrapped = wrapper.exec(rest)
  if (wrapped !== null) return { tokens: wordsOf(wrapped[1] ?? ''), length: wrapped[0].length }
  const number = /^(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)/.exec(rest)
  if (number !== null) return one('number', number[0].replaceAll(',', ''), number[0].length)
  for (const [spelling, symbol] of Object.entries(symbols)) {
    const isWhole = !/[A-Za-z]$/.test(spelling) || !/^[A-Za-z]/.test(rest.slice(spelling.length))
    if (rest.startsWith(spelling) && isWhole) {
      return one(/^[a-z]+$/.test(symbol) ? 'name' : 'symbol', symbol, spelling.length)
    }
  }
  const command = /^\\([A-Za-z]+)/.exec(rest)
  if (command !== null) return one('name', frac(command[1] ?? ''), command[0].length)
  const word = /^[A-Za-z]+/.exec(rest)
  if (word !== null) return letters(word[0])
  return /^[-+*/^(){}[\],=<>!|%_±∪≤≥∅∈]/.test(rest) ? one('symbol', rest[0] ?? '', 1) : undefined
}

// `\frac12` is one half.
function twoDigits(rest: string): { tokens: Token[]; length: number } | undefined {
  const [whole, top = '', bottom = ''] = /^\s*(\d)\s*(\d)/.exec(rest) ?? []
  if (whole === undefined) return undefined
  return { tokens: [top, bottom].map((text) => ({ type: 'number', text })), length: whole.length }
}

const frac = (name: string) => (/^[dtc]frac$/.test(name) ? 'frac' : name)

function one(type: Token['type'], text: string, length: number): { tokens: Token[]; length: number } {
  return { tokens: [{ type, text }], length }
}

// `2xy` is a product; `sin` and `pi` are words. The longest known word at the beginning wins.
function letters(word: string): { tokens: Token[]; length: number } {
  const known = functions.filter((name) => word.startsWith(name)).sort((a, b) => b.length - a.length)[0]
  const text = known ?? word[0] ?? ''
  return one('name', text, text.length)
}

// Words around a value, such as units, say nothing of the value; words between values do.
function wordsOf(text: string): Token[] {
  return /^\s*(?:and|or)\s*$/.test(text) ? [{ type: 'symbol', text: ',' }] : []
}
