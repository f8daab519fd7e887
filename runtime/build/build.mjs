// Builds `dist/`: the service as one bundle, the files that it loads at run time beside it, and one executable file
// made of all these. `--no-executable` leaves the executable out; `--out=FOLDER` builds elsewhere; `--this-node` leaves
// out the socket libraries of other versions of Node that are installed here too.
import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { ROOT, workerEntries } from './bundle.mjs'
import { buildExecutable } from './executable.mjs'
import { nodeComponents, readNodeLicence, socketComponents } from './native-parts.mjs'
import { PART_FOOT, PART_HEAD } from './part.mjs'
import { bundledFiles, cycloneDx, FONTS, npmComponent, packageFolders } from './sbom.mjs'

const run = promisify(execFile)
const out = process.argv.find((arg) => arg.startsWith('--out='))
const DIST = out ? resolve(out.slice('--out='.length)) : join(ROOT, 'dist')
/** The version of Node's native interface (`process.versions.modules`), by Node's major version. */
const NODE_ABI = { 20: 115, 22: 127, 24: 137, 26: 147 }

/**
 * pg looks at `navigator` to see whether it runs on Cloudflare; in Node 20, which has none, it finds out in a way that
 * loads all of `fetch` at each start.
 */
const NAVIGATOR = "globalThis.navigator ??= { userAgent: 'Node.js/' + process.versions.node.split('.')[0] };"
/** Packages written for CommonJS call `require`, which an ES module does not have. */
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);"

/** What `main.ts` imports when it is asked for: each is a script of its own, of which V8 keeps the compiled form. */
const PARTS = [
  { name: 'service', entry: 'service-process.ts', exports: ['runServiceProcess'] },
  { name: 'client', entry: 'cli/client.ts', exports: ['runClient'] },
]

/**
 * Packages with native code that pg and ws would use and that muster does not install. Without this the bundle would
 * look for them in the folders above it, and run whatever lies there under these names.
 */
const absentPackages = {
  name: 'absent-packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(pg-native|bufferutil|utf-8-validate)$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }))
    onLoad({ filter: /.*/, namespace: 'absent' }, ({ path }) => ({
      contents: `throw Object.assign(new Error("${path} is no part of muster"), { code: 'MODULE_NOT_FOUND' })`,
    }))
  },
}

/**
 * Throw where a bundle loads anything from outside itself but Node's own modules: packages would be looked for in all
 * folders above.
 */
function refuseForeignModules(outputs) {
  for (const [file, { imports }] of Object.entries(outputs)) {
    const foreign = imports.filter(({ path, external }) => external && !isBuiltin(path))
    if (foreign.length > 0)
      throw new Error(`${file} loads ${foreign.map(({ path }) => path).join(', ')} from outside the bundle`)
  }
}

/** What all bundles have in common. */
const BUNDLING = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  define: { 'process.env.NODE_ENV': '"production"' },
  // Its other form is for CommonJS: each of the many modules that import it would get an object of its own with all that
  // it exports.
  alias: { superstruct: 'superstruct/dist/index.mjs' },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  absWorkingDir: ROOT,
  logLevel: 'error',
}

/** Bundle the parts, each with its packages into one script. Returns esbuild's metafile. */
async function bundleParts() {
  const { metafile } = await build({
    ...BUNDLING,
    entryPoints: PARTS.map(({ name, entry }) => ({ in: join(ROOT, 'runtime', entry), out: name })),
    entryNames: '[name]-[hash]',
    outdir: DIST,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    plugins: [absentPackages],
    define: { ...BUNDLING.define, 'import.meta.url': '__url' },
    // A script that is not a module cannot import.
    supported: { 'dynamic-import': false },
    banner: { js: PART_HEAD + NAVIGATOR },
    footer: { js: PART_FOOT },
  })
  return metafile
}

