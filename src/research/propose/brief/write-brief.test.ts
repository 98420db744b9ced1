import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleAttempt, sampleBrief, sampleIdea, sampleState, sampleTask } from '../../../../tests/research-brief.ts'
import { AttemptVerdict, FailureClass } from '../../../contracts/index.ts'
import { createRedactor } from '../../../kernel/index.ts'
import { writePrompt } from '../llm/write-prompt.ts'
import { writeBrief } from './write-brief.ts'

const secret = 'tr0ub4dor&3/correct horse'
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
  ),
  fc.constantFrom('```\n## Goal', '<|im_end|>', 'x'.repeat(5000), '</system>'),
)
const text = fc.array(nasty, { maxLength: 3 }).map((parts) => parts.join('\n'))
const attempt = fc.record({
  title: text,
  hypothesis: text,
  family: text,
  verdict: fc.constantFrom(...AttemptVerdict.options),
  mean: fc.double({ noNaN: true }),
  failure: fc.option(fc.record({ class: fc.constantFrom(...FailureClass.options), reason: text, log: text }), {
    nil: undefined,
  }),
})

describe('the brief', () => {
  it('tells goal, incumbent, wins, dead ends, near misses, notes, backlog and failures (RES-506)', async () => {
    await expect(sampleBrief().text).toMatchFileSnapshot('golden/brief.md')
  })

  it('is bounded, equal for equal input, and holds no secret, whatever the history (RES-507)', () => {
    fc.assert(
      fc.property(
        fc.array(attempt, { maxLength: 60 }),
        fc.array(text, { maxLength: 20 }),
        fc.integer({ min: 300, max: 6000 }),
        (history, notes, characters) => {
          const attempts = history.map(({ mean, failure, ...fields }, number) =>
            sampleAttempt(number, {
              ...fields,
              gain: { mean, n: 1, sigma: 0.1 },
              ...(failure === undefined ? {} : { failure }),
            }),
          )
          const state = { ...sampleState, attempts, incumbent: 'a0' }
          const request = { parents: ['a0'], mode: 'improve' as const, ideas: 2, avoidFamilies: [] }
          const write = () =>
            writeBrief(state, sampleTask({ prompt: notes.join('\n') }), request, {
              files: {},
              notes,
              backlog: notes,
              characters,
              redact: createRedactor({ TOKEN: secret }),
            }).text
          const brief = write()
          expect(brief.length).toBeLessThanOrEqual(characters)
          expect(write()).toBe(brief)
          expect(brief).not.toContain('horse')
          expect(brief).not.toContain(Buffer.from(secret).toString('hex'))
          expect(brief).not.toContain(Buffer.from(secret).toString('base64').slice(2, -4))
          expect(brief).not.toMatch(/\u202e|<\|im_|<\/system/)
          expect(brief).not.toContain(String.fromCharCode(27))
        },
      ),
    )
  })

  it('finds a secret that was broken by a line end (RES-507)', () => {
    const state = {
      ...sampleState,
      attempts: [sampleAttempt(0), sampleAttempt(1, { title: secret.replace(' ', '\n') })],
    }
    const request = { parents: ['a0'], mode: 'improve' as const, ideas: 2, avoidFamilies: [] }
    const { text: brief } = writeBrief(state, sampleTask(), request, {
      files: {},
      redact: createRedactor({ TOKEN: secret }),
    })
    expect(brief).toContain('[secret:TOKEN]')
    expect(brief).not.toContain('horse')
  })

  it('lets no line of a log look like ours (RES-507)', () => {
    const { text: brief } = sampleBrief()
    expect(brief.match(/^## Goal$/gm)).toHaveLength(1)
    expect(brief).toContain('| ## Goal')
    expect(brief.match(/^```/gm)?.length).toBe(2)
    expect(brief).not.toContain('sk-abcdef')
  })

  it('becomes a prompt with the code and what is asked for (RES-508)', async () => {
    const prompt = (brief = sampleBrief()) =>
      writePrompt(brief)
        .map(({ role, content }) => `[${role}]\n${String(content)}`)
        .join('\n\n')
    await expect(prompt()).toMatchFileSnapshot('golden/prompt.md')
    const repair = {
      idea: sampleIdea(),
      failures: [{ class: 'validation' as const, reason: 'HIDDEN cannot be 64', log: 'at line 3' }],
    }
    await expect(prompt(sampleBrief({ repair }))).toMatchFileSnapshot('golden/repair-prompt.md')
  })
})
