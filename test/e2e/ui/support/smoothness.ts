import type { Page } from 'playwright-core'

/** How smooth a page was during an action, as the browser measured it. */
export interface Smoothness {
  /** Tasks that blocked the page for 50 ms or more: how many, and how long the longest was. */
  longTasks: number
  longestTaskMs: number
  /** The time between two frames: the median and the 99th percentile. */
  frameP50Ms: number
  frameP99Ms: number
}

interface Recorded {
  tasks: number[]
  frames: number[]
}

/** Let every document that this page opens from now on record its tasks and frames from its first moment. */
export async function recordSmoothness(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const recorded: Recorded = { tasks: [], frames: [] }
    Object.assign(globalThis, { recorded })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) recorded.tasks.push(entry.duration)
    }).observe({ type: 'longtask', buffered: true })
    let last = performance.now()
    const onFrame = (now: number) => {
      recorded.frames.push(now - last)
      last = now
      requestAnimationFrame(onFrame)
    }
    requestAnimationFrame(onFrame)
  })
}

/** Run `act`, and return how smooth the page was meanwhile. The figures depend on the machine. */
export async function measure(page: Page, act: () => Promise<void>): Promise<Smoothness> {
  await page.evaluate(() => {
    const { recorded } = globalThis as unknown as { recorded: Recorded }
    recorded.tasks.length = 0
    recorded.frames.length = 0
  })
  await act()
  const { tasks, frames } = await page.evaluate(
    () => (globalThis as unknown as { recorded: Recorded }).recorded,
  )
  const sorted = frames.sort((a, b) => a - b)
  const round = (value: number) => Math.round(value * 10) / 10
  const at = (share: number) => round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return {
    longTasks: tasks.length,
    longestTaskMs: round(Math.max(0, ...tasks)),
    frameP50Ms: at(0.5),
    frameP99Ms: at(0.99),
  }
}

/** Scroll down in steps, one each frame; returns the position at the end, in pixels. */
export const scrollBy = (page: Page, steps: number, pixels: number): Promise<number> =>
  page.evaluate(
    ([count, by]) =>
      new Promise<number>((resolve) => {
        let left = count!
        const step = () => {
          window.scrollBy(0, by!)
          left--
          if (left > 0) requestAnimationFrame(step)
          else resolve(window.scrollY)
        }
        requestAnimationFrame(step)
      }),
    [steps, pixels],
  )
