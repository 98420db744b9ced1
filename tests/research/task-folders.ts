// What tests of the executor share: one executor for many candidates of the line task, and what counts as an honest score.
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundledTasks } from '../../src/research/index.ts'
import { needs } from '../needs.ts'

export const linux = needs('a Linux sandbox (bwrap or unshare) and python3', () => {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'], { env })
  execFileSync('python3', ['-c', 'pass'], { env })
  return true
})

/** Nobody without the labels comes below this: half the variance of their noise. */
export const floor = 0.5 * (0.1 * 2) ** 2 * (3 / 12)

// Bundled tasks over made-up data: the folder as it is shipped, with another `prepare` and no sources, so that no test needs a network.
/** Copies a task into a project; `prepare` is the text of its data step. Returns the folder of the copy. */
export function copyTask(
  name: string,
  project: string,
  prepare: string,
  edit: (yaml: string) => string = (same) => same,
): string {
  const folder = join(project, 'tasks', name)
  cpSync(join(bundledTasks, 'shared'), join(project, 'tasks', 'shared'), { recursive: true })
  cpSync(join(bundledTasks, name), folder, { recursive: true })
  const file = join(folder, 'task.yaml')
  const text = readFileSync(file, 'utf8').replace(/^data:\n(?: .*\n)+/m, 'data: { prepare: prepare.mjs }\n')
  writeFileSync(file, edit(text))
  writeFileSync(join(folder, 'prepare.mjs'), prepare)
  return folder
}

/** Digits of a kind: a bright square at one of ten places, with noise; in one of five its place lies. */
export const squares = `
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
export default function prepare({ out }) {
  let state = 5
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296
  for (const [split, size] of [['train', 1600], ['val', 300], ['test', 300]]) {
    const images = Buffer.alloc(size * 784)
    const labels = Uint8Array.from({ length: size }, () => Math.floor(next() * 10))
    for (let i = 0; i < size; i++) {
      for (let n = 0; n < 60; n++) images[i * 784 + Math.floor(next() * 784)] = 255
      const shown = next() < 0.2 ? Math.floor(next() * 10) : labels[i]
      const [x, y] = [(shown % 5) * 5 + 1, shown < 5 ? 4 : 16]
      for (let a = 0; a < 4; a++) for (let b = 0; b < 4; b++) images[i * 784 + (y + a) * 28 + x + b] = 200
    }
    writeFileSync(join(out, split, 'images.bin'), images)
    writeFileSync(join(out, split, 'labels.bin'), labels)
  }
}
`

/** A text that a model learns in seconds: few words in random order. */
export const chant = `
import { writeTextSplits } from '../shared/text-splits.mjs'
export default function prepare({ out }) {
  let state = 5
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296
  const words = ['whale', 'sea', 'harpoon', 'captain', 'white']
  let text = ''
  while (text.length < 200_000) text += words[Math.floor(next() * 5)] + ' '
  writeTextSplits(Buffer.from(text), out)
}
`
