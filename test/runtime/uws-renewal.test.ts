import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { NO_BODY } from '../../runtime/body-room.ts'
import type { CertificateFiles } from '../../runtime/fronts/certificate-files.ts'
import type { Listener, SocketRoute } from '../../runtime/listener.ts'
import { FORMER_MAX, listen } from '../../runtime/uws.ts'
import { certificateInFiles, writeCertificate } from '../support/certificate-files.ts'
import { selfSignedCertificate } from '../support/certificates.ts'
import { findFreePort } from '../support/service.ts'

const ECHO: SocketRoute = {
  path: '/ws',
  messageBytesMax: 1_024,
  waitingBytesMax: 65_536,
  backpressureBytesMax: 65_536,
  idleSeconds: 60,
  closeOnBackpressure: true,
  refuseForRoom: () => null,
  admit: () => ({ accept: true, state: null }),
  open() {},
  message: (socket, _, data) => void socket.send(data),
  drain() {},
  close() {},
  flooded() {},
}

let files: CertificateFiles
let listener: Listener
let cleanups: (() => unknown)[]
beforeEach(async () => {
  const made = await certificateInFiles(selfSignedCertificate(['127.0.0.1']))
  files = made.files
  listener = listen(
    `127.0.0.1:${await findFreePort()}`,
    {
      sockets: [ECHO],
      room: null,
      bodyRoom: null,
      bodyLimit: () => NO_BODY,
      handle: async () => ({ status: 200, headers: {}, body: 'here' }),
    },
    files,
  )
  cleanups = [() => made.remove(), () => listener.destroy()]
})
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function renew(): Promise<string> {
  const certificate = selfSignedCertificate(['127.0.0.1'])
  await writeCertificate(files, certificate)
  listener.renewCertificate()
  return new X509Certificate(certificate.cert).fingerprint256
}

async function dial(): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: listener.port, rejectUnauthorized: false })
  cleanups.push(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** The certificate of a connection. */
const shownBy = (socket: TLSSocket): string => socket.getPeerX509Certificate()!.fingerprint256

async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const [answer] = await once(socket, 'data')
  return String(answer).slice(0, 'HTTP/1.1 200'.length)
}

const openSocket = () =>
  new Promise<WebSocket>((resolve, reject) => {
    const socket = new WebSocket(`wss://127.0.0.1:${listener.port}/ws`, { rejectUnauthorized: false })
    cleanups.push(() => socket.terminate())
    socket.on('open', () => resolve(socket)).on('error', reject)
  })

const echo = (socket: WebSocket, word: string) =>
  new Promise<string>((resolve) => {
    socket.once('message', (data: Buffer) => resolve(data.toString()))
    socket.once('close', () => resolve('closed'))
    socket.send(word)
  })

describe('a connection from before its certificate was renewed', () => {
  it('goes on, as new ones come with the renewed one', async () => {
    const former = await dial()
    expect(await ask(former)).toBe('HTTP/1.1 200')
    const socket = await openSocket()
    const renewed = await renew()
    expect(await ask(former)).toBe('HTTP/1.1 200')
    expect(await echo(socket, 'still')).toBe('still')
    const next = await dial()
    expect(shownBy(next)).toBe(renewed)
    expect(await ask(next)).toBe('HTTP/1.1 200')
    expect(await echo(await openSocket(), 'new')).toBe('new')
    expect([...listener.sockets()]).toHaveLength(2)
  })

  it('goes on with what it has, until so many others have come after its certificate', async () => {
    const socket = await openSocket()
    for (let count = 0; count < FORMER_MAX; count++) {
      await renew()
      await openSocket()
    }
    expect(await echo(socket, 'still')).toBe('still')
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    const last = await renew()
    await closed
    expect(shownBy(await dial())).toBe(last)
  })
})

it('a connection goes on over any number of certificates with which no other one is left', async () => {
  const socket = await openSocket()
  for (let count = 0; count < FORMER_MAX + 3; count++) {
    await renew()
    const short = await openSocket()
    const closed = new Promise<void>((resolve) => short.on('close', () => resolve()))
    short.terminate()
    await closed
  }
  expect(await echo(socket, 'still')).toBe('still')
  expect([...listener.sockets()]).toHaveLength(1)
})

describe('a listener', () => {
  it('goes on as before where the certificate is of no use', async () => {
    const former = shownBy(await dial())
    writeFileSync(files.certFile, 'no certificate')
    expect(() => listener.renewCertificate()).toThrow(files.certFile)
    expect(shownBy(await dial())).toBe(former)
  })

  it('that has stopped to listen does not begin again for a renewed certificate', async () => {
    listener.stopListening()
    await renew()
    await expect(dial()).rejects.toThrow('ECONNREFUSED')
  })
})
