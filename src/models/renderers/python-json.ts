// Values as templates write them: by Python's json, with a space after commas and colons, and by str().

export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${pythonJson(item)}`)
      .join(', ')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** As Python's str(), for values that come from JSON. */
export function pythonString(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  return typeof value === 'object' ? pythonJson(value) : String(value)
}

/** Arguments of a call as JSON text; text that is no JSON object stays as it is. */
export function argumentText(args: unknown): string {
  return typeof args === 'string' ? args : pythonJson(args)
}
