// What is in a build as compiled code: Node itself with the libraries inside it, and the socket library with those
// inside that.
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { licenceOf, npmComponent } from './sbom.mjs'

/** What `process.versions` has that is no library: versions of interfaces, and of data inside ICU. */
const NOT_LIBRARIES = new Set(['node', 'modules', 'napi', 'unicode', 'cldr', 'tz'])

/** The licences of the libraries that a Node may hold, by their names in `process.versions`. */
const LICENCES = {
  acorn: 'MIT',
  ada: 'Apache-2.0 OR MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  cjs_module_lexer: 'MIT',
  // Its name in SPDX is younger than the schema of CycloneDX 1.6.
  icu: 'Unicode License v3',
  llhttp: 'MIT',
  merve: 'Apache-2.0 OR MIT',
  nbytes: 'MIT',
  ncrypto: 'MIT',
  nghttp2: 'MIT',
  nghttp3: 'MIT',
  ngtcp2: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0 OR MIT',
  simdutf: 'Apache-2.0 OR MIT',
  sqlite: 'blessing',
  undici: 'MIT',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause OR GPL-2.0-only',
}

/** Node, and the libraries that are compiled into it, by its `process.versions`. */
export function nodeComponents(versions) {
  const { node } = versions
  const libraries = Object.entries(versions).filter(([name]) => !NOT_LIBRARIES.has(name))
  return [
    {
      type: 'application',
      name: 'node',
      version: node,
      licenses: [licenceOf('MIT')],
      cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
      purl: `pkg:generic/node@${node}`,
    },
    ...libraries.map(([name, version]) => ({
      type: 'library',
      name,
      version,
      licenses: [licenceOf(LICENCES[name] ?? "as Node's licence says")],
      purl: `pkg:generic/${name}@${encodeURIComponent(version)}`,
    })),
  ]
}

/** What the socket library is made of, which it does not tell the versions of: a word that its file holds, by name. */
const IN_SOCKETS = [
  { name: 'uWebSockets', mark: 'uWebSockets', owner: 'uNetworking', license: 'Apache-2.0' },
  { name: 'uSockets', mark: 'us_socket', owner: 'uNetworking', license: 'Apache-2.0' },
  { name: 'boringssl', mark: 'BoringSSL', owner: 'google', license: 'Apache-2.0 AND ISC AND MIT' },
  { name: 'lsquic', mark: 'lsquic_engine', owner: 'litespeedtech', license: 'MIT AND BSD-3-Clause' },
  { name: 'ls-qpack', mark: 'lsqpack_', owner: 'litespeedtech', license: 'MIT' },
  { name: 'ls-hpack', mark: 'lshpack_', owner: 'litespeedtech', license: 'MIT' },
  { name: 'xxHash', mark: 'XXH64', owner: 'Cyan4973', license: 'BSD-2-Clause' },
]

/** The package of the socket library in a folder, and what is compiled into its file. */
export async function socketComponents(folder) {
  const library = await npmComponent(folder)
  const bytes = await readFile(join(folder, 'uws.node'))
  const parts = IN_SOCKETS.filter(({ mark }) => bytes.includes(mark))
  return [
    library,
    ...parts.map(({ name, owner, license }) => ({
      type: 'library',
      name,
      description: `Compiled into ${library.group}/${library.name} ${library.version}, which says no version of it.`,
      licenses: [licenceOf(license)],
      purl: `pkg:github/${owner.toLowerCase()}/${name.toLowerCase()}`,
    })),
  ]
}

/** Where the ways to install Node put its licence, from the folder above that of the program. */
const LICENCE_PLACES = [
  'LICENSE',
  'share/doc/nodejs/LICENSE',
  'share/doc/node/LICENSE',
  'share/licenses/nodejs/LICENSE',
  'share/doc/nodejs/copyright',
]

/** The licence of the Node at a path, with those of its libraries, as it was installed with it; null where it was not. */
export async function readNodeLicence(executable) {
  const home = dirname(dirname(realpathSync(executable)))
  for (const file of LICENCE_PLACES.map((place) => join(home, place))) {
    if (!existsSync(file)) continue
    const text = await readFile(file, 'utf8')
    if (/node\.?js/i.test(text) && text.includes('OpenSSL')) return text
  }
  return null
}
