// A process that computes when it is asked to and sleeps in between: a line of JSON in, a line of JSON out.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export class Contender {
  #child
  #lines
  #stderr = ''
  #ended
  began = performance.now()

  /** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} env */
  constructor(program, args, env) {
    this.#child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.once('error', (error) => {
      this.#stderr += error.message
    })
    this.#child.stdin.on('error', () => {}) // the line that is missed tells more
    this.#child.stderr.on('data', (data) => {
      this.#stderr = (this.#stderr + data).slice(-4000)
    })
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** The next answer. @returns {Promise<any>} what this bench's own programs print */
  async hear() {
    const { value, done } = await this.#lines.next()
    if (!done) return JSON.parse(value)
    await this.#ended
    throw new Error(`${this.#child.spawnargs.slice(0, 3).join(' ')} has ended: ${this.#stderr}`)
  }

  /** @param {Record<string, unknown>} question */
  ask(question) {
    this.#child.stdin.write(`${JSON.stringify(question)}\n`)
    return this.hear()
  }

  async close() {
    this.#child.stdin.end()
    await this.#ended
  }
}
