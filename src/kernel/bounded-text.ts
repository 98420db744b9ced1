/** Keeps the end of what is printed: that is where a program says why it failed. */
export function boundedText(maxBytes: number): { add(bytes: Uint8Array): void; text(): string } {
  let parts: Uint8Array[] = []
  let size = 0
  const compact = () => {
    const whole = Buffer.concat(parts)
    parts = [whole.subarray(Math.max(0, whole.length - maxBytes))]
    size = parts[0]?.length ?? 0
  }
  return {
    add(bytes) {
      parts.push(bytes)
      size += bytes.length
      if (size > 2 * maxBytes) compact()
    },
    text() {
      compact()
      return new TextDecoder().decode(parts[0])
    },
  }
}
