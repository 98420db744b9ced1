// Text to records by RFC 4180: fields between separators, quoted ones may hold separators, quotes (doubled) and line breaks. It takes
// text in pieces of any size and keeps no more than the record it is in. It knows no files and no rows.

export interface CsvRecord {
  readonly fields: readonly string[]
  /** 1-based line on which the record begins. */
  readonly line: number
  /** Whether a field was quoted: an empty line is none, `""` is a record. */
  readonly isQuoted: boolean
}

export interface CsvFault {
  readonly message: string
  readonly fix: string
  readonly line: number
  readonly col: number
}

/** Splits text into records. After a fault it gives nothing more: where the next record begins cannot be told. */
export class CsvReader {
  readonly #delimiter: string
  readonly #maxChars: number
  #fields: string[] = []
  #field = ''
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  #line = 1
  #col = 1
  #recordLine = 1
  #quoteAt = { line: 1, col: 1 }
  #isQuoted = false
  #chars = 0
  #afterReturn = false
  #fault: CsvFault | undefined

  constructor({ delimiter, maxChars }: { delimiter: string; maxChars: number }) {
    this.#delimiter = delimiter
    this.#maxChars = maxChars
  }

  get fault(): CsvFault | undefined {
    return this.#fault
  }

  /** The records that the next piece of text completes. */
  push(text: string): CsvRecord[] {
    const records: CsvRecord[] = []
    for (let at = 0; at < text.length && this.#fault === undefined; at++) {
      if (this.#state === 'plain' || this.#state === 'quoted') at = this.#takeRun(text, at)
      const char = text[at]
      if (char !== undefined) this.#take(char, records)
    }
    return records
  }

  /** The last record, where the text does not end with a line break. */
  end(): CsvRecord[] {
    if (this.#fault !== undefined) return []
    if (this.#state === 'quoted') {
      this.#fault = {
        message: 'a quote is opened here and never closed',
        fix: 'close it; a quote inside a quoted field is written twice: "".',
        ...this.#quoteAt,
      }
      return []
    }
    const isEmpty = this.#state === 'start' && this.#fields.length === 0
    return isEmpty ? [] : [this.#finish()]
  }

  // Characters without a meaning of their own, all at once: most of a file is made of them.
  #takeRun(text: string, from: number): number {
    const { plain, quoted } = this.#stops
    const stop = this.#state === 'quoted' ? quoted : plain
    stop.lastIndex = from
    const end = stop.test(text) ? stop.lastIndex - 1 : text.length
    if (end === from) return from
    this.#field += text.slice(from, end)
    this.#col += end - from
    this.#chars += end - from
    this.#afterReturn = false
    if (this.#chars > this.#maxChars) this.#tooLong()
    return end
  }

  get #stops() {
    const delimiter = this.#delimiter.replace(/[|\\]/g, '\\$&')
    this.#patterns ??= { plain: new RegExp(`[${delimiter}"\r\n]`, 'g'), quoted: /["\r\n]/g }
    return this.#patterns
  }
  #patterns: { plain: RegExp; quoted: RegExp } | undefined

  #take(char: string, records: CsvRecord[]): void {
    const isBreak = char === '\n' || char === '\r'
    if (char === '\n' && this.#afterReturn) {
      this.#afterReturn = false // the second half of a line break that was taken already
      if (this.#state === 'quoted') this.#field += char
      return
    }
    this.#afterReturn = char === '\r'
    if (++this.#chars > this.#maxChars) this.#tooLong()
    else if (this.#state === 'quoted') this.#takeQuoted(char)
    else if (isBreak) records.push(this.#finish())
    else if (char === this.#delimiter) this.#endField()
    else if (char === '"') this.#takeQuote()
    else if (this.#state === 'closed') this.#wrong('there is text after the closing quote', 'put a separator after it.')
    else {
      this.#field += char
      this.#state = 'plain'
    }
    if (isBreak) {
      this.#line++
      this.#col = 1
      if (this.#state === 'start' && this.#fields.length === 0) this.#recordLine = this.#line
    } else this.#col++
  }

  #takeQuoted(char: string): void {
    if (char === '"') this.#state = 'closed'
    else this.#field += char
  }

  #takeQuote(): void {
    if (this.#state === 'closed') {
      this.#field += '"' // the second of two stands for one
      this.#state = 'quoted'
    } else if (this.#state === 'start') {
      this.#quoteAt = { line: this.#line, col: this.#col }
      this.#state = 'quoted'
      this.#isQuoted = true
    } else
      this.#wrong(
        'there is a quote inside a field that is not quoted',
        'quote the whole field, and write its quotes twice.',
      )
  }

  #endField(): void {
    this.#fields.push(this.#field)
    this.#field = ''
    this.#state = 'start'
  }

  #finish(): CsvRecord {
    this.#endField()
    const record = { fields: this.#fields, line: this.#recordLine, isQuoted: this.#isQuoted }
    this.#fields = []
    this.#isQuoted = false
    this.#chars = 0
    return record
  }

  #tooLong(): void {
    this.#fault ??= {
      message: `the record is longer than ${this.#maxChars} characters`,
      fix: 'look for a quote that is not closed, or raise max_record_chars.',
      line: this.#recordLine,
      col: 1,
    }
  }

  #wrong(message: string, fix: string): void {
    this.#fault ??= { message, fix, line: this.#line, col: this.#col }
  }
}
