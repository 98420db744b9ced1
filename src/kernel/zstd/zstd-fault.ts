/** Why a zstd stream was not unpacked. */
export class ZstdFault extends Error {
  readonly isTooLarge: boolean

  constructor(message: string, { isTooLarge = false } = {}) {
    super(message)
    this.isTooLarge = isTooLarge
  }
}

export function damaged(why: string): ZstdFault {
  return new ZstdFault(`the zstd frame is damaged: ${why}`)
}
