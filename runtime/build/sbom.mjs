// What a build is made of, as a CycloneDX document. The same parts make the same bytes: nothing of the hour or of the
// machine is in it.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The folders of the packages whose files are among these paths, which are relative to `base`. */
export function packageFolders(paths, base) {
  const found = new Set()
  for (const path of paths) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(resolve(base, path).replaceAll('\\', '/'))
    if (match) found.add(match[1])
  }
  return [...found].sort()
}

/** Of a bundle's metafile, the source files of which something is in the outputs. */
export const bundledFiles = ({ outputs }) =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  )

/** An SPDX name, an expression of such names, or else words. */
export function licenceOf(license) {
  const text = license.replace(/^\((.*)\)$/, '$1')
  if (/^[\w.+-]+$/.test(text)) return { license: { id: text } }
  return /^[\w.+-]+( (OR|AND|WITH) [\w.+-]+)+$/.test(text)
    ? { expression: text }
    : { license: { name: text } }
}

/** A package of npm as a component, from its folder. */
export async function npmComponent(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const [scope, bare] = name.startsWith('@') ? name.split('/') : [null, name]
  return {
    type: 'library',
    ...(scope ? { group: scope } : {}),
    name: bare,
    version,
    licenses: [licenceOf(license)],
    purl: `pkg:npm/${scope ? `${encodeURIComponent(scope)}/` : ''}${bare}@${version}`,
  }
}

/** The fonts in the PDF report, which come from no package. */
export const FONTS = {
  type: 'data',
  name: 'dejavu-fonts',
  version: '2.37',
  licenses: [{ license: { name: 'Bitstream Vera and Arev, with changes in the public domain' } }],
  purl: 'pkg:generic/dejavu-fonts@2.37',
}

/** The document of `subject`, each component once and in the order of their names. */
export function cycloneDx(subject, components) {
  const byReference = new Map(
    components.map((one) => [one.purl, { 'bom-ref': one.purl, ...one }]).sort(([a], [b]) => (a < b ? -1 : 1)),
  )
  const body = {
    metadata: {
      timestamp: '1970-01-01T00:00:00Z',
      component: { 'bom-ref': 'muster', licenses: [{ license: { id: 'Apache-2.0' } }], ...subject },
    },
    components: [...byReference.values()],
    dependencies: [{ ref: 'muster', dependsOn: [...byReference.keys()] }],
  }
  const hex = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  // A UUID whose bits are the content's (RFC 9562, version 8).
  const serial = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${serial.join('-')}`,
    version: 1,
    ...body,
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
