import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { findAccelerator } from './find-accelerator.ts'

const folder = temporaryFolders()

// Links to devices that every system has stand for those of the driver.
function machine(nodes: readonly string[]) {
  const dir = folder()
  const dev = join(dir, 'dev')
  mkdirSync(join(dev, 'nvidia-caps'), { recursive: true })
  for (const name of nodes) symlinkSync('/dev/null', join(dev, name))
  const driver = join(dir, 'driver')
  mkdirSync(join(driver, 'gpus', '0000:01:00.0'), { recursive: true })
  writeFileSync(join(driver, 'gpus', '0000:01:00.0', 'information'), 'Model: \t NVIDIA H200\nIRQ: 1\n')
  return { dir, dev, driver }
}

describe('the accelerator of candidates', () => {
  it('is every node of the driver, with its libraries and the choice of the user (RES-316)', () => {
    const { dir, dev, driver } = machine(['nvidia0', 'nvidiactl', 'nvidia-uvm', 'nvidia-caps/nvidia-cap1', 'kmsg'])
    writeFileSync(join(dev, 'nvidia7'), 'a file')
    const libraries = join(dir, 'libraries')
    mkdirSync(libraries)
    writeFileSync(join(libraries, 'libcuda.so.1'), '')
    const env = { LD_LIBRARY_PATH: `${dir}:${libraries}:relative`, CUDA_VISIBLE_DEVICES: '0', HOME: '/home/x' }
    const found = findAccelerator({ env, dev, driver })
    expect(found).toMatchObject({
      name: 'NVIDIA H200',
      mounts: [{ source: libraries, target: libraries }],
      env: { CUDA_VISIBLE_DEVICES: '0' },
    })
    if (typeof found === 'string') return
    expect(found.devices.map(({ target }) => target)).toEqual([
      '/dev/nvidia-caps/nvidia-cap1',
      '/dev/nvidia-uvm',
      '/dev/nvidia0',
      '/dev/nvidiactl',
    ])
    expect(found.env.LD_LIBRARY_PATH?.split(':')).toContain(libraries)
    expect(found.env.HOME).toBeUndefined()
  })

  it('is told to be missing, with the reason (RES-316)', () => {
    const none = machine(['nvidiactl', 'null'])
    expect(findAccelerator({ env: {}, ...none })).toBe('this machine has no /dev/nvidia*')
    const one = machine(['nvidia0'])
    expect(findAccelerator({ env: { CUDA_VISIBLE_DEVICES: '' }, ...one })).toMatch(/shows no card/)
    const two = machine(['nvidia0', 'nvidia1'])
    expect(findAccelerator({ env: {}, ...two })).toMatchObject({ name: '2 x NVIDIA H200' })
  })
})
