// A result on its way, in two steps: accepted in its order, and done.

/** What the service took: its ids, with which the result can be asked for again, and the numbers of the requests. */
export interface Submitted {
  readonly requestIds: readonly string[]
  readonly seqs: readonly number[]
}

/** The result, once it is there. `submitted` resolves as soon as the service has accepted the work in its order. */
export interface TinkerFuture<T> extends Promise<T> {
  readonly submitted: Promise<Submitted>
}

/** Starts `work`, which tells when it was accepted. Neither promise needs a handler: a caller may await an earlier one. */
export function startFuture<T>(work: (accepted: (submitted: Submitted) => void) => Promise<T>): TinkerFuture<T> {
  let accept: (submitted: Submitted) => void = () => {}
  let refuse: (reason: unknown) => void = () => {}
  const submitted = new Promise<Submitted>((resolve, reject) => {
    accept = resolve
    refuse = reject
  })
  submitted.catch(() => {})
  const result = work(accept)
  result.catch(refuse)
  return Object.assign(result, { submitted })
}
