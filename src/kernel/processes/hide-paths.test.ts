import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { hidingCommand, whyNotHidden } from './hide-paths.ts'

const folder = temporaryFolders()
const namespaces = needs('user namespaces (unshare, mount)', () => {
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'evsys', '/tmp'])
  return true
})

function run(hidden: readonly string[], script: string): string {
  const [command = '', ...args] = hidingCommand(hidden, ['/bin/sh', '-c', script])
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return stdout.trim()
}

describe('hidden paths', () => {
  namespaces.it(
    'folders are empty, files are empty, links to them too; everything else is as it was (EVL-7)',
    async () => {
      const dir = folder()
      mkdirSync(join(dir, 'secret folder'))
      writeFileSync(join(dir, 'secret folder', 'a'), 'a')
      writeFileSync(join(dir, 'secret.txt'), 'b')
      writeFileSync(join(dir, 'open.txt'), 'c')
      symlinkSync(join(dir, 'secret folder'), join(dir, 'link'))
      const hidden = [join(dir, 'secret folder'), join(dir, 'secret.txt'), join(dir, 'not there')]
      const seen = run(
        hidden,
        `cd '${dir}'; ls 'secret folder' link; cat secret.txt open.txt; echo d > new.txt; cat new.txt; id -u`,
      )
      const lines = seen.split('\n').filter((line) => line !== '')
      expect(lines).toEqual(['link:', 'secret folder:', 'cd', String(process.getuid?.())])
      expect(await whyNotHidden()).toBeUndefined()
    },
  )

  namespaces.it('cannot be uncovered from inside (EVL-7)', () => {
    const dir = folder()
    writeFileSync(join(dir, 'a'), 'a')
    const tries = [
      `umount '${dir}'`,
      `unshare -Urm umount '${dir}'`,
      `unshare -Urm mount -t tmpfs evsys '${dir}/..'`,
      `nsenter -t ${process.pid} -m true`,
      `cat /proc/${process.pid}/root'${dir}'/a`,
      `cat /proc/${process.pid}/environ`,
    ]
    const script = tries.map((each) => `${each} >/dev/null 2>&1`).join('; ')
    expect(
      run([dir], `${script}; ls '${dir}' | wc -l; cat /proc/${process.pid}/root'${dir}'/a 2>/dev/null | wc -c`),
    ).toMatch(/^0\s+0$/)
  })

  it('nothing to hide changes nothing (EVL-7)', () => {
    expect(hidingCommand([], ['node', 'x.js'])).toEqual(['node', 'x.js'])
  })
})
