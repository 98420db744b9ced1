// Lints what would be published: publint for the manifest, attw for the types as an importer resolves them. Takes a tarball,
// or packs the working tree.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { packTree } from './pack-tree.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'evsys-package-'))
try {
  const tarball = process.argv[2] ?? packTree(folder)
  const messages = await lintManifest(tarball)
  for (const message of messages) console.log(`publint: ${message}`)
  const typesAreRight = checkTypes(tarball)
  process.exitCode = messages.length === 0 && typesAreRight ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * @param {string} tarball
 * @returns {Promise<string[]>}
 */
async function lintManifest(tarball) {
  const { buffer, byteOffset, byteLength } = readFileSync(tarball)
  const bytes = /** @type {ArrayBuffer} */ (buffer).slice(byteOffset, byteOffset + byteLength)
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true })
  return messages.map((message) => `${message.type}: ${formatMessage(message, pkg ?? {}, { color: false })}`)
}

/** @param {string} tarball */
function checkTypes(tarball) {
  const attw = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js')
  const flags = ['--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji']
  return spawnSync(process.execPath, [attw, tarball, ...flags], { stdio: 'inherit' }).status === 0
}
