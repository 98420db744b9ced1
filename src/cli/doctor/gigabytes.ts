/** `12.3 GB`, in powers of ten. */
export function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}
