import { connect, createServer, type Socket } from 'node:net'

/** One statement on its way to the database. */
export interface Statement {
  text: string
  /** The name of its transaction, as `beginStatement` gave it; '' outside of one. */
  transaction: string
}

/**
 * What the proxy does with a statement. 'kill-before' kills the client before the database sees it; 'kill-after' lets
 * the database run it, keeps the answer back and kills the client; 'cut-after' does the same but ends only the
 * connection.
 */
export type Verdict = 'pass' | 'kill-before' | 'kill-after' | 'cut-after'

/** A proxy to PostgreSQL that reads the statements, and can end the client or its connection at a chosen one. */
export interface StatementProxy {
  dsn: string
  /** Asked for each statement until it answers another verdict than 'pass'. Null lets everything pass. */
  judge: ((statement: Statement) => Verdict) | null
  close(): Promise<void>
}

/** Matches the statement that begins a transaction, and captures the transaction's name. */
const BEGIN = /^BEGIN\b.*\/\* (\S+) \*\/$/
const READY_FOR_QUERY = 0x5a
const TYPED_HEAD = 5
/** The types of the messages Parse, Bind, Describe and Execute, which come before the Sync that ends a statement. */
const PIECES: ReadonlySet<number> = new Set(Buffer.from('PBDE'))

/** Returns a function that takes chunks of the protocol and calls `take` with each whole message. */
function messageReader(hasStartup: boolean, take: (type: number, body: Buffer, whole: Buffer) => void) {
  let rest: Buffer = Buffer.alloc(0)
  let isStarting = hasStartup
  return (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const head = isStarting ? 4 : TYPED_HEAD
      if (rest.length < head) return
      const length = rest.readInt32BE(head - 4) + head - 4
      if (rest.length < length) return
      const whole = rest.subarray(0, length)
      rest = rest.subarray(length)
      take(isStarting ? 0 : whole[0]!, whole.subarray(head), whole)
      isStarting = false
    }
  }
}

const textAt = (body: Buffer, from: number) => body.toString('utf8', from, body.indexOf(0, from))

/** Follows the messages of one client to know which statement, of which transaction, each completes. */
class Session {
  readonly #prepared = new Map<string, string>()
  #current = ''
  #transaction = ''

  /** The statement that this message completes; null for one that completes none. */
  take(type: number, body: Buffer): Statement | null {
    switch (String.fromCharCode(type)) {
      case 'P': {
        const name = textAt(body, 0)
        this.#prepared.set(name, textAt(body, Buffer.byteLength(name) + 1))
        return null
      }
      case 'B':
        this.#current = this.#prepared.get(textAt(body, Buffer.byteLength(textAt(body, 0)) + 1)) ?? ''
        return null
      case 'Q':
        return this.#complete(textAt(body, 0))
      case 'S':
        return this.#complete(this.#current)
      default:
        return null
    }
  }

  #complete(text: string): Statement {
    this.#transaction = BEGIN.exec(text)?.[1] ?? this.#transaction
    const transaction = this.#transaction
    if (text === 'COMMIT' || text === 'ROLLBACK') this.#transaction = ''
    return { text, transaction }
  }
}

/** Start a proxy in front of a database; `kill` is to end the client's process. */
export async function startStatementProxy(dsn: string, kill: () => void): Promise<StatementProxy> {
  const target = new URL(dsn)
  const sockets = new Set<Socket>()
  const proxy: StatementProxy = {
    dsn: '',
    judge: null,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const session = new Session()
    let waiting: Buffer[] = []
    let hasKilled = false
    let isAnswerKept = false
    let isCut = false
    const end = () => {
      hasKilled = true
      proxy.judge = null
      kill()
    }
    client.on(
      'data',
      messageReader(true, (type, body, whole) => {
        if (hasKilled) return
        waiting.push(whole)
        const statement = type === 0 ? null : session.take(type, body)
        const verdict = statement === null ? 'pass' : (proxy.judge?.(statement) ?? 'pass')
        // The messages of one statement are forwarded together, or not at all.
        if (verdict === 'kill-before') return end()
        if (verdict === 'kill-after' || verdict === 'cut-after') isAnswerKept = true
        if (verdict === 'cut-after') {
          isCut = true
          proxy.judge = null
        }
        if (!PIECES.has(type)) {
          upstream.write(Buffer.concat(waiting))
          waiting = []
        }
      }),
    )
    const watchAnswer = messageReader(false, (type) => {
      if (!isAnswerKept || type !== READY_FOR_QUERY) return
      if (isCut) client.destroy()
      else end()
    })
    upstream.on('data', (chunk: Buffer) => {
      watchAnswer(chunk)
      if (!isAnswerKept && !hasKilled) client.write(chunk)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(dsn)
  through.port = String((server.address() as { port: number }).port)
  proxy.dsn = through.toString()
  return proxy
}
