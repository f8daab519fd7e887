import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ExecutableAssets, openExecutableAssets } from './executable-assets.ts'

/** Where the files lie that the service reads while it runs. */
export interface RuntimeFiles {
  /** The folder of `NNNN-slug.sql`. */
  migrations: string
  /** The folder of the built browser UI, `index.html` at its top; or the executable that has it inside. */
  ui: string | ExecutableAssets
  /** The folder of the bundled worker threads. */
  workers: string
}

/**
 * Find the files: beside the bundle where this is the bundle, else where a checkout has them (its workers are bundled
 * by whatever runs TypeScript there, its UI by `npm run build`).
 */
export function locateRuntimeFiles(): RuntimeFiles {
  const file = fileURLToPath(import.meta.url)
  const folder = dirname(file)
  if (basename(file) !== 'files.ts')
    return {
      migrations: join(folder, 'migrations'),
      ui: openExecutableAssets() ?? join(folder, 'ui'),
      workers: folder,
    }
  const root = dirname(folder)
  return {
    migrations: join(root, 'migrations'),
    ui: join(root, 'dist', 'ui'),
    workers: join(root, '.cache', 'run'),
  }
}

/** The bundled worker thread of `runtime/workers/<name>-worker.ts`, as `new Worker` takes it. */
export function workerUrl(files: RuntimeFiles, name: string): URL {
  return pathToFileURL(join(files.workers, `${name}-worker.mjs`))
}
