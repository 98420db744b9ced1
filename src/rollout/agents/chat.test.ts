import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attempt, inlineTask } from '../../../tests/agent-run.ts'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { keyedRandom } from '../../kernel/index.ts'

const folder = temporaryFolders()

describe('agent chat', () => {
  it('asks once, in the words of its params; the answer is the output (AGT-4)', async () => {
    const policy = scriptedModel(['it'])
    const params = { system_prompt: 'Be brief.', user_template: 'Q: {prompt}?' }
    const outcome = await attempt('chat', params, { policy })
    expect(outcome).toMatchObject({ ended: 'done', output: 'it' })
    expect(policy.asked).toHaveLength(1)
    expect(policy.asked[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Q: say it?' },
      ],
      ...{ maxTokens: 16, temperature: 0, seed: keyedRandom(1).int(2 ** 32) },
    })
  })

  it('goes on with the user turns of the task, each turn with a seed of its own (AGT-4)', async () => {
    const policy = scriptedModel(['one', 'two', 'three'])
    const task = { ...inlineTask, metadata: { user_turns: ['and then?', 'and at last?'] } }
    const outcome = await attempt('chat', { output: 'all' }, { policy, task })
    expect(outcome.output).toBe('one\n\ntwo\n\nthree')
    expect(policy.asked[2]?.messages).toEqual([
      { role: 'user', content: 'say it' },
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'and then?' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'and at last?' },
    ])
    expect(new Set(policy.asked.map(({ seed }) => seed)).size).toBe(3)
    const own = await attempt('chat', { user_turns: ['more'] }, { policy: scriptedModel(['a', 'b']), task })
    expect(own.output).toBe('b')
  })

  it('is led by a user that is a function of the project, until it says nothing (AGT-4)', async () => {
    const file = join(folder(), 'user.ts')
    writeFileSync(
      file,
      `export const strict = (messages: { content: string }[], { task, turn }: { task: { task_id: string }; turn: number }) =>
        messages.at(-1)?.content === 'please' ? undefined : \`\${task.task_id} \${turn}: say please\`
      export const broken = () => { throw new Error('lost my tongue') }
      export const number = 3`,
    )
    const policy = scriptedModel(['no', 'please'])
    const outcome = await attempt('chat', { user: `${file}#strict` }, { policy })
    expect(outcome.output).toBe('please')
    expect(policy.asked[1]?.messages.at(-1)?.content).toBe('t1 0: say please')
    const broken = await attempt('chat', { user: `${file}#broken` }, { policy: scriptedModel(['x']) })
    expect(broken.error).toMatchObject({ code: 'PLUGIN_FAILED', message: expect.stringContaining('lost my tongue') })
    const number = await attempt('chat', { user: `${file}#number` }, { policy: scriptedModel(['x']) })
    expect(number.error).toMatchObject({ code: 'PLUGIN_INVALID', infra: true })
  })

  it('user turns that are no texts are a fault of the data (AGT-4)', async () => {
    const task = { ...inlineTask, metadata: { user_turns: [3] } }
    const outcome = await attempt('chat', {}, { policy: scriptedModel(['x']), task })
    expect(outcome.error).toMatchObject({ code: 'DATA_INVALID', infra: true })
  })

  it('a conversation that never ends is cut off at its turns (AGT-4)', async () => {
    const user_turns = Array.from({ length: 50 }, () => 'again')
    const outcome = await attempt('chat', { user_turns, max_turns: 4 }, { policy: scriptedModel(() => 'x') })
    expect(outcome).toMatchObject({ ended: 'done', truncated: 'max_turns' })
    expect(outcome.turns).toHaveLength(4)
  })
})
