// What a run leaked in its process: open handles, timers, replaced built-ins, new globals, a full heap. A worker that holds
// any of it does no further run. It cannot see everything (a module's own variables, say), only what could reach the next run
// uninvited.
import { memoryUsage } from 'node:process'
import { getHeapStatistics } from 'node:v8'

/** Share of the heap that a worker may hold when a run is over; the next one needs room. */
const heapShare = 0.6

/** Remembers the process as it is now, before the run. */
export function observeProcess(heapMb: number) {
  const handles = countedHandles()
  const shapes = watched.map(shapeOf)
  const names = new Set(Object.getOwnPropertyNames(globalThis))
  const env = JSON.stringify(process.env)
  const cwd = process.cwd()
  const listeners = listenerCount()
  unreferenced.clear()
  return {
    /** What differs from the moment of `observeProcess`, in words; empty: nothing. */
    find(): string[] {
      const found: string[] = []
      const open = countedHandles()
      for (const [name, count] of open) if (count > (handles.get(name) ?? 0)) found.push(`open ${name}`)
      if (hiddenTimers() > 0) found.push('timers without a hold on the process')
      const changed = watched.flatMap(([name, object], i) =>
        changedKeys(object, shapes[i]).map((key) => `${name}.${key}`),
      )
      found.push(...changed.map((key) => `a replaced ${key}`))
      for (const name of Object.getOwnPropertyNames(globalThis)) if (!names.has(name)) found.push(`the global ${name}`)
      if (JSON.stringify(process.env) !== env) found.push('a changed environment')
      if (process.cwd() !== cwd) found.push('another working folder')
      if (listenerCount() !== listeners) found.push('listeners on process')
      if (heldMb() > heapMb * heapShare) found.push(`${Math.round(heldMb())} MB of memory`)
      return found
    },
  }
}

function countedHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

// A timer that was unreferenced is not among the active resources, and still goes off in the next run.
const unreferenced = new Set<WeakRef<NodeJS.Timeout>>()
const timeout = Object.getPrototypeOf(clearAfter(setTimeout(() => {}, 0)))
const { ref, unref } = timeout
timeout.unref = function (this: NodeJS.Timeout) {
  if (!isCalledByNode()) unreferenced.add(new WeakRef(this))
  return unref.call(this)
}

/** `fetch` keeps timers for its idle connections. */
function isCalledByNode(): boolean {
  const { stack } = new Error()
  const [, , , caller] = typeof stack === 'string' ? stack.split('\n', 4) : []
  return caller?.includes('node:internal/') ?? false
}

/** Of these timers, those that have yet to go off: referenced again for a moment, they are counted with the others. */
function hiddenTimers(): number {
  const timers = [...unreferenced].flatMap((each) => each.deref() ?? [])
  const count = () => countedHandles().get('Timeout') ?? 0
  const before = count()
  for (const timer of timers) ref.call(timer)
  const hidden = count() - before
  for (const timer of timers) unref.call(timer)
  return hidden
}

function clearAfter(timer: NodeJS.Timeout): NodeJS.Timeout {
  clearTimeout(timer)
  return timer
}

// Built-ins that all code relies on.
const watched: readonly (readonly [name: string, object: object])[] = [
  ['globalThis', globalThis],
  ['process', process],
  ['JSON', JSON],
  ['Math', Math],
  ['Reflect', Reflect],
  ['Object', Object],
  ['Object.prototype', Object.prototype],
  ['Function.prototype', Function.prototype],
  ['Array', Array],
  ['Array.prototype', Array.prototype],
  ['String.prototype', String.prototype],
  ['Number', Number],
  ['Date', Date],
  ['Date.prototype', Date.prototype],
  ['Map.prototype', Map.prototype],
  ['Set.prototype', Set.prototype],
  ['Promise', Promise],
  ['Promise.prototype', Promise.prototype],
  ['Float64Array.prototype', Object.getPrototypeOf(Float64Array.prototype)],
]

type Shape = ReadonlyMap<string | symbol, unknown>

// Functions alone: the other properties of process change by themselves, and a global that is made on first use is no change.
function shapeOf([, object]: readonly [string, object]): Shape {
  const shape = new Map<string | symbol, unknown>()
  for (const key of Reflect.ownKeys(object)) {
    const value: unknown = Object.getOwnPropertyDescriptor(object, key)?.value
    if (typeof value === 'function') shape.set(key, value)
  }
  return shape
}

function changedKeys(object: object, shape: Shape | undefined): string[] {
  const now = shapeOf(['', object])
  return [...(shape ?? [])].flatMap(([key, value]) => (now.get(key) === value ? [] : [String(key)]))
}

function listenerCount(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
}

function heldMb(): number {
  return (getHeapStatistics().used_heap_size + memoryUsage().arrayBuffers) / (1024 * 1024)
}
