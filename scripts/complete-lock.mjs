// Completes package-lock.json after a change of dependencies. npm leaves out optional platform packages that the registry at hand
// does not offer, and `npm ci` then refuses the lockfile everywhere. This adds them: the version is the one that the parent asks
// for, the platform is told by the name. Content is pinned for those that could be fetched.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * @typedef {{ version?: string, dev?: boolean, optional?: boolean, optionalDependencies?: Record<string, string> }} LockEntry
 * @typedef {Record<string, LockEntry>} LockPackages
 */

/**
 * Optional packages that an entry of the lockfile asks for and that have no entry themselves.
 * @param {LockPackages} packages
 */
export function findMissing(packages) {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(packages, parent, name))
      .map(([name, version]) => ({ name, version, dev: dev === true })),
  )
}

/**
 * Looks for a package where Node would: in the parent's node_modules, then further up.
 * @param {LockPackages} packages
 * @param {string} parent
 * @param {string} name
 * @returns {boolean}
 */
function isLocked(packages, parent, name) {
  if (`${parent === '' ? '' : `${parent}/`}node_modules/${name}` in packages) return true
  return parent !== '' && isLocked(packages, parent.slice(0, Math.max(0, parent.lastIndexOf('/node_modules/'))), name)
}

/**
 * The platform that a package of native code is for, from its name: `binding-linux-x64-musl`.
 * @param {string} name
 * @returns {{ os?: string[], cpu: string[], libc?: string[] }}
 */
export function platformOf(name) {
  if (/-wasm32(-|$)/.test(name)) return { cpu: ['wasm32'] }
  const [, os, cpu, abi] =
    /-(android|darwin|freebsd|linux|netbsd|openbsd|openharmony|win32)-(arm64|arm|ia32|loong64|ppc64|riscv64|s390x|x64)(?:-(\w+))?$/.exec(
      name,
    ) ?? []
  if (os === undefined || cpu === undefined) throw new Error(`the name ${name} does not tell its platform`)
  const libc = os === 'linux' && abi !== undefined ? { libc: [abi.startsWith('musl') ? 'musl' : 'glibc'] } : {}
  return { os: [os], cpu: [cpu], ...libc }
}

function main() {
  const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  for (const { name, version, dev } of findMissing(lock.packages)) {
    const entry = { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true }
    lock.packages[`node_modules/${name}`] = entry
    console.log(`${name} ${version}`)
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries(sorted)
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
