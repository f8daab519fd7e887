import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { chooseEncoding, type Encoding } from './encodings.ts'
import { type Reply, text } from './reply.ts'
import { readUiFiles, type UiFiles } from './ui-files.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}
/** A missing file of one of these kinds is 404: it would otherwise be answered with the page. */
const ASSET_EXTENSIONS = new Set([...Object.keys(TYPES), '.br', '.gz', '.mjs', '.xml'])

interface StaticFile {
  contentType: string
  cacheControl: string
  etag: string
  bodies: Partial<Record<Encoding, Uint8Array>> & { identity: Uint8Array }
}

/** One request as the files need it. */
export interface StaticRequest {
  method: string
  path: string
  header(name: string): string
}

function toStaticFile(files: UiFiles, name: string, identity: Uint8Array): StaticFile {
  const bodies: StaticFile['bodies'] = { identity }
  const [br, gzip] = [files.get(`${name}.br`), files.get(`${name}.gz`)]
  if (br !== undefined) bodies.br = br
  if (gzip !== undefined) bodies.gzip = gzip
  return {
    contentType: TYPES[extname(name)] ?? 'application/octet-stream',
    // The build writes a hash of the content into the name of everything under assets/.
    cacheControl: name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`,
    bodies,
  }
}

function replyWith(file: StaticFile, request: StaticRequest): Reply {
  const encoding = chooseEncoding(request.header('accept-encoding'), Object.keys(file.bodies) as Encoding[])
  // One tag for each representation, or a cache would mix them up.
  const etag = encoding === 'identity' ? file.etag : file.etag.replace(/"$/, `-${encoding}"`)
  const headers: Record<string, string> = {
    'Cache-Control': file.cacheControl,
    ETag: etag,
    // The listener's own `Vary: Origin` (runtime/cors.ts) is replaced by this one, so Origin stands here too.
    Vary: 'Accept-Encoding, Origin',
  }
  const known = request.header('if-none-match').split(',')
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === etag))
    return { status: 304, headers, body: null }
  headers['Content-Type'] = file.contentType
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  return { status: 200, headers, body: file.bodies[encoding] ?? file.bodies.identity }
}

/** Read the built UI into memory; nothing where there is no page. */
function readFiles(from: Parameters<typeof readUiFiles>[0]): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>()
  const built = readUiFiles(from)
  if (built.has('/index.html')) {
    for (const [name, bytes] of built)
      if (!name.endsWith('.br') && !name.endsWith('.gz')) files.set(name, toStaticFile(built, name, bytes))
  }
  return files
}

/** How long after the start the files are read, unless somebody asks for one before. */
const READ_AFTER_MS = 1_000

/**
 * Answer the paths of the built UI, in its folder or in the executable. It is read into memory as a whole, so that a build
 * which replaces it later does not mix with it, but not before the service is ready. Everything it can ever serve is in
 * that map, so no path leads out of the folder. A path that is no file is the page itself, which routes on its own; a
 * missing file with an asset's extension is 404. Null for methods other than GET and HEAD.
 */
export function openStaticFiles(
  from: Parameters<typeof readUiFiles>[0],
): (request: StaticRequest) => Reply | null {
  let read: ReadonlyMap<string, StaticFile> | null = null
  const readNow = () => (read ??= readFiles(from))
  // What cannot be read is told to whoever asks for it.
  setTimeout(() => {
    try {
      readNow()
    } catch {}
  }, READ_AFTER_MS).unref()
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const files = readNow()
    const file = files.get(request.path)
    if (file !== undefined) return replyWith(file, request)
    if (ASSET_EXTENSIONS.has(extname(request.path).toLowerCase())) return text('404 not found\n', 404)
    const page = files.get('/index.html')
    if (page === undefined) return text('The browser UI is not built: npm run build\n', 404)
    return replyWith(page, request)
  }
}
