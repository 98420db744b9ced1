// Manual pages (man and mdoc): running text between requests, with font changes and escapes resolved.

const breaks = /^\.\s*(?:PP|P|LP|Pp|IP|TP|SH|SS|Sh|Ss|br|sp|It|Bl|El|HP|RS|RE|nf|fi|EX|EE|Bd|Ed|TH|Dd|Dt|Os)\b/
const literalBegin = /^\.\s*(?:nf|EX|Bd|TS)\b/
const literalEnd = /^\.\s*(?:fi|EE|Ed|TE)\b/

/** The paragraphs of a manual page. */
export function roffParagraphs(text: string): string[] {
  const paragraphs: string[] = []
  let words: string[] = []
  let isLiteral = false
  const flush = () => {
    if (words.length > 0) paragraphs.push(words.join(' '))
    words = []
  }
  for (const line of text.split('\n')) {
    if (literalBegin.test(line)) isLiteral = true
    if (literalEnd.test(line)) isLiteral = false
    if (breaks.test(line) || line.trim() === '') flush()
    else if (isLiteral || line.startsWith('.\\"') || line.startsWith("'")) continue
    else if (line.startsWith('.')) words.push(macroText(line))
    else words.push(escapesResolved(line))
  }
  flush()
  return paragraphs
}

// `.BR read (2),` is text in two fonts; mdoc's macros are capital and small letter.
function macroText(line: string): string {
  const [, macro = '', rest = ''] = /^\.\s*(\S+)\s*(.*)$/.exec(line) ?? []
  const isAlternating = /^(?:BR|RB|IR|RI|BI|IB|SM|SB)$/.test(macro)
  const isText = isAlternating || /^(?:B|I|R)$/.test(macro)
  const isMdoc = /^(?:Nm|Xr|Fn|Va|Vt|Fa|Pa|Dv|Er|Ev|Em|Sy|Ar|Cm|Fl|Li|Ql|Dq|Sq|Pq|Tn|Ft|Nx|Fx|Bx|Ox|Ux|At)$/.test(macro)
  if (!isText && !isMdoc) return ''
  const parts = Array.from(rest.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
  const shown = macro === 'Xr' && parts.length > 1 ? [`${parts[0]}(${parts[1]})${parts.slice(2).join('')}`] : parts
  const joined = shown.join(isAlternating ? '' : ' ').replace(/ ([.,;:)])/g, '$1')
  return escapesResolved(joined)
}

function escapesResolved(text: string): string {
  return text
    .replace(/\\f(?:\[\w*\]|\(..|.)/g, '')
    .replace(
      /\\\((em|en|aq|dq|lq|rq|co|bu)/g,
      (_, name: string) => ({ em: '--', en: '-', aq: "'", dq: '"', lq: '"', rq: '"', co: '(c)', bu: '' })[name] ?? '',
    )
    .replace(/\\\[[^\]]*\]|\\\*\([^ ]{2}|\\\*.|\\s[-+]?\d/g, '')
    .replace(/\\[&|^%/,:]/g, '')
    .replace(/\\-/g, '-')
    .replace(/\\e/g, '\\')
    .replace(/\\ /g, ' ')
    .replace(/\s?\b(?:Ns|Ap|No)\b\s?/g, '')
}
