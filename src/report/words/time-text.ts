/** `2026-01-31T18:00:12.123Z` as `2026-01-31 18:00 UTC`. */
export function timeText(at: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(at) ? `${at.slice(0, 16).replace('T', ' ')} UTC` : at
}
