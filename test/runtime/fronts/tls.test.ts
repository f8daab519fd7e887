import { X509Certificate } from 'node:crypto'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { connect as connectOverTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../runtime/config.ts'
import { certificateInFiles, writeCertificate } from '../../support/certificate-files.ts'
import { selfSignedCertificate, type TestCertificate } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { type Build, startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startOne(
  database: TestDatabase,
  cluster: Partial<Config['cluster']>,
  build: Build = {},
): Promise<TestMember> {
  const member = await startTestMember(database, { cluster: cluster as never }, build)
  cleanups.push(() => member.stop())
  return member
}

/** A certificate for these names, with itself as its authority, in files. */
async function certificateFor(names: string[]) {
  const { files, remove } = await certificateInFiles(selfSignedCertificate(names))
  cleanups.push(remove)
  return files
}

/** What a new connection to the internal port of this member is shown. */
const certificateAt = ({ internalAddress }: TestMember): Promise<string> =>
  new Promise((resolve, reject) => {
    const port = Number(internalAddress.split(':')[1])
    const socket = connectOverTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256)
      socket.destroy()
    })
    socket.on('error', reject)
  })

const fingerprintOf = ({ cert }: TestCertificate): string => new X509Certificate(cert).fingerprint256

/** Ask as a client that names the server as it likes. */
const ask = (url: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${url}/api/auth/methods`, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })

/** Start an owner that others reach over a counter of connections, and a front. */
async function startCounted(names: string[]) {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  const tls = await certificateFor(names)
  let made = 0
  let port = 0
  const counter = createServer((incoming) => {
    made++
    const outgoing = connect(port, '127.0.0.1')
    incoming.pipe(outgoing).pipe(incoming)
    incoming.on('error', () => outgoing.destroy())
    outgoing.on('error', () => incoming.destroy())
  })
  await new Promise<void>((resolve) => counter.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => counter.close())
  const { port: counted } = counter.address() as AddressInfo
  const owner = await startOne(database, { tls, advertiseAddress: `127.0.0.1:${counted}` })
  port = Number(owner.internalAddress.split(':')[1])
  await untilOwner(owner)
  const front = await startOne(database, { tls })
  return { owner, front, made: () => made }
}

describe('over TLS', () => {
  it('a front reaches the owner by its address, whatever name the client has for the server', async () => {
    const { front, made } = await startCounted(['127.0.0.1'])
    expect(await ask(front.url, '127.0.0.1')).toBe(200)
    const before = made()
    expect(await ask(front.url, 'muster.example.com')).toBe(200)
    expect(await ask(front.url, 'other.example.com:8443')).toBe(200)
    // Names that clients choose make no connection of their own either.
    expect(made() - before).toBeLessThan(3)
  })

  it('an owner with a certificate for another name is said to be so once, and not asked over and over', async () => {
    const { front, made } = await startCounted(['elsewhere.muster.test'])
    const statuses = Promise.all(Array.from({ length: 20 }, () => ask(front.url, 'muster.example.com')))
    expect(new Set(await statuses)).toEqual(new Set([503]))
    const said = front.log.lines.filter(({ message }) => message.includes('certificate'))
    expect(said.map(({ fields }) => (fields as { cause: string }).cause)).toEqual([
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ])
    // Without a way to share the wait, twenty requests of three seconds each made over a thousand.
    expect(made()).toBeLessThan(200)
  })
})

const HERE = ['127.0.0.1']
/** So that what is replaced is found at once. */
const OFTEN: Build = { lookAtFilesMs: 20 }

/** An owner and a front that look at their files often; the front has a link. */
async function startPair() {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  const tls = await certificateFor(HERE)
  const owner = await startOne(database, { tls }, OFTEN)
  await untilOwner(owner)
  const front = await startOne(database, { tls }, OFTEN)
  await eventually('the front is ready', async () => (await front.call('GET', '/readyz')).status === 200)
  return { database, tls, owner, front }
}

describe('a certificate that was replaced', () => {
  it('is the one of the next connection, by its own authority, without a restart', async () => {
    const { database, tls, owner, front } = await startPair()
    const [renewed, only] = [selfSignedCertificate(HERE), await certificateFor(HERE)]
    await writeCertificate(tls, renewed)
    await writeCertificate(only, renewed)
    await eventually('it is shown', async () => (await certificateAt(owner)) === fingerprintOf(renewed))
    // One that has never seen the former authority, and one that has trusted it alone until now.
    const newcomer = await startOne(database, { tls: only })
    await eventually('it is ready', async () => (await newcomer.call('GET', '/readyz')).status === 200)
    for (const member of [newcomer, front]) {
      const asked = Array.from({ length: 20 }, () => ask(member.url, 'muster.example.com'))
      expect(new Set(await Promise.all(asked))).toEqual(new Set([200]))
    }
  })
})
