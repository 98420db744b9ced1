import { Worker } from 'node:worker_threads'
import { describe, expect, it, vi } from 'vitest'
import { createSilenceTimer } from './silence-timer.ts'

describe('silence', () => {
  it('is noticed once it lasts, and put off by every sign of life (LAB-4)', async () => {
    vi.useFakeTimers()
    try {
      const noticed = vi.fn()
      const timer = createSilenceTimer(1000, noticed)
      timer.start()
      await vi.advanceTimersByTimeAsync(900)
      timer.heard()
      await vi.advanceTimersByTimeAsync(900)
      expect(noticed).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(200)
      expect(noticed).toHaveBeenCalledOnce()
    } finally {
      vi.useRealTimers()
    }
  })

  it('is not taken for one by a controller that was busy itself: what has arrived is heard first (LAB-4)', async () => {
    const noticed = vi.fn()
    const timer = createSilenceTimer(20, noticed)
    const sent = new Int32Array(new SharedArrayBuffer(4))
    const sign = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
       parentPort.postMessage('alive')
       Atomics.store(workerData, 0, 1)
       Atomics.notify(workerData, 0)`,
      { eval: true, workerData: sent },
    )
    const judged = new Promise((resolve) => {
      sign.once('message', () => {
        timer.heard()
        setImmediate(resolve)
      })
    })
    timer.start()
    const until = performance.now() + 50
    Atomics.wait(sent, 0, 0) // our event loop stands still until a sign of life lies waiting, and the time is long over
    while (performance.now() < until);
    await judged
    timer.stop()
    expect(noticed).not.toHaveBeenCalled()
  })

  it('means nothing while nobody is listened for (LAB-4)', async () => {
    vi.useFakeTimers()
    try {
      const noticed = vi.fn()
      const timer = createSilenceTimer(1000, noticed)
      timer.start()
      timer.stop()
      timer.heard()
      await vi.advanceTimersByTimeAsync(5000)
      expect(noticed).not.toHaveBeenCalled()
    } finally {
      vi.useRealTimers()
    }
  })

  it('lasts longer before the first sign: a process has to start (LAB-4)', async () => {
    vi.useFakeTimers()
    try {
      const noticed = vi.fn()
      const timer = createSilenceTimer(1000, noticed)
      timer.start(5000)
      await vi.advanceTimersByTimeAsync(4900)
      timer.heard()
      await vi.advanceTimersByTimeAsync(900)
      expect(noticed).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(200)
      expect(noticed).toHaveBeenCalledOnce()
    } finally {
      vi.useRealTimers()
    }
  })
})
