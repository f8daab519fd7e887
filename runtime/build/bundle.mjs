// Bundles TypeScript into what Node runs from a checkout, one bundle for each entry, with packages left in
// `node_modules`; and lists the service's worker threads.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, stop } from 'esbuild'

/** The repository's top folder. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/**
 * The worker threads of the service: every `runtime/workers/<name>-worker.ts`, as { name, entry }.
 * They are bundled to `<name>-worker.mjs` beside whatever starts them.
 */
export function workerEntries() {
  const folder = join(ROOT, 'runtime', 'workers')
  let names = []
  try {
    names = readdirSync(folder)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  return names
    .filter((name) => name.endsWith('-worker.ts'))
    .sort()
    .map((name) => ({ name: basename(name, '.ts'), entry: join(folder, name) }))
}

/** Makes `import.meta.url` say where the source file lies, as it does wherever TypeScript runs unbundled. */
const sourceUrls = {
  name: 'source-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: 'ts',
    }))
  },
}

/** Bundle for a checkout, where `node_modules` is there to load packages from. */
export async function bundleForCheckout(entry, outfile) {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    sourcemap: 'inline',
    plugins: [sourceUrls],
    logLevel: 'error',
  })
}

/** Bundle every worker thread into `folder`, for code that runs from a checkout. */
export async function bundleWorkersForCheckout(folder) {
  await Promise.all(
    workerEntries().map(({ name, entry }) => bundleForCheckout(entry, join(folder, `${name}.mjs`))),
  )
}

/** End the bundler's own process, for a program that goes on for long after it has bundled. */
export const endBundler = () => stop()
