import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { agentFileHashes } from './run-in-worker.ts'

const folder = temporaryFolders()

describe('the files that an agent brings', () => {
  it('are part of the code of a run: itself, its tools, its user, and what they import (AGT-19)', () => {
    const dir = folder()
    mkdirSync(join(dir, 'lib'))
    const write = (name: string, text: string) => writeFileSync(join(dir, name), text)
    write('lib/words.ts', 'export const word = 1\n')
    write('tools.ts', "import { word } from './lib/words.ts'\nexport const search = word\n")
    write('user.ts', 'export const user = () => undefined\n')
    write('agent.ts', 'export const Own = 1\n')
    const agent = {
      kind: join(dir, 'agent.ts#Own'),
      params: { tools: [`${dir}/tools.ts#search`, `${dir}/tools.ts#other`], user: `${dir}/user.ts#user` },
    }
    const before = agentFileHashes(agent, dir)
    expect(Object.keys(before).sort()).toEqual(['file agent.ts', 'file tools.ts', 'file user.ts'])
    write('lib/words.ts', 'export const word = 2\n')
    const after = agentFileHashes(agent, dir)
    expect(after['file tools.ts']).not.toBe(before['file tools.ts'])
    expect(after['file user.ts']).toBe(before['file user.ts'])
    expect(agentFileHashes({ kind: 'tool_loop', params: { tools: [join(dir, 'gone.ts#x')] } }, dir)).toEqual({})
    expect(agentFileHashes(undefined, dir)).toEqual({})
  })
})
