// The gate of the feed-forward part (Shazeer 2020): silu(gate) * up, silu(x) = x sigmoid(x).

export function swiglu(gate: Float64Array, up: Float64Array): Float64Array {
  return gate.map((g, i) => g * sigmoid(g) * (up[i] ?? 0))
}

/** Gradients by gate and up. silu'(x) = s (1 + x (1 - s)) with s = sigmoid(x). */
export function swigluBack(
  gate: Float64Array,
  up: Float64Array,
  dOut: Float64Array,
): { dGate: Float64Array; dUp: Float64Array } {
  return {
    dGate: gate.map((g, i) => {
      const s = sigmoid(g)
      return (dOut[i] ?? 0) * (up[i] ?? 0) * s * (1 + g * (1 - s))
    }),
    dUp: gate.map((g, i) => (dOut[i] ?? 0) * g * sigmoid(g)),
  }
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}
