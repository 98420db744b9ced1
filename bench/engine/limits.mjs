// What the engine must reach. Against PyTorch always means: against the fastest and the lightest of its ways.

import { gigaflops } from './cases.mjs'

/**
 * @typedef {{ of: import('./cases.mjs').Case, threads: number, measured: import('./measure.mjs').Measured[], peak: number }} Result
 * @typedef {{ best: number, peakMb: number }} Peer
 */

/** Limits by case: the figure of one contender, and what it must reach. */
const limits = [
  { on: 'step', who: 'native', what: 'share of FMA peak', least: 0.75, figure: shareOfPeak },
  { on: 'step', who: 'native', what: 'speed', least: 1, figure: speed },
  { on: 'step', who: 'wasm', what: 'speed', least: 0.5, figure: speed },
  { on: 'step', who: 'native', what: 'memory', most: 0.6, figure: memory },
  { on: 'step', who: 'wasm', what: 'memory', most: 0.6, figure: memory },
  { on: 'lora', who: 'native', what: 'speed', least: 1.2, figure: speed },
  { on: 'lora', who: 'native', what: 'memory', most: 0.6, figure: memory },
  { on: 'long', who: 'native', what: 'memory', most: 0.6, figure: memory },
  { on: 'tenth', who: 'native', what: 'speed', least: 1.2, figure: speed },
  { on: 'tenth', who: 'native', what: 'memory', most: 0.6, figure: memory },
  { on: 'sample-1', who: 'native', what: 'speed', least: 5, figure: speed },
  { on: 'sample-32', who: 'native', what: 'speed', least: 3, figure: speed },
]

/** Rows of a table: what, threads, figure, limit, met or missed. @param {Result[]} results @returns {string[][]} */
export function judge(results) {
  return results.flatMap((result) =>
    limits.flatMap(({ on, who, what, least, most, figure }) => {
      const own = result.measured.find(({ name }) => name === who)
      if (result.of.name !== on || own === undefined) return []
      const peers = result.measured.filter(({ name }) => name !== 'native' && name !== 'wasm')
      const value = figure(own, peers, result)
      if (!Number.isFinite(value)) return []
      const isMet = (least === undefined || value >= least) && (most === undefined || value <= most)
      const unit = what === 'share of FMA peak' ? '' : ' x PyTorch'
      const bound = least === undefined ? `at most ${most}` : `at least ${least}`
      const found = `${value.toFixed(2)}${unit}`
      return [[`${on}, ${who}, ${what}`, String(result.threads), found, bound, isMet ? 'met' : 'missed']]
    }),
  )
}

/** @param {Peer} own @param {Peer[]} peers */
function speed({ best }, peers) {
  return Math.min(...peers.map((peer) => peer.best)) / best
}

/** @param {Peer} own @param {Peer[]} peers */
function memory({ peakMb }, peers) {
  return peers.length === 0 ? Number.NaN : peakMb / Math.min(...peers.map((peer) => peer.peakMb))
}

/** @param {Peer} own @param {Peer[]} _ @param {Result} result */
function shareOfPeak({ best }, _, { of, peak }) {
  return peak === 0 ? Number.NaN : gigaflops(of) / (best / 1000) / peak
}
