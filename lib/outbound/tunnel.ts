import { connect, isIPv6, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { OutboundProxy } from './proxy.ts'

const ANSWER_BYTES_MAX = 16_384

/** A failure of the proxy, and not of what lies behind it; `code` is what a log shows. */
export class TunnelFailure extends Error {
  readonly code: string

  constructor(code: string) {
    super(`The proxy gave no tunnel: ${code}`)
    this.code = code
  }
}

/**
 * Open a connection through a proxy to a host and port by `CONNECT`; the proxy gets both as they are given. The caller
 * speaks TLS over it. An aborted signal ends it at any time. Throws `TunnelFailure`.
 */
export async function openTunnel(
  proxy: OutboundProxy,
  target: { host: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const socket = open(proxy)
  const abort = () => socket.destroy(new TunnelFailure('aborted'))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  socket.once('close', () => signal.removeEventListener('abort', abort))
  try {
    await connected(socket, proxy.isTls ? 'secureConnect' : 'connect')
    const authority = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`
    const authorization = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : ''
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`)
    const status = await readStatus(socket)
    if (status < 200 || status > 299) throw new TunnelFailure(`proxy-answered-${status}`)
    // The caller sees the socket close. An error event without a listener would end the process.
    socket.on('error', () => undefined)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function open({ host, port, isTls }: OutboundProxy): Socket {
  if (isTls) return connectTls({ host, port, ...(isIPv6(host) ? {} : { servername: host }) })
  return connect({ host, port })
}

function connected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(error instanceof TunnelFailure ? error : new TunnelFailure(`proxy-${error.code ?? error.name}`))
    socket.once('error', fail)
    socket.once(event, () => {
      socket.off('error', fail)
      resolve()
    })
  })
}

/** The status of the proxy's answer; bytes after the empty line are put back into the socket. */
function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0)
    const settle = (work: () => void) => {
      for (const [event, listener] of listeners) socket.off(event, listener)
      work()
    }
    const fail = (code: string) => settle(() => reject(new TunnelFailure(code)))
    const onData = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1) {
        if (answer.byteLength > ANSWER_BYTES_MAX) fail('proxy-answer-too-long')
        return
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer.subarray(0, end).toString('latin1'))?.[1]
      if (status === undefined) return fail('proxy-answer-unreadable')
      socket.pause()
      settle(() => {
        const rest = answer.subarray(end + 4)
        if (rest.byteLength > 0) socket.unshift(rest)
        resolve(Number(status))
      })
    }
    // biome-ignore lint/suspicious/noExplicitAny: listeners of different events, added and removed alike
    const listeners: [string, (...args: any[]) => void][] = [
      ['data', onData],
      ['error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'proxy-failed')],
      ['close', () => fail('proxy-closed')],
    ]
    for (const [event, listener] of listeners) socket.on(event, listener)
  })
}