/** Lets `main.ts` load the parts in the place of the sources from which they were bundled. */
const loadsParts = ({ outputs }) => ({
  name: 'loads-parts',
  setup({ onResolve, onLoad }) {
    const files = new Map(
      Object.entries(outputs).map(([file, { entryPoint }]) => [entryPoint, basename(file)]),
    )
    // esbuild writes the path into the bundle, which must not say where it was made.
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import'
        ? { path: relative(ROOT, join(resolveDir, path)), namespace: 'part' }
        : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => {
      const { exports } = PARTS.find(({ entry }) => path === join('runtime', entry))
      return {
        contents: `import { fileURLToPath } from 'node:url'
          import { readPart, runPart } from ${JSON.stringify(join(ROOT, 'runtime', 'build', 'part.mjs'))}
          const path = fileURLToPath(new URL(${JSON.stringify(files.get(path))}, import.meta.url))
          export const { ${exports.join(', ')} } = runPart(readPart(path), path)`,
        resolveDir: ROOT,
      }
    })
  },
})

/** Bundle what is run first, which loads one of the parts. */
async function bundleMain(parts) {
  const { metafile } = await build({
    ...BUNDLING,
    entryPoints: { muster: join(ROOT, 'runtime', 'main.ts') },
    outdir: DIST,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    plugins: [loadsParts(parts)],
  })
  return metafile
}

/** Bundle the worker threads. */
async function bundleWorkers() {
  const { metafile } = await build({
    ...BUNDLING,
    entryPoints: workerEntries().map(({ name, entry }) => ({ in: entry, out: name })),
    outdir: DIST,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    format: 'esm',
    plugins: [absentPackages],
    banner: { js: `${REQUIRE}${NAVIGATOR}` },
  })
  return metafile
}

/**
 * Bundle the service and its worker threads, packages included. Returns the outputs as esbuild's metafiles list them,
 * with the files that went in.
 */
async function bundleService() {
  const [workers, parts] = await Promise.all([bundleWorkers(), bundleParts()])
  const main = await bundleMain(parts)
  const outputs = { ...workers.outputs, ...parts.outputs, ...main.outputs }
  refuseForeignModules(outputs)
  await compileParts(parts)
  return { outputs }
}

/**
 * Copy the native socket library of every Node version that is installed here for this platform. Returns of each for
 * which major version it is, its package's folder and that of the package that holds its licence.
 */
async function copySocketLibraries() {
  const own = process.versions.node.split('.')[0]
  const wanted = Object.entries(NODE_ABI).filter(
    ([major]) => major === own || !process.argv.includes('--this-node'),
  )
  const copied = []
  for (const [major, abi] of wanted) {
    for (const alias of ['uws-node-20-22', 'uws-node-22-26']) {
      const core = join(ROOT, 'node_modules', alias)
      const require = createRequire(join(core, 'package.json'))
      let entry
      try {
        entry = require.resolve(`@uwsjs/${process.platform}-${process.arch}-${major}`)
      } catch {
        continue
      }
      const folder = dirname(entry)
      const name = `uws_${process.platform}_${process.arch}_${abi}.node`
      await copyFile(join(folder, 'uws.node'), join(DIST, name))
      copied.push({ major, folder, core })
      break
    }
  }
  if (!copied.some(({ major }) => major === own))
    throw new Error(`The socket library for Node ${own} is not installed: run npm install`)
  return copied
}

/** The folders of all packages of which something was bundled. */
const packagesIn = ({ service, ui }) => [
  ...packageFolders(bundledFiles(service), ROOT),
  ...packageFolders(bundledFiles(ui.metafile), ui.base),
]

/** Licences under which a package may be part of `dist/`; of a package that offers several, one of these is used. */
const COMPATIBLE = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Zlib'])

/**
 * Whether an SPDX expression lets a package be distributed: every licence of at least one of its OR parts is listed
 * above. An expression with both AND and OR is refused: which of them binds closer is for a person to read.
 */
function isCompatible(license) {
  const expression = String(license).replaceAll(/[()]/g, '')
  if (expression.includes(' AND ') && expression.includes(' OR ')) return false
  return expression
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((name) => COMPATIBLE.has(name)))
}

