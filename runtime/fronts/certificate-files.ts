import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ClusterConfig } from '../config.ts'

/** Where the certificate between processes lies, with its key and its authority. */
export type CertificateFiles = NonNullable<ClusterConfig['tls']>

/** What lies in the files: a certificate, the key that belongs to it, and at least one authority. */
export interface FoundCertificate {
  authority: Buffer
  from: Date
  ends: Date
  /** The same as long as certificate and key are. */
  ownHash: string
  /** Whether one of the authorities made it, or one that lies beside it and that one of them made. */
  isByAuthority: boolean
}

export type ReadCertificate = { ok: true; found: FoundCertificate } | { ok: false; error: string }

const CERT = 'MUSTER_INTERNAL_TLS_CERT'
const KEY = 'MUSTER_INTERNAL_TLS_KEY'
const CA = 'MUSTER_INTERNAL_TLS_CA'
/** One certificate among others, by whichever of the names that it may have in PEM. */
const CERTIFICATE =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g

/** What is wrong with a file, by its setting; nothing of what the file says. */
class Fault extends Error {}

/** Read the three files as they lie there now. */
export function readCertificate({ certFile, keyFile, caFile }: CertificateFiles): ReadCertificate {
  try {
    const [cert, key, authority] = [readFile(CERT, certFile), readFile(KEY, keyFile), readFile(CA, caFile)]
    const certificates = parseCertificates(CERT, certFile, cert)
    const authorities = parseCertificates(CA, caFile, authority)
    const [own] = certificates as [X509Certificate]
    if (!own.checkPrivateKey(parseKey(keyFile, key)))
      throw new Fault(`${KEY}: ${keyFile} does not belong to the certificate in ${CERT}`)
    const ownHash = createHash('sha256').update(cert).update('\0').update(key).digest('hex')
    const [from, ends] = [new Date(own.validFrom), new Date(own.validTo)]
    const isByAuthority = leadsTo(authorities, own, certificates)
    return { ok: true, found: { authority, from, ends, ownHash, isByAuthority } }
  } catch (error) {
    if (error instanceof Fault) return { ok: false, error: error.message }
    throw error
  }
}

/** Whether a certificate is one of the authorities, or was made by one, over any of those between that lie beside it. */
function leadsTo(
  authorities: readonly X509Certificate[],
  own: X509Certificate,
  beside: readonly X509Certificate[],
): boolean {
  const isBy = (one: X509Certificate) => (maker: X509Certificate) =>
    one.checkIssued(maker) && one.verify(maker.publicKey)
  let at: X509Certificate | undefined = own
  for (const _ of beside) {
    if (at === undefined) return false
    const { fingerprint256 } = at
    if (authorities.some((one) => one.fingerprint256 === fingerprint256)) return true
    if (authorities.some(isBy(at))) return true
    at = beside.find(isBy(at))
  }
  return false
}

function readFile(setting: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    throw new Fault(`${setting}: ${file} cannot be read (${code})`)
  }
}

/** The certificates of a file, the first of them the one that it is about. */
function parseCertificates(setting: string, file: string, bytes: Buffer): X509Certificate[] {
  const blocks = bytes.toString('latin1').match(CERTIFICATE) ?? []
  if (blocks.length === 0) throw new Fault(`${setting}: ${file} holds no certificate in PEM`)
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    throw new Fault(`${setting}: ${file} holds a certificate that cannot be read`)
  }
}

function parseKey(file: string, bytes: Buffer) {
  try {
    return createPrivateKey(bytes)
  } catch {
    throw new Fault(`${KEY}: ${file} holds no private key in PEM without a passphrase`)
  }
}
