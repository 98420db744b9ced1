import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadExport } from '../../src/kernel/index.ts'
import { attempt } from '../agent-run.ts'
import { faultsIn } from '../load-text.ts'
import { codeBlocks } from '../readme.ts'
import { scriptedModel } from '../scripted-model.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const page = readFileSync(new URL('../../docs/guides/agents.md', import.meta.url), 'utf8')

describe('docs/guides/agents.md', () => {
  const [user = '', tools = '', agent = ''] = codeBlocks(page, 'ts')

  it('its experiments are valid (AGT-11)', async () => {
    const run =
      'name: e\ndata: { source_kind: in_memory, rows: [{ a: 1 }] }\nmodel: { name: m }\nalgorithm: { kind: sft, params: { max_steps: 1 } }\n'
    const blocks = codeBlocks(page, 'yaml')
    expect(blocks).toHaveLength(3)
    for (const block of blocks) expect(await faultsIn(`${run}${block}`)).toEqual([])
  })

  it('its user, tool and agent work (AGT-4, AGT-5)', async () => {
    const lib = join(folder(), 'lib')
    mkdirSync(lib)
    for (const [name, text] of Object.entries({ user, tools, agent })) writeFileSync(join(lib, `${name}.ts`), text)
    const chat = await attempt(
      'chat',
      { user: `${join(lib, 'user.ts')}#impatient`, output: 'all' },
      {
        policy: scriptedModel(['soon', 'sorry']),
      },
    )
    expect(chat).toMatchObject({ output: 'soon\n\nsorry' })

    const policy = scriptedModel([
      { toolCalls: [{ type: 'function', function: { name: 'search', arguments: { words: 'cats' } } }] },
      'none',
    ])
    await attempt('tool_loop', { tools: [`${join(lib, 'tools.ts')}#search`] }, { policy })
    expect(policy.asked[1]?.messages.at(-1)?.content).toBe('{"found":["nothing about cats"]}')

    const draft = await loadExport(`${join(lib, 'agent.ts')}#Draft`, { from: lib })
    const own = scriptedModel(['a draft', 'better'])
    const outcome = await attempt('draft', {}, { policy: own, plugins: [draft] })
    expect(outcome).toMatchObject({ ended: 'done', output: 'better' })
    expect(own.asked[1]?.messages[0]?.content).toContain('A draft: a draft')
  })
})
