// The Python that candidates run on: the one EVSYS_PYTHON names, else the first on the PATH. Its folders are mounted where they
// are, since a virtual environment knows its interpreter by an absolute path.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Mount } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'

const execute = promisify(execFile)
/** Looking for modules of some GB takes a while on a cold disk; importing them is not needed. */
const probeMs = 60_000

const probe = `
import importlib.util, json, os, sys
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
folders = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))]
print(json.dumps({"executable": sys.executable, "version": sys.version.split()[0], "folders": folders, "missing": missing}))
`

/** Finds an interpreter that has these packages, or says what to do. */
export async function findPython(packages: readonly string[], { env, instead, signal }: PythonOptions) {
  const names = env.EVSYS_PYTHON ? [env.EVSYS_PYTHON] : ['python3', 'python']
  const reasons: string[] = []
  for (const name of names) {
    const found = await ask(name, packages, env, signal)
    if (typeof found === 'string') reasons.push(found)
    else if (found.missing.length === 0) return { ...found, mounts: mountsOf(found.folders) }
    else reasons.push(`${found.executable} (Python ${found.version}) has no ${found.missing.join(', ')}`)
  }
  const install = packages.length === 0 ? 'install Python' : `\`python3 -m pip install ${packages.join(' ')}\``
  throw new EvsysError('ENVIRONMENT_FAILED', `no Python can run the candidates: ${reasons.join('; ')}`, {
    fix: `${install}, set EVSYS_PYTHON to an interpreter that has it${instead === undefined ? '' : `, or ${instead}`}.`,
  })
}

interface PythonOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Another way out, in words. */
  readonly instead?: string | undefined
  readonly signal: AbortSignal
}

interface Probed {
  readonly executable: string
  readonly version: string
  readonly folders: readonly string[]
  readonly missing: readonly string[]
}

async function ask(
  name: string,
  packages: readonly string[],
  env: PythonOptions['env'],
  signal: AbortSignal,
): Promise<Probed | string> {
  try {
    const { PATH, HOME } = env
    const options = { timeout: probeMs, signal, env: { PATH, HOME } }
    const { stdout } = await execute(name, ['-I', '-c', probe, ...packages], options)
    return JSON.parse(stdout) as Probed // our own program wrote it
  } catch (cause) {
    if (signal.aborted) throw cause
    const lines = messageOf(cause).split('\n')
    return `${name}: ${lines.findLast((line) => line.trim() !== '') ?? 'it cannot be started'}`
  }
}

// Folders of the system are in every sandbox; one inside another is there with it.
function mountsOf(folders: readonly string[]): Mount[] {
  const outside = [...new Set(folders)].filter((folder) => !/^\/(?:usr|bin|sbin|lib\w*)(?:\/|$)/.test(folder)).sort()
  const outer = outside.filter((folder) => !outside.some((other) => folder !== other && folder.startsWith(`${other}/`)))
  return outer.map((folder) => ({ source: folder, target: folder }))
}
