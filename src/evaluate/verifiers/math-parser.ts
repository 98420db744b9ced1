// From tokens to meaning, by recursive descent. What it does not know it does not guess: the result is undefined.
import {
  decimal,
  type Expression,
  type FunctionName,
  functionNames,
  type Meaning,
  rational,
} from './math-expression.ts'

const deepest = 60

/** What a text says in mathematics, or undefined. */
export function parseMath(text: string): Meaning | undefined {
  const tokens = tokensOf(text)
  if (tokens === undefined || tokens.length === 0) return undefined
  try {
    const reader = new Reader(tokens)
    const meaning = reader.whole()
    return reader.isDone ? meaning : undefined
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class Unreadable extends Error {}

class Reader {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get isDone(): boolean {
    return this.#at === this.#tokens.length
  }

  /** Values separated by commas are a set: "x = 1, 2" and "2, 1" say the same. */
  whole(): Meaning {
    const items = [this.#united()]
    while (this.#take(',')) items.push(this.#united())
    const [only] = items
    return items.length === 1 && only !== undefined ? only : { kind: 'set', items }
  }

  #united(): Meaning {
    const parts = [this.#item()]
    while (this.#take('∪')) parts.push(this.#item())
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'union', parts }
  }

  #item(): Meaning {
    if (this.#take('∅')) return { kind: 'set', items: [] }
    const from = this.#at
    const collection = this.#collection()
    // `(1 + 2) * 3` begins like a tuple and is none.
    if (collection !== undefined && (this.isDone || this.#isAt(',', '∪', ')', ']', '⟩', '}'))) return collection
    this.#at = from
    return this.#relation()
  }

  #collection(): Meaning | undefined {
    const open = this.#peek()
    const isSet = open === '⟨' || (open === '{' && this.#at === 0)
    if (!isSet && open !== '(' && open !== '[') return undefined
    this.#at++
    const items: Meaning[] = []
    try {
      if (isSet && (this.#take('⟩') || this.#take('}'))) return { kind: 'set', items }
      do items.push(this.#nested(() => this.#united()))
      while (this.#take(','))
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
    const close = this.#peek()
    if (isSet) return this.#take('⟩') || this.#take('}') ? { kind: 'set', items } : undefined
    if (close !== ')' && close !== ']') return undefined
    this.#at++
    return items.length < 2 ? undefined : { kind: 'ordered', open: open ?? '', close, items }
  }

  #relation(): Meaning {
    const [left, other] = this.#sum()
    const sign = this.#peek()
    if (sign !== undefined && ['=', '<', '>', '≤', '≥', '∈'].includes(sign)) {
      this.#at++
      if (sign === '∈') return this.#united() // "x in [0, 1)" names the interval
      const [right, second] = this.#sum()
      const relation = (value: Expression): Meaning => ({ kind: 'relation', sign, left, right: value })
      return second === undefined ? relation(right) : { kind: 'set', items: [relation(right), relation(second)] }
    }
    const value = (each: Expression): Meaning => ({ kind: 'value', value: each })
    return other === undefined ? value(left) : { kind: 'set', items: [value(left), value(other)] }
  }

  /** A sum; with ± in it, its two values. */
  #sum(): [Expression, Expression?] {
    let both: [Expression, Expression?] = this.#take('±') ? this.#plusMinus(zero) : [this.#signedTerm()]
    for (;;) {
      const isPlus = this.#take('+')
      if (isPlus || this.#take('-')) {
        const term = this.#term()
        const [first, second] = both
        const added = (left: Expression) => sum(left, isPlus ? term : negative(term))
        both = second === undefined ? [added(first)] : [added(first), added(second)]
      } else if (this.#isAt('±') && both[1] === undefined) {
        this.#at++
        both = this.#plusMinus(both[0])
      } else return both
    }
  }

  #plusMinus(left: Expression): [Expression, Expression] {
    const term = this.#term()
    return [sum(left, term), sum(left, negative(term))]
  }

  #signedTerm(): Expression {
    if (this.#take('-')) return negative(this.#signedTerm())
    if (this.#take('+')) return this.#signedTerm()
    return this.#term()
  }

  #term(): Expression {
    let left = this.#take('-') ? negative(this.#factor()) : this.#factor()
    for (;;) {
      if (this.#take('*')) left = { op: 'product', left, right: this.#signedFactor() }
      else if (this.#take('/')) left = { op: 'quotient', left, right: this.#signedFactor() }
      else if (this.#startsFactor()) left = { op: 'product', left, right: this.#factor() }
      else return left
    }
  }

  #signedFactor(): Expression {
    return this.#take('-') ? negative(this.#factor()) : this.#factor()
  }

  // What may stand after a value without a sign between. Two numbers side by side are no product.
  #startsFactor(): boolean {
    const token = this.#tokens[this.#at]
    if (token === undefined || token.type === 'number') return false
    return token.type === 'name' || token.text === '(' || token.text === '{'
  }

  #factor(): Expression {
    let base = this.#atom()
    while (this.#take('%')) base = { op: 'quotient', left: base, right: hundred }
    if (!this.#take('^')) return base
    return { op: 'power', left: base, right: this.#nested(() => this.#exponent()) }
  }

  #exponent(): Expression {
    if (this.#take('-')) return negative(this.#exponent())
    if (this.#take('{')) return this.#closed('}')
    return this.#factor()
  }

  #atom(): Expression {
    return this.#nested(() => {
      const token = this.#tokens[this.#at++]
      if (token === undefined) throw new Unreadable()
      if (token.type === 'number') return this.#number(token.text)
      if (token.type === 'name') return this.#named(token.text)
      if (token.text === '(') return this.#closed(')')
      if (token.text === '{') return this.#closed('}')
      if (token.text === '|') return { op: 'call', name: 'abs', of: this.#closed('|') }
      throw new Unreadable()
    })
  }

  // `3\frac{1}{2}` is three and a half.
  #number(text: string): Expression {
    const value = decimal(text)
    if (value === undefined) throw new Unreadable()
    const number: Expression = { op: 'number', value }
    if (this.#peek() !== 'frac') return number
    const from = this.#at
    this.#at++
    const part = this.#fraction()
    const isMixed = part.op === 'quotient' && part.left.op === 'number' && part.right.op === 'number' && value.d === 1n
    if (isMixed) return sum(number, part)
    this.#at = from
    return number
  }

  #named(name: string): Expression {
    if (name === 'frac') return this.#fraction()
    if (name === 'sqrt') return this.#squareRoot()
    if (name === 'pi' || name === 'e') return { op: 'constant', name }
    if (name === 'infty' || name === 'inf') return { op: 'constant', name: 'infinity' }
    if (isFunction(name)) return this.#call(name)
    if (!/^[A-Za-z]$/.test(name) && !greek.has(name)) throw new Unreadable()
    return { op: 'variable', name: this.#take('_') ? `${name}_${this.#subscript()}` : name }
  }

  #subscript(): string {
    const isBraced = this.#take('{')
    const token = this.#tokens[this.#at++]
    if (token === undefined || token.type === 'symbol' || (isBraced && !this.#take('}'))) throw new Unreadable()
    return token.text
  }

  #fraction(): Expression {
    return { op: 'quotient', left: this.#argument(), right: this.#argument() }
  }

  #argument(): Expression {
    return this.#take('{') ? this.#closed('}') : this.#atom()
  }

  #squareRoot(): Expression {
    const token = this.#take('[') ? this.#tokens[this.#at++] : undefined
    if (token !== undefined && (!/^\d{1,2}$/.test(token.text) || !this.#take(']'))) throw new Unreadable()
    return { op: 'root', degree: BigInt(token?.text ?? 2), of: this.#argument() }
  }

  #call(name: FunctionName): Expression {
    const power = this.#take('^') ? this.#exponent() : undefined
    const isBracketed = this.#isAt('(', '{')
    const of = isBracketed ? this.#atom() : this.#factor()
    const call: Expression = { op: 'call', name, of }
    return power === undefined ? call : { op: 'power', left: call, right: power }
  }

  #closed(close: string): Expression {
    const [inside, other] = this.#nested(() => this.#sum())
    if (other !== undefined || !this.#take(close)) throw new Unreadable()
    return inside
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > deepest) throw new Unreadable()
    const result = read()
    this.#depth--
    return result
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]?.text
  }

  #isAt(...texts: string[]): boolean {
    return texts.includes(this.#peek() ?? '')
  }

  #take(text: string): boolean {
    if (this.#peek() !== text) return false
    this.#at++
    return true
  }
}

const greek = new Set(['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'theta', 'lambda', 'mu', 'sigma', 'phi', 'omega'])
const one: Expression = { op: 'number', value: { n: 1n, d: 1n } }
const zero: Expression = { op: 'number', value: { n: 0n, d: 1n } }
const hundred: Expression = { op: 'number', value: { n: 100n, d: 1n } }

function negative(of: Expression): Expression {
  const minus: Expression = { op: 'number', value: rational(-1n) ?? { n: -1n, d: 1n } }
  return of === one ? minus : { op: 'product', left: minus, right: of }
}

function sum(left: Expression, right: Expression): Expression {
  return { op: 'sum', left, right }
}

function isFunction(name: string): name is FunctionName {
  return functionNames.some((each) => each === name)
}

// Mathematical notation, plain or LaTeX, as a list of tokens. Whatever only shapes the page is dropped.
type Token =
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'name'; readonly text: string }
  | { readonly type: 'symbol'; readonly text: string }

/** Longer notation than this is not read. */
const longestRead = 2_000

const functions = ['sqrt', ...functionNames, 'pi', 'infty', 'inf']
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
function tokensOf(notation: string): Token[] | undefined {
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
  if (number !== null) return single('number', number[0].replaceAll(',', ''), number[0].length)
  for (const [spelling, symbol] of Object.entries(symbols)) {
    const isWhole = !/[A-Za-z]$/.test(spelling) || !/^[A-Za-z]/.test(rest.slice(spelling.length))
    if (rest.startsWith(spelling) && isWhole) {
      return single(/^[a-z]+$/.test(symbol) ? 'name' : 'symbol', symbol, spelling.length)
    }
  }
  const command = /^\\([A-Za-z]+)/.exec(rest)
  if (command !== null) return single('name', frac(command[1] ?? ''), command[0].length)
  const word = /^[A-Za-z]+/.exec(rest)
  if (word !== null) return letters(word[0])
  return /^[-+*/^(){}[\],=<>!|%_±∪≤≥∅∈]/.test(rest) ? single('symbol', rest[0] ?? '', 1) : undefined
}

// `\frac12` is one half.
function twoDigits(rest: string): { tokens: Token[]; length: number } | undefined {
  const [whole, top = '', bottom = ''] = /^\s*(\d)\s*(\d)/.exec(rest) ?? []
  if (whole === undefined) return undefined
  return { tokens: [top, bottom].map((text) => ({ type: 'number', text })), length: whole.length }
}

const frac = (name: string) => (/^[dtc]frac$/.test(name) ? 'frac' : name)

function single(type: Token['type'], text: string, length: number): { tokens: Token[]; length: number } {
  return { tokens: [{ type, text }], length }
}

// `2xy` is a product; `sin` and `pi` are words. The longest known word at the beginning wins.
function letters(word: string): { tokens: Token[]; length: number } {
  const known = functions.filter((name) => word.startsWith(name)).sort((a, b) => b.length - a.length)[0]
  const text = known ?? word[0] ?? ''
  return single('name', text, text.length)
}

// Words around a value, such as units, say nothing of the value; words between values do.
function wordsOf(text: string): Token[] {
  return /^\s*(?:and|or)\s*$/.test(text) ? [{ type: 'symbol', text: ',' }] : []
}
