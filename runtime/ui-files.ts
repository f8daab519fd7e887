import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { ExecutableAssets } from './executable-assets.ts'

/** The files of the built browser UI by their paths, each with a leading `/`. */
export type UiFiles = ReadonlyMap<string, Uint8Array>

/** Read them from their folder, or from the executable, where they are in memory already. */
export function readUiFiles(from: string | ExecutableAssets): UiFiles {
  if (typeof from !== 'string') {
    const names = from.names.filter((name) => name.startsWith('ui/'))
    return new Map(names.map((name) => [name.slice('ui'.length), from.read(name)]))
  }
  if (!existsSync(from)) return new Map()
  const paths = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(paths.map((path) => [`/${relative(from, path).split(sep).join('/')}`, readFileSync(path)]))
}
