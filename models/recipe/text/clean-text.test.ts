import { describe, expect, it } from 'vitest'
import { cleanParagraph } from './clean-paragraph.ts'
import { createDuplicateFilter } from './drop-duplicates.ts'
import { formats } from './formats.ts'

const prose =
  'The river was high that year, and nobody in the village could remember when they had seen it so near to the mill.'

describe('cleanParagraph', () => {
  it('keeps prose, with plain quotes and single spaces (MOD-40)', () => {
    expect(cleanParagraph(`  ${prose.replace('that', '\u201cthat\u201d').replaceAll(' ', '\n ')}`)).toBe(
      prose.replace('that', '"that"'),
    )
  })

  it.each([
    ['short', 'It was here.'],
    ['code', 'for (let i = 0; i < n; i++) { total += values[i] * weights[i]; } return total / n;'],
    ['a list of names', 'Alpha, Bravo, Charlie, Delta, Echo, Foxtrot, Golf, Hotel, India, Juliett, Kilo.'],
    [
      'another language',
      'Der Fluss stand in jenem Jahr hoch, und niemand im Dorf wusste noch, wann er so nah gewesen war.',
    ],
    ['a heading', 'What is in the second part of the manual and how it can be found by the reader'],
  ])('drops %s (MOD-40)', (_, text) => {
    expect(cleanParagraph(text)).toBeUndefined()
  })
})

describe('createDuplicateFilter', () => {
  it('tells what was there before, exactly or nearly (MOD-40)', () => {
    const isDuplicate = createDuplicateFilter()
    const long = `${prose} The miller himself, who was the oldest of them all, only shook his head and went on with his work.`
    expect(isDuplicate(long)).toBe(false)
    expect(isDuplicate(long.toUpperCase())).toBe(true)
    expect(isDuplicate(long.replace('oldest', 'eldest'))).toBe(true)
    expect(isDuplicate('On the other side of the hill the men had begun to cut the hay before the rain came.')).toBe(
      false,
    )
  })
})

describe('formats', () => {
  it('read prose out of markup (MOD-40)', () => {
    expect(
      formats
        .html('<p>One &amp; <b>two</b>.</p><pre>code</pre><li>Three&#8217;s</li>')
        .flat()
        .map((text) => text.trim())
        .filter(Boolean),
    ).toEqual(['One & two.', 'Three\u2019s'])
    expect(
      formats.roff('.TH X 1\n.SH NAME\n.B read\nreads \\fIn\\fP bytes;\nsee\n.BR write (2).\n.PP\nNext.')[0],
    ).toEqual(['read reads n bytes; see write(2).', 'Next.'])
    expect(
      formats
        .markup('Use :func:`open` and ``close``.\n\n.. note::\n   gone\n\nEnd *here*.')[0]
        ?.map((text) => text.trim())
        .filter(Boolean),
    ).toEqual(['Use open and close.', 'End here.'])
    expect(formats.verses('{"A 1:1": "In the # [beginning].", "A 2:1": "Then."}')).toEqual([
      ['In the  beginning.'],
      ['Then.'],
    ])
  })
})