/** What the licence of a package asks to be kept: its name and the text, which may lie in another package. */
async function readLicence(folder, textFolder = folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  if (!isCompatible(license)) throw new Error(`${name} may not be in dist: its licence is ${license}`)
  const file = (await readdir(textFolder)).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file ? await readFile(join(textFolder, file), 'utf8') : ''
  return `${name} ${version} (${license})\n\n${text.trim()}\n`
}

/** Write the licences of what is in `dist/`. */
async function writeLicences(folders, sockets) {
  const parts = await Promise.all([
    ...[...new Set(folders)].map((folder) => readLicence(folder)),
    ...sockets.map(({ folder, core }) => readLicence(folder, core)),
  ])
  const fonts = await readFile(join(ROOT, 'lib', 'reports', 'fonts', 'LICENSE'), 'utf8')
  parts.sort().push(`DejaVu fonts 2.37, in the PDF report\n\n${fonts.trim()}\n`)
  await writeFile(join(DIST, 'licenses.txt'), parts.join(`\n${'-'.repeat(72)}\n\n`))
}

/**
 * Write the bills of materials: of the bundle with what lies beside it, and of the executable, which holds the Node that
 * builds it and of the socket libraries only its own.
 */
async function writeBills(folders, sockets, hasExecutable) {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const bundled = [...(await Promise.all([...new Set(folders)].map(npmComponent))), FONTS]
  const parts = async (some) => (await Promise.all(some.map(({ folder }) => socketComponents(folder)))).flat()
  const subject = { type: 'application', name: 'muster', version }
  const write = (name, components) => writeFile(join(DIST, name), cycloneDx(subject, components))
  await write('sbom.cdx.json', [...bundled, ...(await parts(sockets))])
  if (!hasExecutable) return
  const own = sockets.filter(({ major }) => major === process.versions.node.split('.')[0])
  const inside = [...bundled, ...(await parts(own)), ...nodeComponents(process.versions)]
  await write('muster.sbom.cdx.json', inside)
  const licence = await readNodeLicence(process.execPath)
  if (licence !== null) await writeFile(join(DIST, 'node-license.txt'), licence)
  else console.warn('The licence of this Node was not found: whoever passes dist/muster on has to add it')
}

/** Write the compiled form of the parts, under no options of whoever builds them. */
async function compileParts({ outputs }) {
  const script = join(ROOT, 'runtime', 'build', 'code-cache.mjs')
  const parts = Object.keys(outputs).map((file) => join(ROOT, file))
  const seeds = ['--hash-seed=1', '--random-seed=1']
  await run(process.execPath, [...seeds, script, ...parts], { env: {} })
}

async function buildUserInterface() {
  const { buildUi } = await import(pathToFileURL(join(ROOT, 'runtime', 'ui', 'build.mjs')).href)
  return buildUi(join(DIST, 'ui'))
}

async function main() {
  const started = performance.now()
  await rm(DIST, { recursive: true, force: true })
  await mkdir(DIST, { recursive: true })
  const [service, ui] = await Promise.all([
    bundleService(),
    buildUserInterface(),
    cp(join(ROOT, 'migrations'), join(DIST, 'migrations'), { recursive: true }),
  ])
  const hasExecutable = !process.argv.includes('--no-executable')
  const sockets = await copySocketLibraries()
  const packages = packagesIn({ service, ui })
  await writeLicences(packages, sockets)
  await writeBills(packages, sockets, hasExecutable)
  await copyFile(join(ROOT, 'LICENSE'), join(DIST, 'LICENSE'))
  const bytes = Object.values(service.outputs).reduce((sum, output) => sum + output.bytes, 0)
  console.log(
    `muster.mjs and its parts: ${Math.round(bytes / 1024)} KiB, for Node ${sockets.map(({ major }) => major).join(', ')}`,
  )
  if (hasExecutable) {
    const mib = Math.round((await buildExecutable(DIST)) / 1024 / 1024)
    console.log(`muster: ${mib} MiB, needs nothing installed`)
  }
  console.log(`built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

await main()
