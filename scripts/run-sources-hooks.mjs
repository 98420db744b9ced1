// Hooks of Node's module loader, in the thread that Node gives them.

import { fileURLToPath } from 'node:url'
import { transpile } from './transpile.mjs'

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/')) return nextLoad(url, context)
  return { format: 'module', source: transpile(fileURLToPath(url)), shortCircuit: true }
}
