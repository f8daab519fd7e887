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
    parseCertificates(CA, caFile, authority)
    const [own] = certificates as [X509Certificate]
    if (!own.checkPrivateKey(parseKey(keyFile, key)))
      throw new Fault(`${KEY}: ${keyFile} does not belong to the certificate in ${CERT}`)
    const ownHash = createHash('sha256').update(cert).update('\0').update(key).digest('hex')
    const [from, ends] = [new Date(own.validFrom), new Date(own.validTo)]
    return { ok: true, found: { authority, from, ends, ownHash } }
  } catch (error) {
    if (error instanceof Fault) return { ok: false, error: error.message }
    throw error
  }
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
