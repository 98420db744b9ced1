#!/usr/bin/env node
// Starts the command line. Nothing is imported before the version of Node is known: an old one would stop at the first file
// with a message that helps nobody.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 12)) {
  process.stderr.write(
    `evsys needs Node 20.12 or newer, this is ${process.versions.node}.\n` +
      '  fix: install a newer one from https://nodejs.org or with your version manager (nvm install 22), then run this again.\n',
  )
  process.exitCode = 2
} else {
  start().catch((error) => {
    const unbuilt = error?.code === 'ERR_MODULE_NOT_FOUND' && String(error.url).endsWith('/dist/cli/start.js')
    process.stderr.write(
      unbuilt
        ? 'evsys is not built.\n  fix: run `npm run build` in its folder.\n'
        : `evsys cannot start: ${error?.message ?? error}\n  fix: install it again; EVSYS_DEBUG=1 shows more.\n`,
    )
    if (process.env.EVSYS_DEBUG === '1') process.stderr.write(`${error?.stack ?? error}\n`)
    process.exitCode = 1
  })
}

async function start() {
  const { default: nodeModule } = await import('node:module')
  nodeModule.enableCompileCache?.() // Node 22.8 and newer: compiled code is kept between starts
  const cli = await import('../dist/cli/start.js')
  await cli.start()
}
