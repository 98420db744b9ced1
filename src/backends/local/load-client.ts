/** Loads what talks to a trainer. */
export function loadClient() {
  new Headers() // Node loads its HTTP client at the first use of a part of it
  return Promise.all([import('../../tinker/index.ts'), import('../tinker/open-client-backend.ts')])
}
