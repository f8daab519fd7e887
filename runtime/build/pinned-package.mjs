// Packages of npm that are not among those installed here, taken by the hash of their archive: a version alone would
// take whatever a registry, or somebody who can write to the cache, gives for it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const hasIntegrity = (file, integrity) =>
  `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}` === integrity

/**
 * Unpack a package into the folder `target`, from its archive in `cache`, or as `run` (which runs a program) has npm
 * fetch it. Throws where what npm fetched has another hash; a cached archive with another hash is fetched anew.
 */
export function unpackPinned({ name, version, integrity }, { cache, target, run }) {
  const file = join(cache, `${name.replace('/', '-').replace('@', '')}-${version}.tgz`)
  if (!existsSync(file) || !hasIntegrity(file, integrity))
    fetchArchive({ name, version, integrity }, cache, file, run)
  mkdirSync(target, { recursive: true })
  run('tar', ['-xzf', file, '-C', target, '--strip-components=1', '--no-same-owner'])
}

function fetchArchive({ name, version, integrity }, cache, file, run) {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'fetch-'))
  try {
    run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`])
    const [fetched] = readdirSync(folder)
    if (fetched === undefined || !hasIntegrity(join(folder, fetched), integrity))
      throw new Error(`${name} ${version} is not what its hash says: nothing of it is used`)
    renameSync(join(folder, fetched), file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
