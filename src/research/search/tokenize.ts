// Words of a program, for comparing programs: comments and layout fall away, what they say stays. It reads JavaScript, TypeScript and
// Python closely enough for that, knows no grammar, and takes any text: what it cannot read are marks of one character.

export type Language = 'javascript' | 'python'

export interface Token {
  /** `break`: the end of a statement where a line ends it. `deeper`, `back`: blocks of Python. */
  readonly kind: 'name' | 'number' | 'string' | 'mark' | 'break' | 'deeper' | 'back'
  readonly text: string
  /** The bracket that it stands in. */
  readonly inside: '(' | '[' | '{' | ''
}

const name = /[\p{L}\p{Nl}_$#@][\p{L}\p{Nl}\p{Nd}\p{Mn}_$]*/uy
const number =
  /(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)[nj]?/y
const pythonString = /[rRbBuUfF]{0,2}("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')/y
const scriptString = /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/y
const regex = /\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const mark =
  /=>|\*\*=|>>>=|===|!==|\?\?=|\|\|=|&&=|\.\.\.|<<=|>>=|\/\/=|->|:=|\*\*|\+\+|--|\?\.|\?\?|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%&|^]=|\/\/|[\s\S]/uy
/** After these a slash begins a regular expression. */
const beforeRegex = new Set('return typeof case in of delete void throw new do else yield await'.split(' '))
/** A line that ends after these ends the statement. */
const endsWithLine = new Set(['return', 'break', 'continue', 'throw', 'yield'])
/** A line that begins with these would continue the one before, were it not for a semicolon. */
const continues = /^[([`+\-/*.,]/

export function tokenize(source: string, language: Language): Token[] {
  const text = source.replaceAll('\r\n', '\n')
  const tokens: Token[] = []
  const open: ('(' | '[' | '{')[] = []
  /** Depths at which an expression inside a template ends. */
  const templates: number[] = []
  const indents = [0]
  let at = 0
  const push = (kind: Token['kind'], text: string) => tokens.push({ kind, text, inside: open.at(-1) ?? '' })
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined || found === '') return undefined
    at += found.length
    return found
  }
  const template = () => {
    const from = at
    while (at < text.length && text[at] !== '`' && !text.startsWith('${', at)) at += text[at] === '\\' ? 2 : 1
    push('string', `\`${text.slice(from, at)}`)
    if (text.startsWith('${', at)) {
      at += 2
      open.push('{')
      templates.push(open.length)
    } else at++
  }
  const indent = () => {
    const width = /[ \t]*/y
    width.lastIndex = at
    const space = width.exec(text)?.[0] ?? ''
    const next = text[at + space.length]
    if (next === undefined || next === '\n' || next === '#') return
    const columns = space.replaceAll('\t', '        ').length
    if (columns > (indents.at(-1) ?? 0)) {
      indents.push(columns)
      push('deeper', '')
    }
    while (columns < (indents.at(-1) ?? 0)) {
      indents.pop()
      push('back', '')
    }
  }

  if (language === 'python') indent()
  while (at < text.length) {
    const char = text[at] ?? ''
    const last = tokens.at(-1)
    if (char === '\n') {
      at++
      if (language === 'python' && open.length === 0) {
        if (last !== undefined && last.kind !== 'break' && last.kind !== 'back') push('break', '')
        indent()
      } else if (language === 'javascript' && last?.kind === 'name' && endsWithLine.has(last.text)) push('break', '')
    } else if (/\s/.test(char)) at++
    else if (language === 'python' && char === '\\' && text[at + 1] === '\n') at += 2
    else if (language === 'python' ? char === '#' : text.startsWith('//', at)) {
      while (at < text.length && text[at] !== '\n') at++
    } else if (language === 'javascript' && text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      at = end < 0 ? text.length : end + 2
    } else if (language === 'javascript' && char === '`') {
      at++
      template()
    } else if (language === 'javascript' && char === '}' && templates.at(-1) === open.length) {
      at++
      templates.pop()
      open.pop()
      template()
    } else {
      const string = take(language === 'python' ? pythonString : scriptString)
      if (string !== undefined) push('string', plainQuotes(string))
      else if (language === 'javascript' && char === '/' && regexMayBegin(last)) {
        const found = take(regex)
        if (found === undefined) {
          at++
          push('mark', '/')
        } else push('string', found)
      } else {
        const word = take(name)
        const digits = word === undefined ? take(number) : undefined
        if (word !== undefined) push('name', word)
        else if (digits !== undefined) push('number', plainNumber(digits, language))
        else pushMark(take(mark) ?? text[at++] ?? '')
      }
    }
  }
  while (tokens.at(-1)?.kind === 'break' || tokens.at(-1)?.kind === 'back') tokens.pop()
  return tokens

  function pushMark(found: string): void {
    if (found === ';' && language === 'javascript' && endsLine()) return
    if (found === ')' || found === ']' || found === '}') open.pop()
    push('mark', found)
    if (found === '(' || found === '[' || found === '{') open.push(found)
  }

  // A semicolon at the end of a line says nothing, unless the next line would continue this one.
  function endsLine(): boolean {
    const rest = /[ \t]*(?:\/\/[^\n]*)?(\n\s*|$)/y
    rest.lastIndex = at
    const found = rest.exec(text)
    return found !== null && !continues.test(text.slice(rest.lastIndex, rest.lastIndex + 1))
  }
}

function regexMayBegin(last: Token | undefined): boolean {
  if (last === undefined) return true
  if (last.kind === 'name') return beforeRegex.has(last.text)
  return last.kind === 'break' || (last.kind === 'mark' && !/^[)\]}]$|^\+\+$|^--$/.test(last.text))
}

// One kind of quotes, where nothing inside depends on it.
function plainQuotes(string: string): string {
  const [, quote, body] = /^(["'])([^"'\\]*)\1$/.exec(string) ?? []
  return quote === undefined ? string : `'${body ?? ''}'`
}

// 1e-3 and 0.001 are one number; in Python 1 and 1.0 are two.
function plainNumber(digits: string, language: Language): string {
  const text = digits.replaceAll('_', '')
  const value = Number(text)
  if (!Number.isFinite(value) || text.length > 15) return text
  return language === 'python' && /[.eE]/.test(text) && !/^0x/i.test(text) ? `${value}f` : String(value)
}
