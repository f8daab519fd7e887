import { STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { inPieceTurns } from './piece-turns.ts'
import { type Reply, text } from './reply.ts'
import { bytesOf, isWhole, sizeOf, type WholeBody } from './reply-body.ts'
import { SlowReader } from './slow-reader.ts'
import type { HttpResponse } from './uws-library.ts'

/** The header of an answer after which the connection is closed. */
const CLOSES = 'Connection'

/** Whether the connection goes on after this answer. */
export const staysOpen = (reply: Reply): boolean => reply.headers[CLOSES] !== 'close'

/** What a peer does not take at once of a whole body up to this size, the library keeps a copy of. */
const COPIED_BYTES_MAX = 16 * 1024

const isShort = (body: Reply['body']): boolean => isWhole(body) && sizeOf(body) <= COPIED_BYTES_MAX

const NOT_WHOLE = text('The request did not come whole\n', 408)

/**
 * The same answer, as the last one of its connection, where its request did not come whole. The library closes a
 * connection only after an answer that it gets in one: instead of a long one, which only such a request is
 * answered with that nobody has read to its end, its sender hears just that.
 */
export function lastReply(reply: Reply): Reply {
  const { body } = reply
  if (body instanceof Readable) body.destroy()
  const said = isShort(body) ? reply : NOT_WHOLE
  return { ...said, headers: { ...said.headers, [CLOSES]: 'close' } }
}

/**
 * The same answer, of which a long text is bytes: who reads slowly is sent of these, and the text beside them would be there
 * for as long, where somebody still has the answer that it is in.
 */
export const withoutText = (reply: Reply): Reply =>
  typeof reply.body === 'string' && !isShort(reply.body) ? { ...reply, body: Buffer.from(reply.body) } : reply

/** What is known of a peer while it is answered. */
interface Peer {
  isAborted: boolean
  /** Called when it leaves. */
  onAborted: () => void
}

/**
 * Write an answer, whole or as a stream; nothing once the peer has left. Resolves when the library has all of it, which
 * keeps a copy of some kilobytes at most for a peer that does not read: one that reads slower than any line is cut.
 * After a short answer with the header `Connection: close` the connection is closed.
 */
export async function writeReply(
  response: HttpResponse,
  reply: Reply,
  isHead: boolean,
  peer: Peer,
): Promise<void> {
  if (peer.isAborted) return
  const { body } = reply
  if (isHead || isShort(body)) return writeShort(response, reply, isHead)
  const reader = new SlowReader(() => response.close())
  try {
    if (isWhole(body)) await writeLarge(response, reply, bytesOf(body!), peer, reader)
    else await streamBody(response, reply, body, peer, reader)
  } finally {
    reader.stop()
  }
}

/** The status and the headers, but for one that the library writes itself. */
function writeHead(response: HttpResponse, reply: Reply, leftOut = ''): void {
  response.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`)
  for (const [name, value] of Object.entries(reply.headers))
    if (name !== leftOut) response.writeHeader(name, value)
  for (const cookie of reply.cookies ?? []) response.writeHeader('Set-Cookie', cookie)
}

function writeShort(response: HttpResponse, reply: Reply, isHead: boolean): void {
  const body = reply.body as WholeBody | null
  response.cork(() => {
    writeHead(response, reply, CLOSES)
    if (!staysOpen(reply)) response.end(isHead ? '' : (body ?? ''), true)
    else if (isHead) {
      // As a header: the library's own parameter for it would make the connection wait for that body.
      if (isWhole(body) && body !== null) response.writeHeader('Content-Length', String(sizeOf(body)))
      response.endWithoutBody()
    } else if (body === null && reply.status === 204) response.endWithoutBody()
    else response.end(body ?? '')
  })
}

/** Write a body of which the library takes what the peer's socket takes, as often as that takes more. */
async function writeLarge(
  response: HttpResponse,
  reply: Reply,
  body: Buffer,
  peer: Peer,
  reader: SlowReader,
): Promise<void> {
  await new Promise<void>((resolve) => {
    // A peer that has left never becomes writable again.
    peer.onAborted = resolve
    const goOn = (from: number): boolean => {
      reader.reads()
      const [isAllTaken, isOver] = response.tryEnd(body.subarray(from), body.length)
      if (isAllTaken || isOver) resolve()
      else reader.waits(response.getWriteOffset())
      return isAllTaken
    }
    response.onWritable(goOn)
    response.cork(() => {
      writeHead(response, reply)
      goOn(0)
    })
  })
}

async function streamBody(
  response: HttpResponse,
  reply: Reply,
  body: AsyncIterable<string | Uint8Array>,
  peer: Peer,
  reader: SlowReader,
): Promise<void> {
  let wake: () => void = () => {}
  // A peer that has left never becomes writable again.
  peer.onAborted = () => wake()
  response.onWritable(() => {
    wake()
    return true
  })
  response.cork(() => writeHead(response, reply))
  let written = 0
  try {
    // What only passes through is made elsewhere, and takes no time of this process.
    for await (const chunk of body instanceof Readable ? body : inPieceTurns(body)) {
      if (peer.isAborted) return
      const writable = new Promise<void>((resolve) => {
        wake = resolve
      })
      let isFlowing = true
      response.cork(() => {
        isFlowing = response.write(chunk)
      })
      written += Buffer.byteLength(chunk)
      if (isFlowing || peer.isAborted) continue
      reader.waits(written)
      await writable
      reader.reads()
    }
    if (!peer.isAborted) response.cork(() => response.end())
  } catch (error) {
    // The status is long gone: cutting the connection is the only honest way to say that the body is broken.
    if (!peer.isAborted) response.close()
    throw error
  }
}
