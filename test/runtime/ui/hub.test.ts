import { afterAll, beforeAll, expect, test, vi } from 'vitest'

class FakeSocket {
  static readonly opened: FakeSocket[] = []
  onopen: () => void = () => {}
  onmessage: (event: { data: unknown }) => void = () => {}
  onclose: (event: { code: number }) => void = () => {}
  constructor() {
    FakeSocket.opened.push(this)
  }
  send(): void {}
  close(): void {}
}

const page = new EventTarget()
let hub: { hubState: { value: string }; connectHub(): void }
let api: { call(method: string, path: string): Promise<unknown> }
/** Not by a fixed name: these modules are for browsers, whose types this project does not load. */
const load = (name: string) => import(`../../../runtime/ui/state/${name}.ts`)

beforeAll(async () => {
  vi.useFakeTimers()
  const place = { protocol: 'http:', host: 'muster.test', pathname: '/', search: '', hash: '', href: '/' }
  Object.assign(page, { location: place, history: {}, matchMedia: () => new EventTarget() })
  vi.stubGlobal('window', page)
  vi.stubGlobal('location', place)
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.stubGlobal('fetch', async () => new Response('{}'))
  hub = await load('hub')
  api = await load('api')
})
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const newest = () => FakeSocket.opened.at(-1)!
/** Lose the socket and each that takes its place, until the next attempt is seconds away. */
function loseOften(): void {
  hub.connectHub()
  newest().onopen()
  for (let times = 0; times < 6; times++) {
    newest().onclose({ code: 1006 })
    vi.runOnlyPendingTimers()
  }
  newest().onclose({ code: 1006 })
}

test('an answer of the server brings the socket back at once, whatever the wait for the next attempt', async () => {
  loseOften()
  const before = FakeSocket.opened.length
  expect(hub.hubState.value).toBe('away')
  await api.call('GET', '/api/workloads')
  expect(FakeSocket.opened.length).toBe(before + 1)
  newest().onopen()
  expect(hub.hubState.value).toBe('live')
})

test('a browser that is offline is not called live until a ping has no answer', () => {
  const before = FakeSocket.opened.length
  page.dispatchEvent(new Event('offline'))
  expect(hub.hubState.value).toBe('away')
  page.dispatchEvent(new Event('online'))
  expect(FakeSocket.opened.length).toBe(before + 1)
})
