// The inner end of the bridge, as a program for `node -e` inside an environment. It is the parent of the agent's program: each command
// of an environment may have a separate network, so the port that the program talks to has to be opened by the same command.
// Frames are lines of JSON; bytes are in base64. It knows nothing of HTTP.
const net = require('node:net')
const { spawn } = require('node:child_process')
const send = (frame) => process.stdout.write(JSON.stringify(frame) + '\n')
const sockets = new Map()
let child
let next = 0
const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  const c = next++
  sockets.set(c, socket)
  send({ t: 'open', c })
  socket.on('data', (data) => send({ t: 'data', c, b: data.toString('base64') }))
  socket.on('end', () => send({ t: 'end', c }))
  socket.on('error', () => {})
  socket.on('close', () => { sockets.delete(c); send({ t: 'close', c }) })
})
function start({ argv, env, stdin }) {
  server.listen(0, '127.0.0.1', () => {
    const port = String(server.address().port)
    const fill = (text) => text.split('__EVSYS_PORT__').join(port)
    const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
    const [command, ...args] = argv.map(fill)
    child = spawn(command, args, { env: { ...process.env, ...filled }, stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
    for (const s of ['stdout', 'stderr']) child[s].on('data', (data) => send({ t: 'said', s, b: data.toString('base64') }))
    child.on('error', (error) => send({ t: 'exit', error: error.message }))
    child.on('close', (code, signal) => send({ t: 'exit', code, signal }))
  })
}
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const frame = JSON.parse(line)
    if (frame.t === 'start') start(frame)
    else if (frame.t === 'data') sockets.get(frame.c)?.write(Buffer.from(frame.b, 'base64'))
    else if (frame.t === 'end') sockets.get(frame.c)?.end()
    else if (frame.t === 'close') sockets.get(frame.c)?.destroy()
    else if (frame.t === 'stop') process.exit(0)
  }
})
process.stdin.on('end', () => { child?.kill('SIGKILL'); process.exit(0) })
