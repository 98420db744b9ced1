import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { chooseEnvironment } from './choose-environment.ts'
import { machineMeans } from './machine-means.ts'

const newFolder = temporaryFolders()
function means({ sandbox, docker }: { sandbox?: string; docker?: string }) {
  return { sandbox: async () => sandbox, docker: async () => docker }
}

function folder(toml: string, dockerfile = 'FROM debian'): { path: string } {
  const path = newFolder()
  const files = { 'task.toml': toml, 'instruction.md': 'x', 'environment/Dockerfile': dockerfile, 'tests/test.sh': '' }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return { path }
}

describe('chooseEnvironment', () => {
  const choose = (place: { path: string } | undefined, has: Parameters<typeof means>[0]) =>
    chooseEnvironment(place, means(has), {})

  it('takes the least that holds the task (HAR-80)', async () => {
    expect(await choose(undefined, {})).toEqual({ kind: 'inline', reasons: [] })
    expect(await choose(folder(''), {})).toEqual({ kind: 'local', reasons: [] })
    expect(await choose(folder('', 'FROM acme/x'), {})).toEqual({
      kind: 'docker',
      reasons: ['it starts from the image acme/x'],
    })
    expect(await choose(folder(''), { sandbox: 'no bubblewrap' })).toMatchObject({ kind: 'docker' })
  })

  it('never takes one that does less than the task asks for (HAR-20)', async () => {
    await expect(choose(folder('', 'FROM acme/x'), { docker: 'not installed' })).rejects.toThrow(
      /local: it starts from the image acme\/x\. docker: not installed/,
    )
    await expect(choose(folder(''), { sandbox: 'no namespaces', docker: 'not installed' })).rejects.toThrow(
      /no namespaces/,
    )
    const here = machineMeans(new AbortController().signal, join(newFolder(), 'no-docker'))
    await expect(chooseEnvironment(folder('', 'FROM acme/x'), here, {})).rejects.toThrow(
      /docker: .*cannot start .*no-docker/,
    )
    const list = '[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.com"]'
    await expect(choose(folder(list), {})).rejects.toThrow(/local: .*allowlist.*docker: .*allowlist/)
  })
})
