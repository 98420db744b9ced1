import { describe, expect, it } from 'vitest'
import { loadTaskFolder } from '../../src/rollout/index.ts'
import { refuseUnsupported, unofferedWarnings } from '../../src/rollout/trial/run-trial.ts'
import { exceptionName } from '../../src/rollout/trial/trial-error.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { writeTaskFolder } from './task-folder.ts'

const folder = temporaryFolders()
const load = (files: Record<string, string>) =>
  loadTaskFolder(writeTaskFolder(folder(), { 'tests/test.sh': '#!/bin/sh\n', ...files }))

describe('a task that asks for what no trial does', () => {
  it.each([
    ['earlier turns', { 'trajectory.json': '{}' }, 'trajectory.json'],
    ['skills', { 'task.toml': '[environment]\nskills_dir = "/skills"\n' }, 'skills_dir: /skills'],
  ])('is refused with its reason: %s; agents that are not led do without (HAR-82)', async (_what, files, words) => {
    const task = await load(files)
    expect(() => refuseUnsupported(task, 'shell_loop')).toThrow(
      expect.objectContaining({ code: 'ENVIRONMENT_REFUSED', message: expect.stringContaining(words) }),
    )
    refuseUnsupported(task, 'oracle')
    refuseUnsupported(task, 'nop')
  })

  it('is refused for sidecars whoever attempts it, by the name that Harbor has (HAR-82)', async () => {
    const hook = await load({ 'task.toml': '[[verifier.collect]]\ncommand = "x"\nservice = "db"\n' })
    const artifact = await load({ 'task.toml': 'artifacts = [{ source = "/x", service = "web" }]\n' })
    for (const [task, service] of [
      [hook, 'db'],
      [artifact, 'web'],
    ] as const) {
      const thrown = (() => {
        try {
          refuseUnsupported(task, 'oracle')
          return undefined
        } catch (error) {
          return error
        }
      })()
      expect(exceptionName(thrown)).toBe('ServiceOperationsUnsupportedError')
      expect(thrown).toMatchObject({ message: expect.stringContaining(service) })
    }
  })

  it('tells of MCP servers that its agent is not given by itself (HAR-82)', async () => {
    const toml = '[[environment.mcp_servers]]\nname = "files"\nurl = "http://files/mcp"\n'
    const task = await load({ 'task.toml': toml })
    refuseUnsupported(task, 'chat')
    expect(unofferedWarnings(task, 'chat')).toEqual([expect.stringContaining('files')])
    expect(unofferedWarnings(task, 'nop')).toEqual([])
  })
})
