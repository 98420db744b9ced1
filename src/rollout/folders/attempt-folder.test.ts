import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { keepTrial } from './attempt-folder.ts'

const folder = temporaryFolders()

function record(): string {
  const dir = folder()
  for (const name of [
    ...['result.json', 'config.json', 'trial.log', 'agent/trajectory.json', 'verifier/test-stdout.txt'],
    ...['artifacts/x', 'steps/one/agent/trajectory.json', 'steps/one/verifier/reward.txt'],
  ]) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), name)
  }
  return dir
}

const filesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort()

describe('what a run keeps of a trial', () => {
  it('is its result and what the agent did, never what the tests printed (AGT-17)', async () => {
    const root = folder()
    await keepTrial(record(), root, 'logs/test/trials/a', 1)
    await keepTrial(record(), root, 'logs/test/trials/a')
    const kept = ['agent/trajectory.json', 'result.json', 'steps/one/agent/trajectory.json']
    expect(filesIn(join(root, 'logs/test/trials/a'))).toEqual(
      [...kept, ...kept.map((name) => `attempts/1/${name}`)].sort(),
    )
  })

  it('does not go where a link of the recipe leads (AGT-17)', async () => {
    const [root, elsewhere] = [folder(), folder()]
    symlinkSync(elsewhere, join(root, 'logs'))
    await expect(keepTrial(record(), root, 'logs/test')).rejects.toMatchObject({ code: 'FILE_FAILED' })
    expect(existsSync(join(elsewhere, 'test/result.json'))).toBe(false)
  })
})
