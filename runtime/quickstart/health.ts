import { get } from 'node:http'

/** How often each process is asked, and how long it may take to answer. */
const ASK_EVERY_MS = 1_000
const ANSWER_MS = 3_000

/** How a process answers `/readyz`: that it is ready, that it is not, or, for one that stands still, not at all. */
export type Health = 'ready' | 'unready' | 'silent'

/** What is known of several processes, in the order of their addresses. */
export interface HealthWatch {
  of(index: number): Health
  /** Call this each time a process falls silent. */
  onSilent(listener: (index: number) => void): void
  close(): void
}

/** Ask each of these processes again and again whether it is ready; all are taken for ready at first. */
export function watchHealth(
  urls: readonly string[],
  { everyMs = ASK_EVERY_MS, answerMs = ANSWER_MS } = {},
): HealthWatch {
  const known: Health[] = urls.map(() => 'ready')
  const listeners: ((index: number) => void)[] = []
  const asked = new Set<number>()
  const ask = async (index: number, url: string) => {
    if (asked.has(index)) return
    asked.add(index)
    const health = await askHealth(url, answerMs)
    asked.delete(index)
    const hasFallenSilent = health === 'silent' && known[index] !== 'silent'
    known[index] = health
    if (hasFallenSilent) for (const listener of listeners) listener(index)
  }
  const timer = setInterval(() => {
    for (const [index, url] of urls.entries()) void ask(index, url)
  }, everyMs)
  timer.unref()
  return {
    of: (index) => known[index] ?? 'ready',
    onSilent: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  }
}

/** Ask once, over a connection of its own. A process that has ended refuses it, which closes its connections anyway. */
function askHealth(url: string, answerMs: number): Promise<Health> {
  return new Promise((resolve) => {
    const request = get(`${url}/readyz`, { agent: false, timeout: answerMs }, (response) => {
      response.resume()
      resolve(response.statusCode === 200 ? 'ready' : 'unready')
    })
    request.on('timeout', () => {
      resolve('silent')
      request.destroy()
    })
    request.on('error', () => resolve('unready'))
  })
}
