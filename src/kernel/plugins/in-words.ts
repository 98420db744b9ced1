// What a value is, for a message about a value of the wrong sort.

/** `nothing`, `a list`, `an object`, `a class`, `"text"`, `3`. */
export function inWords(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') {
    return /^class\b/.test(Function.prototype.toString.call(value)) ? 'a class' : 'a function'
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
