import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CertificateFiles } from '../../runtime/fronts/certificate-files.ts'
import type { TestCertificate } from './certificates.ts'

/** A certificate in files of a folder of its own, with itself as its authority. The caller removes it. */
export async function certificateInFiles(
  certificate: TestCertificate,
): Promise<{ files: CertificateFiles; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-tls-'))
  const [certFile, keyFile, caFile] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => join(folder, name))
  const files = { certFile: certFile!, keyFile: keyFile!, caFile: caFile! }
  await writeCertificate(files, certificate)
  return { files, remove: () => rm(folder, { recursive: true }) }
}

/** Put another certificate in their place. */
export async function writeCertificate(
  { certFile, keyFile, caFile }: CertificateFiles,
  { key, cert }: TestCertificate,
): Promise<void> {
  await writeFile(keyFile, key)
  await writeFile(certFile, cert)
  await writeFile(caFile, cert)
}
