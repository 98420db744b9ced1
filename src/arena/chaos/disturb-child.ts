// Loaded into a controller before its own code: counts its asynchronous operations, and at one of them disturbs it as the environment says.
import { createHook } from 'node:async_hooks'
import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { Disturb, disturbVariable, marks } from './disturbance.ts'

const mostHeldMs = 3000

const text = process.env[disturbVariable]
const disturb = text === undefined ? undefined : Disturb.parse(JSON.parse(text))
if (disturb !== undefined && isMainThread && process.argv[1] === disturb.program) watch(disturb)

function watch({ dir, act, at, jumpMs }: Disturb): void {
  let operations = 0
  const hook = createHook({
    init() {
      operations += 1
      if (operations !== at || act === 'nothing') return
      writeFileSync(join(dir, marks.disturbed), '') // what acts must not be seen by what it disturbs
      acts[act]({ dir, jumpMs })
    },
  }).enable()
  process.once('exit', () => {
    hook.disable()
    writeFileSync(join(dir, marks.operations), String(operations))
  })
}

const acts: Readonly<Record<Exclude<Disturb['act'], 'nothing'>, (how: Pick<Disturb, 'dir' | 'jumpMs'>) => void>> = {
  kill: () => process.kill(process.pid, 'SIGKILL'),
  hold: ({ dir }) => {
    const still = new Int32Array(new SharedArrayBuffer(4))
    // It may hold a lock of the record, for which the other one would wait much longer than anyone wants to watch.
    const until = performance.now() + mostHeldMs
    while (performance.now() < until && !existsSync(join(dir, marks.released))) Atomics.wait(still, 0, 0, 10)
  },
  clock: ({ jumpMs }) => shiftClock(jumpMs),
  fill: ({ dir }) => fillDisk(join(dir, marks.ballast)),
}

/** `Date` of this process from now on. Timers and performance.now() follow the machine's steady clock, as they do when a clock is set. */
function shiftClock(jumpMs: number): void {
  const Real = Date
  const now = () => Real.now() + jumpMs
  globalThis.Date = new Proxy(Real, {
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  })
}

function fillDisk(ballast: string): void {
  const file = openSync(ballast, 'w')
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (const block = Buffer.alloc(size); writeSync(file, block) === size; );
    } catch {
      // not that much is left
    }
  }
  closeSync(file)
}
