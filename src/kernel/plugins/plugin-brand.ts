// The mark of everything that `define*` made. A registered symbol is shared by every copy of this module, so that a plugin
// made by another copy of evsys is still one.
import type { AnyPlugin } from '../../contracts/index.ts'

const brand = Symbol.for('evsys.plugin')

/** Marks an object as made by `define*`. Not enumerable: a spread copy is unmarked and has to be defined again. */
export function markPlugin<P extends object>(plugin: P): P {
  return Object.defineProperty(plugin, brand, { value: true })
}

/** Whether a value was made by a `define*` function. */
export function isPlugin(value: unknown): value is AnyPlugin {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true
}
