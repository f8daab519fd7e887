// Builds the browser UI: content-hashed assets, split so that a page loads what it needs, with compressed
// copies beside them. Fails when the first load outgrows its budget.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'esbuild'

const SOURCE = dirname(fileURLToPath(import.meta.url))
/** Gzipped bytes of what the first page loads. */
export const BUDGET = { scriptBytes: 90_000, styleBytes: 15_000 }

const compressGzip = promisify(gzip)
const compressBrotli = promisify(brotliCompress)

/** The entry's chunk and all chunks that it imports statically, directly or not. */
function initialChunks(outputs, entry) {
  const seen = new Set()
  const visit = (path) => {
    if (seen.has(path)) return
    seen.add(path)
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') visit(next)
  }
  visit(entry)
  return [...seen]
}

function findEntry(outputs, source) {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(source))
  if (!found) throw new Error(`The build wrote no output for ${source}`)
  return found[0]
}

const totalBytes = (parts) => parts.reduce((sum, part) => sum + part.byteLength, 0)

/** The options of esbuild. */
const optionsFor = (outdir) => ({
  entryPoints: [join(SOURCE, 'main.tsx'), join(SOURCE, 'styles', 'main.css')],
  outdir: join(outdir, 'assets'),
  outbase: SOURCE,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: ['es2022', 'chrome120', 'firefox121', 'safari17.2'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  minify: true,
  legalComments: 'none',
  absWorkingDir: SOURCE,
  tsconfig: join(SOURCE, 'tsconfig.json'),
  metafile: true,
  write: false,
  logLevel: 'error',
})

/** Write each file beside its compressed copies. Returns the gzipped bytes by path. */
async function writeCompressed(outputFiles) {
  const gzipped = new Map()
  await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      const [gz, br] = await Promise.all([
        compressGzip(contents, { level: 9 }),
        compressBrotli(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
      ])
      gzipped.set(relative(SOURCE, path), gz)
      await Promise.all([writeFile(path, contents), writeFile(`${path}.gz`, gz), writeFile(`${path}.br`, br)])
    }),
  )
  return gzipped
}

/** The page that loads the style and the scripts of the first load. */
async function writeIndex(outdir, style, script, initial) {
  const template = await readFile(join(SOURCE, 'index.html'), 'utf8')
  const tags = [
    `<link rel="stylesheet" href="/assets/${basename(style)}">`,
    ...initial
      .filter((path) => path !== script)
      .map((path) => `<link rel="modulepreload" href="/assets/${basename(path)}">`),
    `<script type="module" src="/assets/${basename(script)}"></script>`,
  ]
  await writeFile(join(outdir, 'index.html'), template.replace('<!--assets-->', tags.join('\n')))
  await writeFile(join(outdir, 'favicon.svg'), await readFile(join(SOURCE, 'favicon.svg')))
}

/**
 * Build into `outdir`. Returns the gzipped sizes of the first load, and esbuild's metafile, which lists the files that
 * went in. Throws when the first load is over its budget.
 */
export async function buildUi(outdir) {
  await rm(outdir, { recursive: true, force: true })
  await mkdir(join(outdir, 'assets'), { recursive: true })
  const { metafile, outputFiles } = await build(optionsFor(outdir))
  const script = findEntry(metafile.outputs, 'main.tsx')
  const style = findEntry(metafile.outputs, 'main.css')
  const gzipped = await writeCompressed(outputFiles)
  const initial = initialChunks(metafile.outputs, script)
  await writeIndex(outdir, style, script, initial)
  const sizes = {
    scriptBytes: totalBytes(initial.map((path) => gzipped.get(path))),
    styleBytes: gzipped.get(style).byteLength,
  }
  for (const [name, bytes] of Object.entries(sizes)) {
    if (bytes > BUDGET[name])
      throw new Error(`The first load's ${name} is ${bytes}, over the budget of ${BUDGET[name]}`)
  }
  const kb = (bytes) => (bytes / 1000).toFixed(1)
  console.log(
    `dist/ui: first load ${kb(sizes.scriptBytes)} kB of script, ${kb(sizes.styleBytes)} kB of style`,
  )
  return { sizes, metafile, base: SOURCE }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await buildUi(process.argv[2] ?? join(SOURCE, '..', '..', 'dist', 'ui'))
}
