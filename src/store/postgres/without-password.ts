// The address of a server as it may be shown: messages, logs and reports never hold a password.

/** The address without secrets. */
export function withoutPassword(address: string): string {
  try {
    const url = new URL(address)
    url.password = ''
    for (const name of [...url.searchParams.keys()])
      if (/password|passfile|sslkey/i.test(name)) url.searchParams.delete(name)
    return url.href
  } catch {
    return 'postgresql://(an address that cannot be read)'
  }
}
