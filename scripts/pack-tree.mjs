// Packs the working tree as it would be published, from a copy: what git would commit, and dist/ as it is built here. A build makes
// dist/ anew, so nothing of an earlier one is in it.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Copies what git would commit from the working tree, tracked or new, into a folder.
 * @param {string} folder
 */
export function copyTree(folder) {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const file of list.split('\0').filter((each) => each !== '' && existsSync(join(root, each)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
}

/**
 * Builds the working tree and packs a copy of it in a folder; returns the path of the tarball.
 * @param {string} folder an empty folder
 * @returns {string}
 */
export function packTree(folder) {
  const tree = join(folder, 'tree')
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' })
  copyTree(tree)
  cpSync(join(root, 'dist'), join(tree, 'dist'), { recursive: true })
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: tree,
    encoding: 'utf8',
  })
  /** @type {{ filename: string }[]} */
  const [tarball] = JSON.parse(packed)
  if (tarball === undefined) throw new Error('npm pack made no tarball')
  return join(folder, tarball.filename)
}
