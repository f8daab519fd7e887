// Turns `dist/` into one executable file: a copy of this Node with everything else as its assets.
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'postject'
import { ROOT } from './bundle.mjs'

const run = promisify(execFile)
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

async function listFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}

/** Put the assets into the copy of Node, without the remarks about its sections that say nothing to a reader. */
async function injectQuietly(target, blob) {
  const { log, warn, error } = console
  console.log = console.warn = console.error = () => {}
  try {
    await inject(target, 'NODE_SEA_BLOB', blob, { sentinelFuse: FUSE })
  } finally {
    Object.assign(console, { log, warn, error })
  }
}

/**
 * Build `dist/muster` from the other files of `dist`. Only this Node's socket library goes in, and the bill of materials
 * that is the executable's. Returns the size in bytes.
 */
export async function buildExecutable(dist) {
  const work = await mkdtemp(join(tmpdir(), 'muster-build-'))
  const target = join(dist, process.platform === 'win32' ? 'muster.exe' : 'muster')
  try {
    const abi = `_${process.versions.modules}.node`
    const files = (await listFiles(dist)).filter(
      (path) => path !== target && (!path.endsWith('.node') || path.endsWith(abi)),
    )
    const assets = Object.fromEntries(files.map((path) => [relative(dist, path).replaceAll(sep, '/'), path]))
    assets['sbom.cdx.json'] = assets['muster.sbom.cdx.json']
    delete assets['muster.sbom.cdx.json']
    const index = join(work, 'index.json')
    await writeFile(index, JSON.stringify(Object.keys(assets)))
    // The executable keeps the path as it stands here: a copy, so that it does not say where it was made.
    const main = 'main.cjs'
    await copyFile(join(ROOT, 'runtime', 'build', 'executable-main.cjs'), join(work, main))
    const config = {
      main,
      output: join(work, 'blob'),
      disableExperimentalSEAWarning: true,
      assets: { ...assets, 'index.json': index },
    }
    await writeFile(join(work, 'sea.json'), JSON.stringify(config))
    await run(process.execPath, ['--experimental-sea-config', join(work, 'sea.json')], { cwd: work })
    await rm(target, { force: true })
    await copyFile(process.execPath, target)
    await chmod(target, 0o755)
    await injectQuietly(target, await readFile(config.output))
    return (await stat(target)).size
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
