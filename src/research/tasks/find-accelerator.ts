// The GPU that candidates may use: the device nodes of NVIDIA's driver, and where its libraries lie. Whether a candidate makes use of
// it is its own affair: this says what it is shown. Other makers' drivers want parts of the running system that no sandbox shows.
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Accelerator, Mount } from '../../contracts/index.ts'

interface AcceleratorPlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dev?: string | undefined
  /** Where the driver lists its cards. */
  readonly driver?: string | undefined
}

/** Folders in which containers and virtual machines are given the driver; on other machines the linker knows them. */
const libraryFolders = ['/usr/local/nvidia/lib64', '/usr/local/nvidia/lib', '/usr/lib/wsl/lib']
const library = 'libcuda.so.1'
/** Which cards a program sees: the user's choice holds for candidates, too. */
const choices = ['CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER']

/** What there is, or in words why there is nothing. */
export function findAccelerator({
  env,
  dev = '/dev',
  driver = '/proc/driver/nvidia',
}: AcceleratorPlaces): Accelerator | string {
  if (env.CUDA_VISIBLE_DEVICES === '' || env.CUDA_VISIBLE_DEVICES === '-1') return 'CUDA_VISIBLE_DEVICES shows no card'
  const nodes = nodesIn(dev)
  const cards = nodes.filter((name) => /^nvidia\d+$|^dxg$/.test(name))
  if (cards.length === 0) return 'this machine has no /dev/nvidia*'
  const closed = cards.filter((name) => !isOpen(join(dev, name)))
  if (closed.length > 0) return `/dev/${closed[0]} is not open to the account of candidates`
  const folders = [...new Set([...libraryFolders, ...(env.LD_LIBRARY_PATH ?? '').split(':')])].filter(
    (folder) => folder.startsWith('/') && existsSync(join(folder, library)),
  )
  const libraries = folders.length === 0 ? undefined : folders.join(':')
  const passed = [['LD_LIBRARY_PATH', libraries] as const, ...choices.map((name) => [name, env[name]] as const)]
  return {
    name: cardNames(driver, cards.length),
    devices: nodes.map((name): Mount => ({ source: join(dev, name), target: `/dev/${name}` })),
    mounts: folders
      .filter((folder) => !/^\/(?:usr|lib\w*)\//.test(folder))
      .map((folder) => ({ source: folder, target: folder })),
    env: Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  }
}

function nodesIn(dev: string): string[] {
  const known = /^(?:nvidia\d+|nvidiactl|nvidia-(?:uvm|uvm-tools|modeset)|dxg)$/
  const names = listed(dev).filter((name) => known.test(name))
  const caps = listed(join(dev, 'nvidia-caps')).map((name) => `nvidia-caps/${name}`)
  return [...names, ...caps].filter((name) => isDevice(join(dev, name))).sort()
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isDevice(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() === true
}

// As root, candidates are an account that owns nothing: a node has to be open to all.
function isOpen(path: string): boolean {
  if (process.getuid?.() === 0) return (statSync(path).mode & 0o006) === 0o006
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

function cardNames(driver: string, count: number): string {
  const models = listed(join(driver, 'gpus')).flatMap((card) => {
    try {
      const text = readFileSync(join(driver, 'gpus', card, 'information'), 'utf8')
      return /^Model:\s*(.+?)\s*$/m.exec(text)?.[1] ?? []
    } catch {
      return []
    }
  })
  const [first = 'GPU'] = models
  return count > 1 ? `${count} x ${first}` : first
}
