// What is wrong with bytes or values that a peer sent. The rooms above turn it into their own errors.

/** Bytes or values that break the protocol; `at` names the place, `data[3].loss_fn_inputs.weights`. */
export class WireError extends Error {
  readonly at: string

  constructor(at: string, message: string) {
    super(at === '' ? message : `${at}: ${message}`)
    this.name = 'WireError'
    this.at = at
  }
}
