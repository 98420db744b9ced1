// How a secret shows up in what programs write: inside JSON, URLs, headers, dumps.

/** The texts that give a secret away. None is shorter than `shortest`, which would match by chance. */
export function secretForms(value: string, shortest: number): Set<string> {
  const forms = new Set<string>()
  // A value read from a file ends in a newline that nobody sends; a key of several lines is logged line by line.
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  for (const text of [value, value.trim(), ...lines.filter((line) => line.length >= 16)]) {
    for (const form of formsOf(text)) if (form.length >= shortest) forms.add(form)
  }
  return forms
}

function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const json = inJson(text)
  const uri = encodeURIComponent(bytes.toString()) // through bytes: a lone surrogate has no URI form
  const form = new URLSearchParams([['', text]]).toString().slice(1)
  const hex = bytes.toString('hex')
  const misread = bytes.toString('latin1')
  const written = [text, json, inJson(json), uri, form, lowerCaseEscapes(uri), misread]
  return [...written, hex, hex.toUpperCase(), ...base64Forms(bytes)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function lowerCaseEscapes(uri: string): string {
  return uri.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

// In a longer text, such as `user:password`, the value may begin at any of three places within a group of four characters. Of
// those forms only the middle is the same whatever stands around; below 8 characters it would match by chance.
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64')
  const forms = [whole, whole.replace(/=+$/, '')]
  for (const before of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const start = Math.ceil((before * 8) / 6)
    const end = Math.floor(((before + bytes.length) * 8) / 6)
    if (end - start >= 8) forms.push(text.slice(start, end))
  }
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}
