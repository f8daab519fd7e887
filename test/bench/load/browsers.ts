import { WebSocket } from 'ws'

/** Where the browsers connect, and what they watch. */
export interface BrowsersOptions {
  /** The API's base URL. */
  url: string
  token: string
  browsers: number
  /** The workloads whose instances are counted, by id. */
  workloadIds: string[]
}

/**
 * What all browsers showed at one moment: for each workload the set of instance counts, one when all browsers agree.
 * Times are milliseconds since 1970.
 */
export interface Shown {
  atMs: number
  counts: number[][]
}

const LOOK_EVERY_MS = 250
const ID_MARK = Buffer.from('"workload":{"id":"')
const COUNT_MARK = Buffer.from('"connected_instance_count":')
const RESYNC = Buffer.from('{"type":"resync"}')

/**
 * Many browsers in one process, which keep only how many instances each workload has. One further browser never reads
 * what it is sent.
 */
export class Browsers {
  readonly #options: BrowsersOptions
  readonly #indexOf: ReadonlyMap<string, number>
  /** The instance count that each browser shows, by browser and then by workload. */
  readonly #shown: Int32Array[] = []
  readonly #sockets: WebSocket[] = []
  #frames = 0
  #resyncs = 0
  #closed = 0

  constructor(options: BrowsersOptions) {
    this.#options = options
    this.#indexOf = new Map(options.workloadIds.map((id, index) => [id, index]))
  }

  /** Open all sockets, then fetch the inventory for each browser. */
  async connect(): Promise<void> {
    for (let n = 0; n < this.#options.browsers; n++) {
      this.#shown.push(new Int32Array(this.#options.workloadIds.length))
      const socket = this.#open()
      socket.on('message', (data: Buffer) => this.#take(n, data))
      socket.on('close', () => this.#closed++)
      this.#sockets.push(socket)
    }
    const slow = this.#open()
    await Promise.all([...this.#sockets, slow].map(opened))
    slow.pause()
    await Promise.all(this.#shown.map((_, n) => this.#fetchAgain(n)))
  }

  #open(): WebSocket {
    const headers = { authorization: `Bearer ${this.#options.token}` }
    const socket = new WebSocket(`${this.#options.url.replace('http', 'ws')}/ws`, {
      headers,
      perMessageDeflate: false,
    })
    socket.on('error', () => undefined)
    return socket
  }

  #take(browser: number, data: Buffer): void {
    this.#frames++
    const idAt = data.indexOf(ID_MARK)
    if (idAt < 0) {
      if (data.equals(RESYNC)) {
        this.#resyncs++
        void this.#fetchAgain(browser)
      }
      return
    }
    const idFrom = idAt + ID_MARK.length
    const workload = this.#indexOf.get(data.toString('latin1', idFrom, idFrom + 24))
    // The record may hold the same key; the count beside it comes last in the frame.
    const countAt = data.lastIndexOf(COUNT_MARK)
    if (workload === undefined || countAt < 0) return
    this.#shown[browser]![workload] = Number.parseInt(
      data.toString('latin1', countAt + COUNT_MARK.length, countAt + COUNT_MARK.length + 8),
      10,
    )
  }

  async #fetchAgain(browser: number): Promise<void> {
    const headers = { authorization: `Bearer ${this.#options.token}` }
    const response = await fetch(`${this.#options.url}/api/workloads`, { headers })
    const records = (await response.json()) as { id: string; connected_instance_count: number }[]
    for (const record of records) {
      const workload = this.#indexOf.get(record.id)
      if (workload !== undefined) this.#shown[browser]![workload] = record.connected_instance_count
    }
  }

  /** Note what all browsers show, four times a second, for this many seconds. */
  async watch({ seconds }: { seconds: number }): Promise<Shown[]> {
    const seen: Shown[] = []
    const look = () => {
      const counts = this.#options.workloadIds.map((_, workload) => [
        ...new Set(this.#shown.map((shown) => shown[workload]!)),
      ])
      seen.push({ atMs: Date.now(), counts })
    }
    const timer = setInterval(look, LOOK_EVERY_MS)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
    clearInterval(timer)
    return seen
  }

  stats(): { frames: number; resyncs: number; closed: number } {
    return { frames: this.#frames, resyncs: this.#resyncs, closed: this.#closed }
  }
}

const opened = (socket: WebSocket) =>
  new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
