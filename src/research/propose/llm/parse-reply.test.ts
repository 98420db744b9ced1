import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleIdea } from '../../../../tests/research-brief.ts'
import { parseReply } from './parse-reply.ts'

const one = {
  title: 'Wider',
  hypothesis: 'fits more',
  family: 'Width',
  category: 'architecture',
  change: { kind: 'knobs', knobs: { HIDDEN: 64 } },
}
const two = { ...one, title: 'Patch', change: { kind: 'patch', patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n' } }
const whole = JSON.stringify({ ideas: [one, two] })
const read = (text: string, files = ['train.mjs']) => parseReply(text, { most: 4, files })
const titles = (text: string) => read(text).ideas.map(({ title }) => title)

describe('what a model answers', () => {
  it('is read between words, in fences, as a list, and cut off in the middle (RES-510)', () => {
    expect(titles(whole)).toEqual(['Wider', 'Patch'])
    expect(titles(`Sure! Here:\n\`\`\`json\n${whole}\n\`\`\`\nGood luck {with} it.`)).toEqual(['Wider', 'Patch'])
    expect(titles(`Sure: ${whole} Good luck.`)).toEqual(['Wider', 'Patch'])
    expect(titles(JSON.stringify([one, two]))).toEqual(['Wider', 'Patch'])
    expect(titles(JSON.stringify(one))).toEqual(['Wider'])
    expect(titles(whole.slice(0, whole.length - 20))).toEqual(['Wider'])
    expect(titles(`\`\`\`json\n${whole.slice(0, whole.length - 20)}`)).toEqual(['Wider'])
  })

  it('is read with commas too many and line ends in texts (RES-510)', () => {
    expect(titles('{"ideas": [{"title": "A", "change": {"knobs": {"LR": 1,},},},],}')).toEqual(['A'])
    const [idea] = read(
      '{"ideas": [{"title": "A", "change": {"patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\\d\n+b\n"}}]}',
    ).ideas
    expect(idea?.change).toEqual({ kind: 'patch', patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\\d\n+b\n' })
  })

  it('is understood in other shapes: code of the only file, lists of files, fenced patches (RES-510)', () => {
    expect(read('{"title": "A", "code": "```js\\nlet a\\n```"}').ideas[0]?.change).toEqual({
      kind: 'files',
      files: { 'train.mjs': 'let a\n' },
    })
    expect(read('{"title": "A", "files": [{"path": "x.py", "content": "a = 1"}]}').ideas[0]?.change).toEqual({
      kind: 'files',
      files: { 'x.py': 'a = 1' },
    })
    expect(read(whole).ideas[0]).toMatchObject({ family: 'width', category: 'architectural', cost: 'same' })
  })

  it('is never guessed: what is missing is said (RES-510)', () => {
    expect(read('').problems).toEqual(['it is empty'])
    expect(read('I cannot help.').problems).toEqual(['it holds no JSON'])
    expect(read('{"ideas": []}').ideas).toEqual([])
    expect(read('{"ideas": [{"title": "A"}]}').problems).toEqual([
      'idea 1: it has no change: neither knobs, nor edits, nor a patch, nor files',
    ])
    expect(read('{"ideas": [{"title": "A", "patch": "x", "knobs": {"A": 1}}]}').problems).toEqual([
      'idea 1: it has several changes: give either knobs, or edits, or a patch, or files',
    ])
    expect(read('{"title": "A", "code": "x"}', ['a', 'b']).ideas).toEqual([])
    expect(read('{"ideas": [{"title": "A", "change": {"knobs": {"A": [1]}}}]}').ideas).toEqual([])
  })

  it('gives valid ideas or problems for any text, cut anywhere (RES-510)', () => {
    const answer = `Words\n\`\`\`json\n${JSON.stringify({ ideas: [sampleIdea(), two] }, null, 1)}\n\`\`\``
    fc.assert(
      fc.property(fc.nat(answer.length), fc.string({ maxLength: 20 }), (at, noise) => {
        const { ideas, problems } = read(answer.slice(0, at) + noise)
        expect(ideas.length + problems.length).toBeGreaterThan(0)
        for (const { title } of ideas) expect(['Wider layer', 'Patch']).toContain(title)
      }),
    )
  })
})
