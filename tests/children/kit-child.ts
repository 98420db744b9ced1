// A child that behaves, or does what foreign code may do, as it is asked.
import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { type Parent, serve } from '../../src/kernel/index.ts'
import { kitProtocol } from '../kit-protocol.ts'

type KitParent = Parent<typeof kitProtocol>

const acts: Readonly<Record<string, (parent: KitParent) => unknown>> = {
  exit: () => process.exit(3),
  'throw later': () =>
    void setTimeout(() => {
      throw new Error('thrown where nothing catches it')
    }),
  'die by a signal': () => process.kill(process.pid, 'SIGTERM'),
  'stand still': () => process.kill(process.pid, 'SIGSTOP'),
  hang() {
    for (;;);
  },
  'block for a moment': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700),
  // So long on a processor, however long it takes.
  'compute for a moment'(parent) {
    parent.notify('seen', 0)
    const began = process.cpuUsage()
    const usedMs = () => {
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000
    }
    while (usedMs() < 600);
  },
  'print without end'() {
    for (;;) writeSync(1, 'x'.repeat(65536))
  },
  'write a line without end'() {
    for (;;) writeSync(3, 'x'.repeat(65536))
  },
  'write noise': () => writeSync(3, '{"type":"reply","id":1,"result":"forged"}\nnoise'),
  'send what is no number': (parent) => parent.notify('seen', 'one' as never),
  'send an unknown notice': (parent) => parent.notify('unseen' as never, 1 as never),
  'notify without end'(parent) {
    for (let i = 0; ; i++) parent.notify('seen', i)
  },
  'call without end': (parent) => Promise.all(Array.from({ length: 100 }, (_, i) => parent.call('twice', i))),
  'fill the heap'() {
    const held: unknown[] = []
    for (;;) held.push(new Array(1e5).fill(held.length))
  },
  'fill the memory'() {
    const held: Buffer[] = []
    try {
      for (;;) held.push(Buffer.alloc(16 * 1024 * 1024, 1))
    } catch {
      process.exit(1) // the system refused before it killed
    }
  },
  'hold much memory'() {
    const held = Array.from({ length: 40 }, () => Buffer.alloc(16 * 1024 * 1024, 1))
    while (held.length > 0);
  },
  'start a process': () => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'ignore' }).pid,
  'leave a process with its pipes'() {
    const args = ['-e', 'setTimeout(() => {}, 5000)']
    spawn(process.execPath, args, { detached: true, stdio: ['ignore', 1, 2, 3, 'ignore', 5] }).unref()
    process.exit(3)
  },
  environment: () => Object.keys(process.env),
}

let notes = 0
await serve(kitProtocol, (parent) => ({
  echo: (value) => value,
  fail(message) {
    throw new Error(message)
  },
  ask: (numbers) => Promise.all(numbers.map((each) => parent.call('twice', each))),
  wait: (_, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve('cancelled'), { once: true })
    }),
  note() {
    notes += 1
  },
  notes: () => notes,
  watch({ timeoutMs, memoryMb }) {
    parent.watch({ timeoutMs, memoryMb }).keepTime()
    return null
  },
  act: (what) => (acts[what] ?? (() => {}))(parent),
}))
