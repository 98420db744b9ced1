// The first part of a stream as text: what comes after the limit is counted and dropped.

/** Keeps at most so many bytes. */
export class CappedText {
  readonly #limit: number
  readonly #chunks: Uint8Array[] = []
  #kept = 0
  #dropped = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  add(chunk: Uint8Array): void {
    const room = this.#limit - this.#kept
    const part = chunk.byteLength <= room ? chunk : chunk.subarray(0, room)
    if (part.byteLength > 0) this.#chunks.push(part)
    this.#kept += part.byteLength
    this.#dropped += chunk.byteLength - part.byteLength
  }

  get droppedBytes(): number {
    return this.#dropped
  }

  /** What was kept, and after it a line that tells what was not. */
  toString(): string {
    // A character that the limit cuts in two is left out.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(this.#chunks), {
      stream: this.#dropped > 0,
    })
    return this.#dropped === 0 ? text : `${text}\n[output truncated: ${this.#dropped} bytes left out]\n`
  }
}
