// The Node versions that evsys is tested on, each from the npm package that carries its binary, so that nothing but the
// package registry is needed. Run by itself it installs them all.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The whole suite passes on each of these. */
export const suiteVersions = ['20.20.2', '22.23.3', '24.21.0']

/** The oldest published version that package.json's `engines` admits: the packed program runs on it. */
export const floorVersion = process.arch === 'arm64' ? '20.18.0' : '20.12.2'

/**
 * Puts a Node version under .tmp/nodes, unless it is there, and returns the folder that holds its `node`.
 * @param {string} version
 * @returns {string}
 */
export function installNode(version) {
  if (process.platform !== 'linux') throw new Error(`no Node binaries are pinned for ${process.platform}`)
  const name = `node-linux-${process.arch}`
  const folder = join(root, '.tmp', 'nodes', version)
  const bin = join(folder, 'node_modules', name, 'bin')
  if (existsSync(join(bin, 'node'))) return bin
  // Installed beside and moved into place, so that an interrupted download is never taken for a version.
  const partial = `${folder}.partial-${process.pid}`
  mkdirSync(partial, { recursive: true })
  const install = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--prefix', partial]
  const { status, stderr } = spawnSync('npm', [...install, `${name}@${version}`], { cwd: partial, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node ${version} could not be installed: ${stderr}`)
  mkdirSync(dirname(folder), { recursive: true })
  try {
    renameSync(partial, folder)
  } catch (error) {
    if (!existsSync(join(bin, 'node'))) throw error // else another process was faster
    rmSync(partial, { recursive: true, force: true })
  }
  return bin
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const version of [floorVersion, ...suiteVersions]) installNode(version)
