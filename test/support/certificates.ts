import { generateKeyPairSync, sign } from 'node:crypto'
import { isIP } from 'node:net'

/** A private key and a certificate in PEM, made for one test run and never stored. */
export interface TestCertificate {
  key: string
  cert: string
}

/** One DER value: tag, length, content (X.690). */
function der(tag: number, ...content: (Uint8Array | number[])[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)))
  const { length } = body
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content)
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'))

function subjectAltName(host: string): Buffer {
  if (isIP(host) === 4) return der(0x87, host.split('.').map(Number))
  return der(0x82, Buffer.from(host))
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), der(0x04, value))
}

/** For how long a certificate counts, as seconds of UTC; whole years around now where it is not said. */
export interface Lifetime {
  from: Date
  to: Date
}

const utcTime = (date: Date): Buffer =>
  der(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')
        .slice(2),
    ),
  )

const yearsFromNow = (years: number): Date => new Date(Date.UTC(new Date().getUTCFullYear() + years, 0, 1))

/** A self-signed certificate for some names and IPv4 addresses. */
export function selfSignedCertificate(
  hosts: readonly string[],
  { from, to }: Lifetime = { from: yearsFromNow(-1), to: yearsFromNow(10) },
): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const commonName = der(0x0c, Buffer.from('muster test'))
  const name = sequence(der(0x31, sequence(objectId('550403'), commonName)))
  const extensions = [
    extension('551d11', sequence(...hosts.map(subjectAltName))),
    extension('551d13', sequence(der(0x01, [0xff]))),
  ]
  const body = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, [1]),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(from), utcTime(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, ECDSA_WITH_SHA256, der(0x03, [0], signature))
  const lines = certificate
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}
